"""Parameters of each operation: frozen dataclasses on the standard library alone, so that they import at once."""
