"""Draws the figures of docs/explanation, which follow from the formulas there: python docs/images/explain.py."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
# The same figure is the same bytes on any day, and its text stays text.
plt.rcParams |= {
    "svg.fonttype": "none",
    "svg.hashsalt": "clpix",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}


def save(figure: Any, name: str) -> None:
    """Writes a figure beside this script."""
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def shrink() -> None:
    """The three ways to shrink a wavelet coefficient x by the threshold T = 1."""
    x = np.linspace(-3, 3, 601)
    away = np.abs(x) > 1
    figure, axes = plt.subplots(figsize=(5, 3.4))
    axes.plot(x, x, color="0.7", linestyle=":", label="unchanged")
    axes.plot(x, np.where(away, x, 0), label="hard")
    axes.plot(x, np.sign(x) * np.maximum(np.abs(x) - 1, 0), label="soft")
    axes.plot(x, np.where(away, x - 1 / np.where(away, x, 1), 0), label="garrote")
    axes.set(xlabel="coefficient / T", ylabel="result / T")
    axes.legend()
    save(figure, "shrink")


def agx() -> None:
    """AgX's curve of gray light: the code that a display gets, over the light in stops around middle gray."""
    published = runpy.run_path(str(HERE.parent / "agx.py"))["SIGMOID"]
    stops = np.linspace(-14, 8, 800)
    log2 = stops + np.log2(0.18)
    x = np.clip((log2 + 12.47393) / (12.47393 + 4.026069), 0, 1)
    code = np.polyval(published, x) / np.polyval(published, 1)
    figure, axes = plt.subplots(figsize=(6, 3.4))
    axes.plot(stops, code, label="AgX")
    clipped = np.clip(0.18 * 2**stops, 0, 1) ** (1 / 2.2)
    axes.plot(stops, clipped, color="0.5", linestyle="--", label="no operator: light^(1/2.2), clipped")
    for end in (-12.47393, 4.026069):
        axes.axvline(end - np.log2(0.18), color="0.7", linewidth=0.8)
    axes.set(xlabel="stops from middle gray", ylabel="code")
    axes.legend()
    save(figure, "agx")


def window() -> None:
    """A wide Gaussian on a coarse grid: spectra of the Gaussian, of the window, and of the filter between them."""
    taps, beta, step, sigma = 6, 14.2, 8, 20
    frequency = np.linspace(1e-6, 0.5 / step, 400)
    gaussian = np.exp(-2 * (np.pi * sigma * frequency) ** 2)

    def spectrum(f: Any) -> Any:
        root = np.emath.sqrt(beta**2 - (np.pi * taps * f) ** 2)
        return np.real(np.sinh(root) / root)

    shown = spectrum(frequency * step) / spectrum(1e-9)
    figure, axes = plt.subplots(figsize=(6, 3.4))
    axes.semilogy(frequency, gaussian, label=f"the Gaussian, σ {sigma}")
    axes.semilogy(frequency, shown, label="the window, six steps wide")
    axes.semilogy(frequency, gaussian / shown**2, label="the filter on the coarse grid")
    axes.set(xlabel="cycles per pixel", ylabel="spectrum", ylim=(1e-6, 2))
    axes.legend()
    save(figure, "window")


def glow() -> None:
    """The eight Gaussians of bloom, their sum, and 1/r²."""
    height, reach = 1080, 0.1
    r = np.geomspace(0.5, 540, 400)
    sigmas = reach * height / 2.0 ** np.arange(8)
    parts = np.exp(-(r[:, None] ** 2) / (2 * sigmas**2)) / (2 * np.pi * sigmas**2) / 8
    figure, axes = plt.subplots(figsize=(6, 3.6))
    axes.loglog(r, parts, color="0.7", linewidth=0.9)
    total = parts.sum(axis=1)
    axes.loglog(r, total, color="C0", linewidth=2, label="sum of eight Gaussians")
    at = np.searchsorted(r, 20)
    axes.loglog(r, total[at] * (r[at] / r) ** 2, color="C1", linestyle="--", label="1/r²")
    axes.set(xlabel="distance from a bright pixel, in pixels", ylabel="glow", ylim=(1e-9, 1))
    axes.legend()
    save(figure, "glow")


def slabs() -> None:
    """Rows of a picture in slabs: while one is worked on, the next is read and the last is written."""
    figure, axes = plt.subplots(figsize=(6.5, 3))
    colours = {"read": "#9ecae1", "device": "#fdae6b", "write": "#a1d99b"}
    for lane, (what, colour) in enumerate(colours.items()):
        for slab in range(5):
            axes.barh(2 - lane, 0.92, left=slab + lane, color=colour, edgecolor="0.3")
            axes.text(slab + lane + 0.46, 2 - lane, f"slab {slab + 1}", ha="center", va="center", fontsize=8)
        axes.text(-0.15, 2 - lane, what, ha="right", va="center")
    axes.set(xlabel="time", yticks=[], xlim=(-1, 7.1))
    axes.set_xticks([])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    save(figure, "slabs")


if __name__ == "__main__":
    for draw in (shrink, agx, window, glow, slabs):
        draw()
