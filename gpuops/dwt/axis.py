"""One axis of the transform on device images: (planes, height, width) float32 or int32."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..errors import ParameterError
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


def resized(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    """``shape`` with another length along an axis."""
    return (*shape[:axis], n, *shape[axis + 1 :])


def check_length(params: DwtParams, n: int) -> None:
    """Raises ParameterError where a mode has nothing to reflect."""
    if n == 1 and params.mode in ("reflect", "antireflect"):
        raise ParameterError(
            f"mode {params.mode} needs two samples or more along each axis: use symmetric or mirror"
        )


def analyse(image: Image, params: DwtParams, axis: int) -> tuple[Image, Image]:
    """The low and the high half of an image along ``axis`` (1: vertically, 2: horizontally)."""
    n = image.shape[axis]
    check_length(params, n)
    lows, highs = lengths(params, n)
    low, high = image.like(resized(image.shape, axis, lows)), image.like(resized(image.shape, axis, highs))
    if params.method == "laan":
        laan.analyse(image, low, high, WAVELETS[params.wavelet], params.mode, axis)
    else:
        _launch("analyse", (image,), (low, high), params, axis, n, (lows, highs))
    return low, high


def synthesise(low: Image, high: Image, params: DwtParams, axis: int, n: int) -> Image:
    """The ``n`` samples along ``axis`` that the two halves stand for."""
    image = low.like(resized(low.shape, axis, n))
    if params.method == "laan":
        laan.synthesise(low, high, image, WAVELETS[params.wavelet], params.mode, axis)
    else:
        _launch("synthesise", (low, high), (image,), params, axis, n, (low.shape[axis], high.shape[axis]))
    return image


def extension(wavelet: Wavelet, mode: str, inverse: bool) -> dict[str, bool]:
    """The defines of what stands beyond the ends: of the samples, or of the coefficients."""
    border, extra = _EXTENSIONS.get(mode, ("", None))
    if mode == "mirror":
        # A half-sample symmetric wavelet gives a last, lone sample a detail of zero, which is not stored.
        border = "MIRROR" if wavelet.whole_sample else ("CONSTANT" if inverse else "REFLECT")
    elif inverse:
        border, extra = "WRAP" if mode == "periodization" else "CONSTANT", None
    return {f"BORDER_{border}": True, **({extra: True} if extra else {})}


def _launch(
    name: str,
    inputs: tuple[Image, ...],
    outputs: tuple[Image, ...],
    params: DwtParams,
    axis: int,
    n: int,
    counts: tuple[int, int],
) -> None:
    if not any(image.nbytes for image in outputs):
        return
    gpu, wavelet = inputs[0].gpu, WAVELETS[params.wavelet]
    inverse, rows, integer = name == "synthesise", axis == 2, inputs[0].dtype.kind == "i"
    first = 0
    if params.method == "lifting":
        constants = generate.lifting(wavelet, inverse=inverse, integer=integer)
        if expansive(params):
            first = (1 - wavelet.length // 2) // 2
    else:
        constants = generate.filterbank(wavelet, inverse=inverse, expansive=expansive(params))
    shape = outputs[0].shape if inverse else inputs[0].shape
    outer, inner = (prod(shape[:2]), 1) if rows else (shape[0], shape[2])
    defines = {
        **extension(wavelet, params.mode, inverse),
        "ROWS": rows,
        "INTEGER": integer,
        "INVERSE": inverse,
        "S": "int" if integer else "float",
    }
    private = params.tile == "private" or (params.tile == "auto" and gpu.limits.is_cpu)
    tiling = (_private if private else _local)(
        gpu, name, constants, defines, (outer, (n + 1) // 2, counts[0], inner)
    )
    gpu.launch(
        tiling.kernel, tiling.size, *inputs, *outputs, outer, n, inner, *counts, first, *tiling.tile,
        local=tiling.local, label=f"{'i' if inverse else ''}dwt {'yx'[rows]} {wavelet.name} {params.method}",
        traffic=sum(image.nbytes for image in (*inputs, *outputs)),
    )  # fmt: skip


@dataclass(frozen=True)
class _Tiling:
    kernel: Kernel
    size: tuple[int, ...]
    local: tuple[int, ...]
    tile: tuple[Local, ...] = ()


Defines = dict[str, "bool | str"]
_SOURCES = ("border", "dwt_extension", "dwt")


def _private(
    gpu: Gpu, name: str, constants: Source, defines: Defines, dims: tuple[int, int, int, int]
) -> _Tiling:
    """One work-item a tile. Columns: 16 neighbours abreast, short tiles. Rows: 8 neighbours at once, long tiles."""
    outer, pairs, lows, inner = dims
    sample, rows = defines["S"], defines["ROWS"]
    run = 128 if rows else 16
    tiles = -(-(pairs if defines["INVERSE"] else lows) // run)
    if rows:
        kernel = gpu.kernel(
            (constants, *_SOURCES), name, V=sample, WIDTH=1, LANES=8, LANES2=16, PAIRS=run, **defines
        )
        return _Tiling(kernel, (tiles * outer,), kernel.fit(8))
    kernel = gpu.kernel((constants, *_SOURCES), name, V=f"{sample}16", WIDTH=16, PAIRS=run, **defines)
    return _Tiling(kernel, (-(-inner // 16), tiles, outer), kernel.fit(16, 1, 1))


def _local(
    gpu: Gpu, name: str, constants: Source, defines: Defines, dims: tuple[int, int, int, int]
) -> _Tiling:
    """One work-group a tile (columns: one of each of its columns), a few pairs for each work-item."""
    outer, pairs, lows, inner = dims
    columns, items, each = (1, 128, 2) if defines["ROWS"] else (16, 16, 4)
    while True:
        run = each * items
        kernel = gpu.kernel(
            (constants, *_SOURCES), name, V=defines["S"], WIDTH=1, PAIRS=run, LOCAL=True, **defines
        )
        if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
            break
        items //= 2
    tile = Local(2 * (run + generate.halo(constants)) * columns * 4)
    tiles = -(-(pairs if defines["INVERSE"] else lows) // run)
    if defines["ROWS"]:
        return _Tiling(kernel, (tiles * outer * items,), (items,), (tile,))
    return _Tiling(kernel, (inner, tiles * items, outer), (columns, items, 1), (tile,))
