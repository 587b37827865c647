"""Plots what a point becomes, and the largest error over σ, of each way to a Gaussian.

    python docs/benchmarks/blur_accuracy.py --impulse impulse.png --errors errors.png [--device NAME]

The response to a single pixel, along a line, σ 10, over its largest value, beside exp(−x²/2σ²). Errors as in
blur_peers.py: the largest difference from the whole Gaussian (scipy in double precision, cut at 9 σ), over an impulse,
an edge and noise of 300 × 400 pixels, relative to each result's largest value; scipy's and OpenCV's with their
defaults, the latter where it is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.ndimage

from gpuops import Gpu
from gpuops.filters import blur
from gpuops.ops.blur import BlurParams

Array = npt.NDArray[Any]
Blur = Callable[[Array, tuple[float, float]], Array]  # of planes, by σ (y, x)
SIGMA, BOXES = 10.0, (9, 9, 10)  # radii of boxes whose variances come to σ² as nearly as can be
NOTHING = 1e-20  # for logarithms
SIGMAS = np.geomspace(0.3, 300, 37)
WAYS: dict[str, dict[str, Any]] = {
    "auto": {},
    "local, 4.5 σ": {"method": "local"},
    "--truncate 4": {"truncate": 4.0},
}


def ours(gpu: Gpu, options: dict[str, Any], planes: Array, sigma: tuple[float, float]) -> Array:
    image = gpu.array(planes.astype(np.float32))
    return np.asarray(blur.blur(gpu, image, BlurParams(sigma=sigma, **options)).numpy())


def boxes(gpu: Gpu, planes: Array) -> Array:
    """Three means along x."""
    image = gpu.array(planes.astype(np.float32))
    for radius in BOXES:
        image = blur.blur(gpu, image, BlurParams(kind="box", radius=(0, radius)))
    return np.asarray(image.numpy())


def scipys(planes: Array, sigma: tuple[float, float]) -> Array:
    return np.asarray(scipy.ndimage.gaussian_filter(planes, (0, *sigma)))


def opencvs(cv2: Any, planes: Array, sigma: tuple[float, float]) -> Array:
    y, x = sigma
    border = cv2.BORDER_REFLECT
    return np.stack(
        [cv2.GaussianBlur(p, (0, 0), x, sigmaY=y, borderType=border) for p in planes.astype(np.float32)]
    )


def samples() -> Array:
    """An impulse, an edge and noise."""
    point, edge = np.zeros((300, 400)), np.zeros((300, 400))
    point[140, 190], edge[:, 200:] = 1, 1
    return np.stack([point, edge, np.random.default_rng(1).random(point.shape)])


def draw_impulse(pyplot: Any, gpu: Gpu, path: Path) -> None:
    point = np.zeros((1, 1, 401))
    point[0, 0, 200] = 1
    responses = {name: ours(gpu, WAYS[name], point, (0, SIGMA)) for name in ("auto", "--truncate 4")}
    x = np.arange(0, 101) / SIGMA
    figure, axis = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    for name, response in {"three boxes": boxes(gpu, point), **responses}.items():
        half = np.abs(response[0, 0, 200:301])
        axis.plot(x, np.maximum(half / half[0], NOTHING), ".-", linewidth=1, markersize=4, label=name)
    axis.plot(x, np.exp(-(x**2) / 2), color="black", linewidth=1, label="exp(−x²/2σ²)")
    axis.set(yscale="log", ylim=(1e-9, 2), xlim=(0, 8), xlabel="x / σ", ylabel="|response| / peak")
    axis.set(title=f"What a pixel becomes, σ {SIGMA:g}")
    save(figure, axis, path)


def draw_errors(pyplot: Any, gpu: Gpu, path: Path) -> None:
    blurs: dict[str, Blur] = {name: partial(ours, gpu, options) for name, options in WAYS.items()}
    blurs["scipy"] = scipys
    try:
        blurs["OpenCV"] = partial(opencvs, import_module("cv2"))
    except ImportError as missing:
        print(f"OpenCV is left out: {missing}")
    planes, errors = samples(), {name: [] for name in blurs}
    print("".join(f"{title:>14}" for title in ("sigma", *blurs)))
    for sigma in SIGMAS.tolist():
        expected = scipy.ndimage.gaussian_filter(planes, (0, sigma, sigma), truncate=9)
        for name, call in blurs.items():
            off = np.abs(call(planes, (sigma, sigma)) - expected).max((1, 2)) / expected.max((1, 2))
            errors[name].append(float(off.max()))
        print(
            "".join(f"{value:>14.3g}" for value in (sigma, *(errors[name][-1] for name in blurs))), flush=True
        )
    figure, axis = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    for name, values in errors.items():
        axis.plot(
            SIGMAS,
            values,
            ".:" if name in ("scipy", "OpenCV") else ".-",
            linewidth=1,
            markersize=4,
            label=name,
        )
    axis.axhline(5e-5, color="grey", linewidth=1)
    axis.set(xscale="log", yscale="log", ylim=(1e-7, 1e-3), xlabel="σ, pixels", ylabel="largest error / peak")
    axis.set(title="Distance from the whole Gaussian (line: what auto is held to)")
    axis.xaxis.set_major_formatter("{x:g}")
    save(figure, axis, path)


def save(figure: Any, axis: Any, path: Path) -> None:
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=90, pil_kwargs={"optimize": True})


def main() -> None:
    """Draws what is asked for."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--impulse", type=Path, metavar="FILE.png")
    parser.add_argument("--errors", type=Path, metavar="FILE.png")
    parser.add_argument("--device", help="as clpix's --device")
    options = parser.parse_args()
    gpu, pyplot = Gpu(options.device), import_module("matplotlib.pyplot")
    if options.impulse:
        draw_impulse(pyplot, gpu, options.impulse)
    if options.errors:
        draw_errors(pyplot, gpu, options.errors)


if __name__ == "__main__":
    main()
