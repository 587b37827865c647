"""Puts clpix's denoising beside scikit-image's and OpenCV's: PSNR of photographs with white noise.

    python docs/benchmarks/denoise.py --json denoise-cpu.json [--device NAME] [--no-peers]

Photographs of 8 bits: scikit-image's astronaut, chelsea, coffee and rocket, and samples/courtyard.exr tone-mapped by
AgX. Gaussian noise of 10, 20 and 30 levels, rounded and clipped to 8 bits as a camera's would be, with five seeds. All
programs get the same bytes, and give bytes: `psnr` is the mean in dB of all those pictures. scikit-image is
denoise_wavelet with BayesShrink, and cycle_spin of as many shifts as clpix takes; OpenCV is
fastNlMeansDenoisingColored, which is told how much noise there is. Of each of the two, settings are compared with the
first seed, and the best one is run with all of them. `seconds` is the processors' time, the median of the pictures.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, GpuopsWarning, files
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.dwt import DEFAULT_LEVELS, DENOISE_SPACES, DwtParams, ShrinkParams
from gpuops.tone.tonemap import tonemap
from gpuops.wavelets.denoise import denoise

Array = npt.NDArray[Any]
#: A program's way: the bytes of a noisy picture (height, width, 3), and the noise in levels → such bytes.
Way = Callable[[Array, int], Array]

COURTYARD = Path(__file__).parents[2] / "samples" / "courtyard.exr"
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket")
NOISE = (10, 20, 30)
SEEDS = range(5)
# Shifts along each axis.
SPINS = 4


def photographs(gpu: Gpu) -> dict[str, Array]:
    data = import_module("skimage.data")
    found = {name: getattr(data, name)() for name in PHOTOGRAPHS}
    light = files.read(COURTYARD).pixels.astype(np.float32)[..., :3].transpose(2, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuopsWarning)
        shown = tonemap(gpu, gpu.array(np.ascontiguousarray(light)), TonemapParams("agx", transfer="srgb"))
    return {**found, "courtyard": codes(shown.numpy().transpose(1, 2, 0))}


def codes(values: Array) -> Array:
    return np.rint(255 * np.clip(values, 0, 1)).astype(np.uint8)


def clpix(gpu: Gpu) -> dict[str, Way]:
    def way(picture: Array, _noise: int, shrinking: ShrinkParams) -> Array:
        planes = picture.transpose(2, 0, 1) / np.float32(255)
        return codes(
            denoise(gpu, planes, DwtParams(levels=DEFAULT_LEVELS), shrinking, spins=SPINS).transpose(1, 2, 0)
        )

    ways = {
        f"--shrink bayes --denoise-space {space}": ShrinkParams("bayes", space=space)
        for space in DENOISE_SPACES
    }
    for space in DENOISE_SPACES[::2]:
        name = f"--shrink garrote --threshold bayes:1.7 --denoise-space {space}"
        ways[name] = ShrinkParams("garrote", 1.7, "bayes", space)
    return {name: partial(way, shrinking=shrinking) for name, shrinking in ways.items()}


def scikit_image() -> dict[str, Way]:
    restoration = import_module("skimage.restoration")

    def way(picture: Array, _noise: int, wavelet: str, ycbcr: bool) -> Array:
        how = {"wavelet": wavelet, "convert2ycbcr": ycbcr, "channel_axis": -1, "rescale_sigma": True}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that biorthogonal wavelets are another thing
            found = restoration.cycle_spin(
                picture / 255, restoration.denoise_wavelet, SPINS - 1, func_kw=how, channel_axis=-1
            )
        return codes(found)

    settings = [*((wavelet, True) for wavelet in ("db1", "sym4", "sym8", "bior4.4")), ("sym4", False)]
    return {
        f"denoise_wavelet, {wavelet}, {'YCbCr' if ycbcr else 'RGB'}": partial(
            way, wavelet=wavelet, ycbcr=ycbcr
        )
        for wavelet, ycbcr in settings
    }


def opencv() -> dict[str, Way]:
    cv2 = import_module("cv2")

    def way(picture: Array, noise: int, factor: float, colour: float) -> Array:
        found: Array = cv2.fastNlMeansDenoisingColored(picture, None, factor * noise, colour * noise, 7, 21)
        return found

    settings = [(h, c * h) for h in (0.3, 0.45, 0.6, 0.8) for c in (1, 2)]
    return {
        f"fastNlMeansDenoisingColored, h {h:g} σ, hColor {c:g} σ": partial(way, factor=h, colour=c)
        for h, c in settings
    }


def noisy(clean: Array, noise: int, seed: int) -> Array:
    added = clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)
    return np.clip(np.rint(added), 0, 255).astype(np.uint8)


def psnr(picture: Array, clean: Array) -> float:
    return float(20 * np.log10(255 / np.sqrt(np.mean((picture.astype(float) - clean) ** 2))))


def measured(way: Way, pictures: dict[str, Array], seeds: range) -> Iterator[dict[str, Any]]:
    """A figure for each photograph, noise and seed."""
    for name, clean in pictures.items():
        for noise in NOISE:
            for seed in seeds:
                given = noisy(clean, noise, seed)
                start = time.process_time()
                result = way(given, noise)
                seconds = time.process_time() - start
                yield {"photograph": name, "noise": noise, "seconds": seconds, "psnr": psnr(result, clean)}


def row(program: str, setting: str, found: list[dict[str, Any]], chosen_from: int = 1) -> dict[str, Any]:
    """What the JSON has of one program and setting, which is the best of ``chosen_from``."""
    return {
        "program": program,
        "setting": setting,
        "psnr": mean(one["psnr"] for one in found),
        "noise": {n: mean(one["psnr"] for one in found if one["noise"] == n) for n in NOISE},
        "photographs": {
            name: mean(one["psnr"] for one in found if one["photograph"] == name)
            for name in dict.fromkeys(one["photograph"] for one in found)
        },
        "seconds": median(one["seconds"] for one in found),
        "chosen_from": chosen_from,
    }


def best(program: str, ways: dict[str, Way], pictures: dict[str, Array]) -> dict[str, Any]:
    """The setting that is best with the first seed, with all of them."""
    first = {name: list(measured(way, pictures, SEEDS[:1])) for name, way in ways.items()}
    for name, found in first.items():
        print(
            f"  {program} {name}: {mean(one['psnr'] for one in found):.2f} dB with the first seed", flush=True
        )
    name = max(first, key=lambda name: mean(one["psnr"] for one in first[name]))
    return row(program, name, [*first[name], *measured(ways[name], pictures, SEEDS[1:])], len(ways))


def main() -> None:
    """Measures, prints, writes the JSON."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device)
    pictures = photographs(gpu)
    noise_alone: Way = lambda picture, _noise: picture  # noqa: E731
    rows = [row("noisy", "", list(measured(noise_alone, pictures, SEEDS)))]
    for setting, way in clpix(gpu).items():
        rows.append(row("clpix", setting, list(measured(way, pictures, SEEDS))))
    about = {}
    for program, opener, module in (("scikit-image", scikit_image, "skimage"), ("OpenCV", opencv, "cv2")):
        ways = peers.peer(program, opener, given)
        if ways:
            about[program] = import_module(module).__version__
            rows.append(best(program, ways, pictures))
    for one in rows:
        print(f"{one['program']} {one['setting']}: {one['psnr']:.2f} dB, {one['seconds']:.2f} s")
    peers.save(given, gpu, rows, seeds=len(SEEDS), spins=SPINS, **about)


if __name__ == "__main__":
    main()
