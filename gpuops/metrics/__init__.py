"""Figures of images: statistics of one, and differences of two, following skimage.metrics."""
