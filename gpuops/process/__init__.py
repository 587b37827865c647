"""The program's own process: its signals, and libraries that load while it goes on."""
