"""Spectra as pictures, and errors of transforms, by numpy in double precision."""

import numpy as np

from gpuops.params.fft import FrequencyFilter


def error(got: np.ndarray, expected: np.ndarray) -> float:
    """Relative L2."""
    assert got.shape == expected.shape
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def frequency_filter(f: FrequencyFilter, size: tuple[int, int]) -> np.ndarray:
    """A filter by its definition, at the frequencies of numpy.fft.fft2 over ``size``."""

    def low(r: np.ndarray, c: float) -> np.ndarray:
        return {
            "gaussian": lambda: 2.0 ** -((r / c) ** 2),
            "butterworth": lambda: 1 / (1 + (r / c) ** (2 * f.order)),
            "ideal": lambda: 1.0 * (r <= c * (1 + 1e-6)),  # a frequency on the cutoff is inside
        }[f.shape]()

    fy, fx = np.fft.fftfreq(size[0])[:, None], np.fft.fftfreq(size[1])
    r = np.hypot(fy, fx)
    if f.kind == "lowpass":
        return low(r, f.high)
    if f.kind == "highpass":
        return 1 - low(r, f.low)
    band = low(r, f.high) * (1 - low(r, f.low)) if f.kind != "notch" else np.zeros_like(r)
    if f.kind == "bandpass":
        return band
    found = 1 - band
    for x, y, radius in f.notches:
        for sign in (1, -1):
            # Frequencies go around after one cycle per pixel.
            turns = [(fx - sign * x + i, fy - sign * y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            found = found * (1 - low(np.min([np.hypot(*turn) for turn in turns], 0), radius))
    return found


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
