"""clpix, the program: commands that turn options into parameters and run the pipeline."""
