"""Jobs: files that are read, worked on and written. Nothing here knows of a command line."""
