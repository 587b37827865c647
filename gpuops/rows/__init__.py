"""The flow of pixels through a job, some rows at a time; it knows no operation."""
