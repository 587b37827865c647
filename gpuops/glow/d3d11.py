"""The effects of the Direct3D 11 sample HDRToneMappingCS11, exactly: a reference to compare with, not a good default.

Images are planar, with colours premultiplied by alpha where there is one.

The sample's order: meter the scene, blur it (if the blur is on), take the bloom from the scene as it was before the
blur, and join both in the final pass. As in the sample, each effect exists with local memory and with direct reads.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import check_name
from ..gpu import Gpu, Local
from ..image import Image
from ..metrics.statistics import statistics
from ..notes import note
from ..operands import check_colours
from ..pixels.primaries import REC601_LUMINANCE

# The ways to blur; ``auto`` is direct on CPUs and local elsewhere.
METHODS = ("auto", "local", "direct")
# The sample's blur has this σ in pixels.
_SIGMA = 3.0
# Taps of the blur on each side of the middle.
_HALF_TAPS = 7
# Work-items of a group, as in the sample.
_GROUP = 128


def weights() -> list[float]:
    """Returns the sample's 15 weights: a Gaussian of σ 3, all but the centre times 1.25, so that they sum to 1.2017."""
    return [
        (1.25 if i else 1.0) * math.exp(-0.5 * (i / _SIGMA) ** 2) / (_SIGMA * math.sqrt(2 * math.pi))
        for i in range(-_HALF_TAPS, _HALF_TAPS + 1)
    ]


def tonemap(
    gpu: Gpu, image: Image, method: str = "auto", *, with_bloom: bool = True, blurred: bool = False
) -> Image:
    """Makes the sample's whole picture: metering, blur if it is on, bloom if it is on, tone mapping.

    The luminance and the bloom are those of the unblurred scene; only the scene that is tone-mapped is blurred. The
    result is display light in 0…1, marked linear and premultiplied as the input is; the sample's curve is applied to
    straight colours. Raises ParameterError for an image that is neither gray nor RGB, or an unknown method.
    """
    image, luminance = _metered(gpu, image, method)
    glow = _glow(gpu, image, luminance, method) if with_bloom else None
    return _final(gpu, blur(gpu, image, method) if blurred else image, glow, luminance, tonemaps=True)


def bloom(gpu: Gpu, image: Image, method: str = "auto") -> Image:
    """Applies the sample's bloom by itself: light + 0.6 × its bloom. The rest is as for :func:`tonemap`."""
    image, luminance = _metered(gpu, image, method)
    return _final(gpu, image, _glow(gpu, image, luminance, method), luminance, tonemaps=False)


def blur(gpu: Gpu, image: Image, method: str = "auto") -> Image:
    """Applies the sample's blur: 15 taps along x, then along y; it brightens every colour by 1.2017² = 1.44.

    Alpha, which the sample does not have, is blurred by the same taps divided by their sum: opaque parts stay opaque,
    and as bright as without alpha. Raises ParameterError for an unknown method.
    """
    return _convolved(gpu, _convolved(gpu, image, method, axis=1), method, axis=0)


def _local(gpu: Gpu, method: str) -> bool:
    check_name("method", method, METHODS)
    return method == "local" or (method == "auto" and not gpu.limits.is_cpu)


def _metered(gpu: Gpu, image: Image, method: str) -> tuple[Image, float]:
    """Returns the image with values that are not finite repaired, and the mean luminance of the finite pixels."""
    check_colours(image.colours, image.shape[0], "the preset d3d11")
    reduction = "tiles" if _local(gpu, method) else "direct"
    measured = statistics(gpu, image, weights=REC601_LUMINANCE, histogram=False, method=reduction)
    broken = measured
    if image.alpha and not (broken.nan or broken.infinite):
        broken = statistics(gpu, _alpha(image), histogram=False, method=reduction)
    if broken.nan or broken.infinite:
        image = _repaired(gpu, image)
        counts = [f"{n} {kind}" for n, kind in ((broken.nan, "NaN"), (broken.infinite, "infinite")) if n]
        note(f"pixels repaired: {', '.join(counts)} (NaN became 0, infinities ±65504)")
    return image, measured.mean if measured.finite else 0.0


def _alpha(image: Image) -> Image:
    """Returns a copy of the alpha plane, as a gray image."""
    plane = image.planes(slice(image.colours, image.shape[0]))
    plane.alpha = False
    return plane


def _repaired(gpu: Gpu, image: Image) -> Image:
    """Replaces values that are not finite: the sample's half floats end at 65504, and its blur would spread others."""
    result = image.like()
    count = math.prod(image.shape)
    gpu.compute(
        "d3d11", "repair", (count,), image, result, np.uint64(count), group=256, label="d3d11 repair", COLOURS=1,
    )  # fmt: skip
    return result


def _glow(gpu: Gpu, image: Image, luminance: float, method: str) -> Image | None:
    """Returns the blurred bright pass at an eighth of the size, in 8 bits; None where that leaves no pixel."""
    small = (image.shape[1] // 8, image.shape[2] // 8)
    if not all(small):
        return None
    rows = _convolved(gpu, image, method, axis=1, bright=luminance)
    return _convolved(gpu, rows, method, axis=0, to_bytes=True)


def _convolved(
    gpu: Gpu, image: Image, method: str, axis: int, *, bright: float | None = None, to_bytes: bool = False
) -> Image:
    """Blurs along an axis; ``bright``: its bright pass, by this luminance; ``to_bytes``: rounds to 8 bits."""
    height, width = image.shape[1:]
    result = image.like() if bright is None else gpu.empty((image.colours, height // 8, width // 8))
    of, rows, columns = result.shape
    n, inner = (columns, 1) if axis else (rows, columns)
    lines = of * (rows if axis else columns)
    of_colour = image.colours * (rows if axis else columns)
    taps = gpu.array(np.array(weights(), np.float32))
    local_memory = _local(gpu, method)
    way = "local" if local_memory else "direct"
    kernel = gpu.kernel("d3d11", f"blur_{way}", COLOURS=1, BRIGHT=bright is not None, TO_BYTES=to_bytes)
    local = kernel.fit(_GROUP, 1)
    # Groups overlap by the taps that their work-items at the ends only hold values for.
    size = -(-n // (local[0] - 2 * _HALF_TAPS)) * local[0] if local_memory else n
    gpu.launch(
        kernel, (size, lines), image, taps, result, lines, n, inner, of_colour, 1.0 / math.fsum(weights()), width,
        height, bright or 0.0, *((Local(4 * local[0]),) if local_memory else ()), local=local,
        label=f"d3d11 {'blur' if bright is None else 'bright pass and blur'} {'x' if axis else 'y'} {way}",
        traffic=(image.nbytes if bright is None else result.nbytes) + result.nbytes,
    )  # fmt: skip
    return result


def _final(gpu: Gpu, image: Image, glow: Image | None, luminance: float, *, tonemaps: bool) -> Image:
    height, width = image.shape[1:]
    small = glow.shape[1:] if glow is not None else (0, 0)
    result = image.like()
    gpu.compute(
        "d3d11", "final_pass", (width, height), image, glow, result, width, height, *small[::-1], luminance,
        group=(16, 16), label="d3d11 final pass", COLOURS=image.colours, ALPHA=image.alpha, TONEMAP=tonemaps,
        traffic=image.nbytes + result.nbytes + (glow.nbytes if glow is not None else 0),
    )  # fmt: skip
    return result
