"""Spectra as pictures, and errors of transforms, by numpy in double precision."""

from __future__ import annotations

import numpy as np


def error(got: np.ndarray, expected: np.ndarray) -> float:
    """Relative L2."""
    assert got.shape == expected.shape
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


VIEWS = {
    "log-magnitude": lambda x: np.log(np.maximum(np.abs(x), 1e-30)),
    "magnitude": np.abs,
    "phase": np.angle,
    "power": lambda x: np.abs(x) ** 2,
    "real": np.real,
    "imag": np.imag,
}


def picture_error(got: np.ndarray, x: np.ndarray, view: str, shift: bool) -> float:
    """The largest difference of a picture to that of the spectrum of x, padded to the picture's size, by its docs."""
    size = got.shape[1:]
    half, whole = (VIEWS[view](f(x, s=size, norm="ortho")) for f in (np.fft.rfft2, np.fft.fft2))
    low, high, brightest = np.percentile(half, (1, 99, 99.99))
    black, white = {
        "log-magnitude": (max(low, brightest - np.log(1e6)), brightest),
        "phase": (-np.pi, np.pi),
        "real": (-max(-low, high), max(-low, high)),
        "imag": (-max(-low, high), max(-low, high)),
    }.get(view, (0, brightest))
    expected = np.clip((whole - black) / (white - black), 0, 1)
    difference = np.abs(got - (np.fft.fftshift(expected, (-2, -1)) if shift else expected))
    if view == "phase":  # −π and π are the same
        difference = np.minimum(difference, 1 - difference)
    return difference.max()
