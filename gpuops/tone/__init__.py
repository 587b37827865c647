"""Tone mapping: metering, white balance, operators, colour tables, and previews of them."""
