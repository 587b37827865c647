"""Figures of two pictures that come by rows, for pictures that memory, or the device, has no room for."""
