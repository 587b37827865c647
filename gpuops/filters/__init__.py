"""Filters of images: convolutions, Gaussians, boxes, medians and the bilateral filter, following scipy.ndimage."""
