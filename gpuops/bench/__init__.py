"""Measurements of a device: the tables of the source documents, and limits to compare them with."""
