"""The figures by which pictures are compared, each declared once: options, thresholds, reports and docs follow."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """One figure.

    ``higher``: more is better, and a threshold is the least that passes; else it is the most that passes.
    ``best`` and ``worst`` are the figures of equal pictures and the worst that there is, if there is one.
    ``wants``: the values that are compared. ``stored``: those of the files; ``light``: linear Rec. 709 light;
    ``signal``: encoded by sRGB.
    """

    about: str
    higher: bool = False
    best: float = 0.0
    worst: float | None = None
    wants: str = "stored"


INFINITE = float("inf")
# Every metric by its name.
METRICS = {
    "max": Metric("The largest error of any value, as a fraction of the full range."),
    "mean": Metric("The mean error of all values, as a fraction of the full range."),
    "rmse": Metric("The root mean square error, as a fraction of the full range."),
    "psnr": Metric("The peak signal-to-noise ratio in dB.", higher=True, best=INFINITE),
    "ssim": Metric("The structural similarity of Wang et al., 2004.", higher=True, best=1, worst=-1),
    "ssim-skimage": Metric("The same with skimage's default window of 7 × 7.", True, 1, -1),
    "ms-ssim": Metric("The structural similarity at five scales, Wang et al., 2003.", True, 1, 0),
    "flip": Metric("The mean of LDR-FLIP, Andersson et al., 2020.", worst=1, wants="light"),
    "hdr-flip": Metric("The mean of HDR-FLIP, Andersson et al., 2021.", worst=1, wants="light"),
    "de76": Metric("The largest ΔE of CIE 1976.", wants="light"),
    "de2000": Metric("The largest ΔE of CIEDE2000; 2.3 is just noticeable.", wants="light"),
    "de-itp": Metric("The largest ΔE ITP of ITU-R BT.2124; 1 is just noticeable.", wants="light"),
    "ssimulacra2": Metric("SSIMULACRA 2.1: 90 is visually lossless, 70 high quality.", True, 100, wants="light"),
    "pixelmatch": Metric("The number of pixels that pixelmatch 7.2 finds different.", wants="signal"),
    "pixelmatch-window": Metric("The most of these pixels in a window of --window pixels a side.", wants="signal"),
    "within-radius": Metric("The number of pixels without a like within --radius pixels, by --tolerance."),
    "z-test": Metric("The percentage of pixels that the noise of a Monte Carlo render explains.", True, 100, 0),
    "pu-psnr": Metric("The PSNR of PU21 values in dB, for HDR.", True, INFINITE, wants="light"),
    "pu-ssim": Metric("The structural similarity of PU21 values' luminance, for HDR.", True, 1, -1, "light"),
}  # fmt: skip


def option_of(metric: str) -> str:
    """Returns the name of the metric's threshold: ``max-flip`` is the most, ``min-ssim`` the least that passes."""
    return "max-error" if metric == "max" else f"{'min' if METRICS[metric].higher else 'max'}-{metric}"


# Metrics by the names of their thresholds.
LIMITS = {option_of(name): name for name in METRICS}
