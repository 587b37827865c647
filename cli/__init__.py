"""The program clpix: its commands turn options into parameters and run the pipeline."""
