"""The transform within the image's own memory, by Ikuzawa, Ino and Hagihara's permutation of chunks.

T. Ikuzawa, F. Ino and K. Hagihara, "Reducing Memory Usage of Discrete Wavelet Transform by Overwriting the Input on a
GPU". Along an axis even samples go before odd ones, and lifting steps then work on the two halves where they lie:
the only memory is the image's and a table's, while more than twice as many bytes are moved as with memory to spare.

The source has lengths that are powers of two; here any length works (algorithm 3 does not end at the last chunk, which
is a cycle by itself; the number of chunks may be odd; rows may have rests). A cycle can then hold nearly all chunks, so
cycles are cut into pieces that are moved at the same time. Each lifting step is a launch, which needs no halo.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import sqrt

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu, Kernel, Local
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from . import blocks
from .lifting import lifting
from .wavelets import WAVELETS, LiftingStep, Wavelet

Shape = tuple[int, ...]

TABLES = GLOBAL, CONSTANT, NONE = "global", "constant", "none"  # where the table of cycles lies
_CONSTANT_BYTES = (
    1 << 16
)  # the least constant memory of a device: OpenCL 1.2, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE
CHUNK = 128  # samples of a chunk: four of a GPU's transactions of 128 bytes
_LANES = 32  # samples of a chunk that a group moves side by side, in each of its pieces
# Pieces that a group moves at the same time: if cycles have up to _LONG chunks, and if they are longer.
_PIECES = 8, 32
_LONG = 64  # the most chunks of a short cycle
_LEAST = 16  # the fewest chunks of a piece


def decompose(
    image: Image, params: DwtParams, levels: int, *, chunk: int = CHUNK, table: str = GLOBAL
) -> None:
    """All levels of an Image (planes, height, width) float32 or int32, which the :mod:`.blocks` layout overwrites.

    Parameters
    ----------
    params
        Parameters of the method ``in-place``; ``integer`` for int32.
    chunk : int
        Samples of a chunk; 32 of them are 128 bytes.
    table : str
        Where the table of cycles lies, which takes memory (:func:`table_bytes`): ``global``, or ``constant`` as in the
        source, if it has 64 KiB at most, which every device has. ``none``: if the number of chunks is a power of two,
        each chunk's number tells by its bits whether it is a cycle's first.

    Raises
    ------
    ParameterError
        An odd length under periodization, another method or type of samples, no sample in a chunk.
    """
    for step in _launches(image, params, levels, chunk, table, inverse=False):
        step()


def recompose(
    image: Image, params: DwtParams, levels: int, *, chunk: int = CHUNK, table: str = GLOBAL
) -> None:
    """The inverse of :func:`decompose`, over the same memory."""
    for step in _launches(image, params, levels, chunk, table, inverse=True)[::-1]:
        step()


def places(image: Image, params: DwtParams, levels: int) -> list[blocks.BandInBlock]:
    """The places of the bands that :func:`decompose` has left: cA, the coarsest cH, cV, cD, …"""
    return blocks.places(image.shape[1:], blocks.regions(image.shape[1:], params, levels))


def _check(image: Image, params: DwtParams, chunk: int) -> None:
    wanted = np.dtype(np.int32 if params.integer else np.float32)
    if image.dtype != wanted or len(image.shape) != 3:
        raise ParameterError(
            f"an Image of (planes, height, width) {wanted} is needed, not {image.shape} {image.dtype}"
        )
    if params.method != "in-place":
        raise ParameterError(f"the parameters are those of the method {params.method}, not of in-place")
    if chunk < 1:
        raise ParameterError(f"a chunk has a sample at least, not {chunk}")


def table_bytes(gpu: Gpu, shape: Shape, levels: int, *, chunk: int = CHUNK, table: str = GLOBAL) -> int:
    """The bytes that the tables of cycles take on the device for an image of (height, width) ``shape``, one way."""
    counts = set()
    for _ in range(levels):
        counts |= {shape[0], 2 * (shape[1] // (2 * chunk))}
        shape = tuple((n + 1) // 2 for n in shape)
    tables = (_permuting(gpu, count, _wide(gpu), False, table)[2] for count in counts if count > 2)
    return sum(pieces.nbytes for pieces in tables if pieces is not None)


def _launches(
    image: Image, params: DwtParams, levels: int, chunk: int, table: str, *, inverse: bool
) -> list[Callable[[], None]]:
    """What is done, or undone, in its order forward: of each level columns, and then rows."""
    _check(image, params, chunk)
    launches: list[Callable[[], None]] = []
    for height, width in blocks.regions(image.shape[1:], params, levels):
        down, along = (
            Line(WAVELETS[params.wavelet], params.mode, axis, n, across, inverse)
            for axis, n, across in ((1, height, width), (2, width, height))
        )
        chunks = 2 * (width // (2 * chunk))
        launches += [
            partial(_permute, image, down.label, height, width, 1, image.shape[2], inverse, table),
            partial(run, down, image),
            partial(_create, image, along.label, height, width, chunk, inverse),
            partial(_permute, image, along.label, chunks, chunk, height, chunk, inverse, table),
            partial(_shift, image, along.label, height, width, chunk, inverse),
            partial(run, along, image),
        ]
    return launches


def _group(gpu: Gpu, name: str, chunk: int, wide: int) -> tuple[Kernel, int]:
    """A kernel whose groups hold a chunk in their work-items' registers, ``wide`` samples at once; and the number of
    work-items."""
    each = 1
    while True:
        kernel = gpu.kernel("dwt_chunks", name, WIDTH=wide, EACH=each)
        items = kernel.fit(-(-chunk // (each * wide)))[0]
        if items * each * wide >= chunk:
            return kernel, items
        each *= 2


def _create(image: Image, label: str, height: int, width: int, chunk: int, inverse: bool) -> None:
    """Algorithm 1: makes chunks of even and of odd samples in turn; the rest of a row becomes two shorter chunks."""
    if width < 2:
        return
    kernel, items = _group(image.gpu, "create", chunk, _wide(image.gpu))
    planes, rows, columns = image.shape
    image.gpu.launch(
        kernel, (items * -(-width // (2 * chunk)), height, planes), image, rows, columns, width, chunk, int(inverse),
        local=(items, 1, 1), label=f"{label} create", traffic=8 * planes * height * width,
    )  # fmt: skip


def _permute(
    image: Image, label: str, count: int, lanes: int, rows: int, stride: int, inverse: bool, table: str
) -> None:
    """Algorithm 2: permutes ``count`` chunks of ``lanes`` samples, ``stride`` apart, in the first ``rows`` of each
    plane."""
    gpu, (planes, height, width) = image.gpu, image.shape
    if count < 3 or lanes * rows * planes == 0:
        return
    moved, lines = 0, planes * rows
    for wide in dict.fromkeys((_wide(gpu), 1)):
        items = (lanes - moved) // wide
        if items == 0:
            continue
        kernel, local, links = _permuting(gpu, count, wide, inverse, table)
        slots, bits = (links.shape[0], 0) if links is not None else (count, count.bit_length() - 1)
        gpu.launch(
            kernel, (items, slots, lines), image, links, slots, bits, _modulus(count), int(inverse), lines, rows,
            height, width, stride, moved, moved + items * wide, Local(local[0] * local[1] * wide * 4), local=local,
            label=f"{label} permute", traffic=8 * lines * items * wide * (_modulus(count) - 1),
        )  # fmt: skip
        moved += items * wide


def _shift(image: Image, label: str, height: int, width: int, chunk: int, inverse: bool) -> None:
    """Moves the even samples of the rest of a row, behind its whole chunks, before all odd samples."""
    half, rest = width // (2 * chunk) * chunk, width % (2 * chunk)
    if half == 0 or rest == 0:
        return
    kernel, items = _group(image.gpu, "shift", chunk, 1)
    planes, rows, columns = image.shape
    by = (rest + 1) // 2
    image.gpu.launch(
        kernel, (items, height, planes), image, rows, columns, half, half, by, int(inverse), local=(items, 1, 1),
        label=f"{label} shift", traffic=8 * planes * height * (half + by),
    )  # fmt: skip


# -- lifting steps, each a launch of its own, on even and odd samples that lie apart -----------------------------------


@dataclass(frozen=True)
class Line:
    """A transform along one axis: ``n`` samples, in ``across`` lines of each plane, at an image's top left."""

    wavelet: Wavelet
    mode: str
    axis: int
    n: int
    across: int
    inverse: bool

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of even and odd samples. In the mode periodization n is even."""
        return (self.n + 1) // 2, self.n // 2

    @property
    def scales(self) -> tuple[float, float]:
        """The factors of low coefficients to even samples, and of high ones to odd samples, as all steps leave them.

        One sample and its mirror images are a constant, whose low coefficient is √2 times itself.
        """
        scale = sqrt(2.0) if self.mode == "mirror" and self.n == 1 else self.wavelet.scale
        return scale, -1.0 / scale

    @property
    def border(self) -> str:
        if self.mode == "periodization":
            return "BORDER_WRAP"
        return "BORDER_MIRROR" if self.wavelet.whole_sample else "BORDER_CONSTANT"

    @property
    def label(self) -> str:
        return f"{'i' if self.inverse else ''}dwt {'yx'[self.axis - 1]} {self.wavelet.name} in-place"


def run(line: Line, image: Image) -> None:
    """Takes all steps: even samples, which come first along the axis, and odd ones become low and high coefficients.

    With ``line.inverse`` it is the other way round. The image is float32 or int32.
    """
    steps = lifting(line.wavelet, inverse=line.inverse).steps
    # The factors of the image's even and odd values relative to the values that the steps work on.
    stored = line.scales if line.inverse else (1.0, 1.0)
    end = (1.0, 1.0) if line.inverse else line.scales
    for index, step in enumerate(steps):
        last = not any(later.odd == step.odd for later in steps[index + 1 :])
        result = end[step.odd] if last else 1.0
        _lifting_step(line, image, step, stored[step.odd], stored[not step.odd], result)
        stored = (stored[0], result) if step.odd else (result, stored[1])


def _lifting_step(
    line: Line, image: Image, step: LiftingStep, own: float, other: float, result: float
) -> None:
    """Takes one step. ``own``, ``other``: scales of the changed and the other half before it; ``result``: scale of the
    changed half after it."""
    gpu, planes = image.gpu, image.shape[0]
    integer, rows = image.dtype.kind == "i", line.axis == 2
    targets, others = line.counts[step.odd], line.counts[not step.odd]
    if planes * line.across * targets == 0:
        return
    sample = "int" if integer else "float"
    wide = 16 if gpu.limits.is_cpu else 1
    taps = [int(tap) for tap in step.taps] if integer else [*step.weights]
    weights = tuple(taps + [type(taps[0])(0)] * (16 - len(taps)))
    size = (-(-targets // wide), line.across) if rows else (-(-line.across // wide), targets)
    to, beside = (line.counts[0], 0) if step.odd else (0, line.counts[0])
    gpu.compute(
        ("border", "dwt_step"), "lifting_step", (*size, planes), image, planes, image.shape[1:], line.across,
        line.n, targets, others, to, beside,
        weights, step.first, int(step.odd), 1.0 / own, 1.0 / other, result, step.rounding, step.shift,
        int(step.subtract), group=(64 // wide, 4), label=f"{line.label} {'predict' if step.odd else 'update'}",
        traffic=4 * planes * line.across * (2 * targets + others), TAPS=len(step.taps), WIDTH=wide, S=sample,
        S16=f"{sample}16", INTEGER=integer, ROWS=rows, **{line.border: True},
    )  # fmt: skip


# -- cycles -------------------------------------------------------------------------------------------------------


def _modulus(count: int) -> int:
    """The modulus of the permutation: chunk 2i modulo it comes to i. A chunk stays at 0, and at the modulus of an even
    count."""
    return count - 1 if count % 2 == 0 else count


def source_of(i: int, modulus: int, inverse: bool) -> int:
    """The chunk that comes to place i."""
    if inverse:
        return (i if i % 2 == 0 else i + modulus) // 2
    return 2 * i % modulus


@cache
def cycles(count: int) -> tuple[tuple[int, int], ...]:
    """(least chunk, length) of each cycle of the permutation of ``count`` chunks: algorithm 3."""
    modulus = _modulus(count)
    seen = bytearray(modulus)
    pairs = []
    for first in range(1, modulus):
        if seen[first]:
            continue
        at, length = first, 0
        while not seen[at]:
            seen[at] = 1
            at = 2 * at % modulus
            length += 1
        pairs.append((first, length))
    return tuple(pairs)


def pieces(count: int, at_a_time: int, *, inverse: bool) -> npt.NDArray[np.int32]:
    """The cycles for the kernel ``permute``: rows (a piece's first chunk, the number in its group of the next piece).

    Groups take ``at_a_time`` rows. A cycle that would be divided between two groups begins with the second, behind rows
    (−1, 0).
    """
    modulus = _modulus(count)
    rows: list[tuple[int, int]] = []
    for first, length in cycles(count):
        parts = min(at_a_time, max(1, length // _LEAST))
        if -len(rows) % at_a_time < parts:
            rows += [(-1, 0)] * (-len(rows) % at_a_time)
        here, at = len(rows) % at_a_time, first
        for k in range(parts):
            rows.append((at, here + (k + 1) % parts))
            for _ in range(length * (k + 1) // parts - length * k // parts):
                at = source_of(at, modulus, inverse)
    rows += [(-1, 0)] * (-len(rows) % at_a_time)
    return np.array(rows, np.int32)


def _wide(gpu: Gpu) -> int:
    """The samples of a chunk that a work-item moves at once."""
    return 16 if gpu.limits.is_cpu else 1


def _permuting(
    gpu: Gpu, count: int, wide: int, inverse: bool, table: str
) -> tuple[Kernel, tuple[int, ...], Image | None]:
    """The kernel, its groups (work-items side by side, pieces, 1), and the table; None if bits replace the table."""
    constant = {"CONSTANT": True} if table == CONSTANT else {}
    kernel = gpu.kernel("dwt_chunks", "permute", WIDTH=wide, EACH=1, **constant)
    if table == NONE and count & (count - 1) == 0:
        # Most chunks lead no cycle: their work-items must not wait in a group for one that does.
        return kernel, kernel.fit(4 * _LANES // wide, 1, 1), None
    longest = max(length for _, length in cycles(count))
    local = kernel.fit(_LANES // wide, _PIECES[longest > _LONG], 1)
    key = "dwt chunks", count, local[1], inverse
    links = gpu.kept(key, lambda: gpu.array(pieces(count, local[1], inverse=inverse)))
    if constant and links.nbytes > _CONSTANT_BYTES:
        return _permuting(gpu, count, wide, inverse, GLOBAL)
    return kernel, local, links
