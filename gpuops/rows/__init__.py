"""The flow of rows: where they come from, what is done to them at once, where all are kept, and where they go."""
