"""One axis of the transform on device images: (planes, height, width) float32 or int32."""

from __future__ import annotations

import os
from math import prod

from ..gpu import Gpu, Kernel, Local, Source
from ..image import Image
from ..params.dwt import DwtParams
from . import generate, laan
from .wavelets import WAVELETS, Wavelet

# PyWavelets' mode -> what clkernels/border.cl and dwt_extension.cl call it
_EXTENSIONS = {
    "zero": ("CONSTANT", None),
    "constant": ("NEAREST", None),
    "symmetric": ("REFLECT", None),
    "periodic": ("WRAP", None),
    "smooth": ("CONSTANT", "SMOOTH"),
    "reflect": ("MIRROR", None),
    "antisymmetric": ("REFLECT", "ANTISYMMETRIC"),
    "antireflect": ("MIRROR", "ANTIREFLECT"),
    "periodization": ("WRAP", "PERIODIZATION"),
}


def expansive(params: DwtParams) -> bool:
    """Whether the mode gives more coefficients than samples."""
    return params.mode not in ("mirror", "periodization")


def lengths(params: DwtParams, n: int) -> tuple[int, int]:
    """How many low and high coefficients n samples have."""
    if params.mode == "mirror":
        return (n + 1) // 2, n // 2
    if params.mode == "periodization":
        return (n + 1) // 2, (n + 1) // 2
    count = (n + WAVELETS[params.wavelet].length - 1) // 2
    return count, count


def samples(params: DwtParams, lows: int, highs: int) -> int:
    """How many samples coefficients give: an odd length comes back one longer, unless the mode is mirror."""
    if params.mode == "mirror":
        return lows + highs
    return 2 * lows - (WAVELETS[params.wavelet].length - 2 if expansive(params) else 0)


def _with(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


def analyse(image: Image, params: DwtParams, axis: int) -> tuple[Image, Image]:
    """The low and the high half of an image along ``axis`` (1: vertically, 2: horizontally)."""
    wavelet = WAVELETS[params.wavelet]
    n = image.shape[axis]
    lows, highs = lengths(params, n)
    low, high = image.like(_with(image.shape, axis, lows)), image.like(_with(image.shape, axis, highs))
    if params.method == "laan":
        laan.analyse(image, low, high, wavelet, params.mode, axis)
    else:
        _launch(image.gpu, "analyse", (image,), (low, high), wavelet, params, axis, n, lows, highs)
    return low, high


def synthesise(low: Image, high: Image, params: DwtParams, axis: int, n: int) -> Image:
    """The ``n`` samples along ``axis`` that the two halves stand for."""
    wavelet = WAVELETS[params.wavelet]
    image = low.like(_with(low.shape, axis, n))
    if params.method == "laan":
        laan.synthesise(low, high, image, wavelet, params.mode, axis)
    else:
        lows, highs = low.shape[axis], high.shape[axis]
        _launch(image.gpu, "synthesise", (low, high), (image,), wavelet, params, axis, n, lows, highs)
    return image


def _extension(wavelet: Wavelet, mode: str, inverse: bool) -> dict[str, bool]:
    """The defines of what stands beyond the ends: of the samples, or of the coefficients."""
    border, extra = _EXTENSIONS.get(mode, ("", None))
    if mode == "mirror":
        # A half-sample symmetric wavelet gives a last, lone sample a detail of zero, which is not stored.
        border = "MIRROR" if wavelet.whole_sample else ("CONSTANT" if inverse else "REFLECT")
    elif inverse:
        border, extra = "WRAP" if mode == "periodization" else "CONSTANT", None
    return {f"BORDER_{border}": True, **({extra: True} if extra else {})}


def _launch(
    gpu: Gpu,
    name: str,
    inputs: tuple[Image, ...],
    outputs: tuple[Image, ...],
    wavelet: Wavelet,
    params: DwtParams,
    axis: int,
    n: int,
    lows: int,
    highs: int,
) -> None:
    if not any(image.nbytes for image in outputs):
        return
    inverse = name == "synthesise"
    integer = inputs[0].dtype.kind == "i"
    beyond = expansive(params)
    if params.method == "lifting":
        constants = generate.lifting(wavelet, inverse=inverse, integer=integer)
        first = (1 - wavelet.length // 2) // 2 if beyond else 0
    else:
        constants = generate.filterbank(wavelet, inverse=inverse, expansive=beyond)
        first = 0
    tile = params.tile if params.tile != "auto" else ("private" if gpu.limits.is_cpu else "local")
    rows = axis == 2
    shape = (outputs if inverse else inputs)[0].shape
    outer, inner = (prod(shape[:2]), 1) if rows else (shape[0], shape[2])
    defines = {**_extension(wavelet, params.mode, inverse), "ROWS": rows, "INTEGER": integer, "INVERSE": inverse}
    plan = _private if tile == "private" else _local
    kernel, size, local, extra = plan(gpu, name, constants, defines, (outer, lows, inner), "int" if integer else "float")
    gpu.launch(
        kernel, size, *inputs, *outputs, outer, n, inner, lows, highs, first, *extra, local=local,
        label=f"{'i' if inverse else ''}dwt {'x' if rows else 'y'} {wavelet.name} {params.method}",
        traffic=sum(image.nbytes for image in (*inputs, *outputs)),
    )  # fmt: skip


Launch = tuple[Kernel, tuple[int, ...], tuple[int, ...], tuple[Local, ...]]


def _kernel(gpu: Gpu, name: str, constants: Source, **defines: bool | int | str) -> Kernel:
    return gpu.kernel((constants, "border", "dwt_extension", "dwt"), name, **defines)


def _private(
    gpu: Gpu, name: str, constants: Source, defines: dict[str, bool], pairs: tuple[int, int, int], sample: str
) -> Launch:
    """One work-item a tile. Rows: long runs that the compiler vectorises; columns: WIDTH of them, short tiles."""
    outer, along, inner = pairs
    if defines["ROWS"]:
        run = int(os.environ.get('RUNR',256))
        kernel = _kernel(gpu, name, constants, S=sample, V=sample, WIDTH=1, PAIRS=run, **defines)
        return kernel, (-(-along // run) * outer,), kernel.fit(8), ()
    width, run = int(os.environ.get('W',16)), int(os.environ.get('RUNC',16))
    kernel = _kernel(gpu, name, constants, S=sample, V=f"{sample}{width}", WIDTH=width, PAIRS=run, **defines)
    return kernel, (-(-inner // width), -(-along // run), outer), kernel.fit(16, 1, 1), ()


def _local(
    gpu: Gpu, name: str, constants: Source, defines: dict[str, bool], pairs: tuple[int, int, int], sample: str
) -> Launch:
    """One work-group a tile, 4 pairs for each work-item along the axis; at most 24 KB of local memory."""
    outer, along, inner = pairs
    rows = defines["ROWS"]
    columns, items = (1, 128) if rows else (16, 16)
    while True:
        run = (2 if rows else 4) * items
        kernel = _kernel(gpu, name, constants, S=sample, V=sample, WIDTH=1, PAIRS=run, LOCAL=True, **defines)
        if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
            break
        items //= 2
    halo = sum(int(line.split()[2]) for line in constants.text.splitlines() if line.split()[1] in ("LEFT", "RIGHT"))
    tile = Local(2 * (run + halo) * columns * 4)
    tiles = -(-along // run)
    if rows:
        return kernel, (tiles * outer * items,), (items,), (tile,)
    return kernel, (inner, tiles * items, outer), (columns, items, 1), (tile,)
