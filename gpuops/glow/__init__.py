"""Light that spreads: bloom, starbursts, and the effects of the Direct3D 11 sample."""
