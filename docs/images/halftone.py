"""A printing screen over a picture: halftone.py IN OUT.

Dots lie on a square grid that is turned by 15 degrees, one in five pixels, and are darkest and lightest where the
picture is of middle brightness, as in a scan that is not quite sharp.
"""

import sys

import numpy as np
from PIL import Image

FREQUENCY = 0.2  # cycles per pixel
ANGLE = np.radians(15)
CONTRAST = 0.7

value = np.asarray(Image.open(sys.argv[1]).convert("RGB")) / 255
y, x = np.mgrid[: value.shape[0], : value.shape[1]]
across = x * np.cos(ANGLE) + y * np.sin(ANGLE)
along = y * np.cos(ANGLE) - x * np.sin(ANGLE)
screen = np.cos(2 * np.pi * FREQUENCY * across) + np.cos(2 * np.pi * FREQUENCY * along)
printed = value + CONTRAST * value * (1 - value) * screen[..., None]
Image.fromarray(np.rint(255 * np.clip(printed, 0, 1)).astype(np.uint8)).save(sys.argv[2])
