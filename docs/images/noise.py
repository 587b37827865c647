"""Gaussian noise for a picture: noise.py IN OUT LEVELS; crops of two beside each other: noise.py --beside A B OUT."""

import sys

import numpy as np
from PIL import Image

if sys.argv[1] == "--beside":
    crops = [np.asarray(Image.open(path))[130:390, 330:730] for path in sys.argv[2:4]]
    Image.fromarray(np.hstack(crops)).save(sys.argv[4], quality=90)
else:
    pixels = np.asarray(Image.open(sys.argv[1]))
    noise = float(sys.argv[3]) * np.random.default_rng(0).standard_normal(pixels.shape)
    Image.fromarray(np.clip(np.rint(pixels + noise), 0, 255).astype(np.uint8)).save(sys.argv[2])
