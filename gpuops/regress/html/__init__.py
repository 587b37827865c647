"""The report as a web page: one file that needs no network, or a folder that needs no script."""
