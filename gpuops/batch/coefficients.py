"""The work of a wavelet transform: a picture → coefficients, a picture of them, or a changed picture; and back.

By rows each level is a sweep over the level before; bands are in memory, or in scratch files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import FileError
from ..files import RowsOfArray
from ..files.strips import Strips
from ..params.dwt import IN_PLACE, DwtParams, KeepParams, ShrinkParams
from ..pixels.coding import Encoding, Losses
from ..records import dataclass
from ..rows.budget import BLOCKS, codecs, with_spools
from ..rows.spool import new_spool
from ..rows.threads import rows_ahead
from ..tiles.ends import Anywhere, DeviceImage, SpooledImage
from ..tiles.pixels import PixelRows, PixelSink, PixelSource, RowsOfPixels
from ..wavelets import keep, multilevel, pyramid, shrink, stored, transform
from ..wavelets.stored import StoredBands
from ..wavelets.wavelets import WAVELETS
from . import number_files
from .item import FileReading, Item
from .memory import shape_of
from .row_writer import RowWriter

Array = npt.NDArray[Any]
# Bands of all levels, and the approximations on the way, in bytes of the image's samples.
_BANDS, _ON_THE_WAY = 1.0, 1 / 3
# Bytes of staging memory that there are at least.
_LEAST = 1 << 23


@dataclass(frozen=True)
class Approximation:
    """The coefficients that were kept of an image, and the PSNR in dB of the image that they give."""

    kept: keep.Kept
    psnr: float


@dataclass(frozen=True)
class ToCoefficients:
    """Writes the coefficients of stored values, a picture of them, or the image that changed ones give.

    Attributes
    ----------
    params : DwtParams
        ``levels`` None: :data:`~gpuops.params.dwt.DEFAULT_LEVELS`, fewer for small images.
    shrinking, keeping : optional
        How coefficients are changed: at most one of these. With ``keeping`` an :class:`Approximation` is returned.
    reconstruct : bool
        Whether the image is written that the coefficients give which were kept.
    """

    params: DwtParams
    shrinking: ShrinkParams | None = None
    keeping: KeepParams | None = None
    reconstruct: bool = False

    def __call__(self, item: Item) -> Approximation | None:
        file = item.opened()
        picture = file.picture
        how = item.how(picture, linear=False, premultiply=False)
        decoding, (planes, height, width) = how.decoding, shape_of(picture, how)
        dtype = picture.pixels.dtype if how.colour is None else np.dtype(np.float32)
        if self.params.integer and dtype.kind != "u":
            raise FileError(f"{item.path}: --integer needs 8- or 16-bit pixels, not {dtype}")
        say = item.note if self.shrinking is not None else lambda _text: None
        params, origin = transform.with_levels(self.params, (height, width), say), item.origin
        assert origin.dtype is not None
        about = StoredBands(params, (planes, height, width), origin.dtype.name, decoding.alpha, origin.linear)
        plain = item.output.writes_data and not (self.reconstruct or self.shrinking or self.keeping)
        nbytes = picture.pixels.nbytes
        whole = max(item.budget.whole(nbytes), stored.host_bytes(about, nbytes))
        if plain and not (file.in_memory and item.budget.has_room(whole)):
            strips = (item.by_rows() if file.in_memory else None) or file
            file.tell()
            del file, picture  # what comes by rows need not stay in memory
            _write_bands(item, strips, how, about, whole)
            return None
        picture, how = item.read(file, linear=False, premultiply=False, what=self._asks)
        pixels = item.converted(picture.pixels, how)
        overwrite = plain and item.once and params.method in IN_PLACE
        copies = stored.copies(about, overwrite=overwrite, more=not plain)
        source = stored.source_of(item.gpu, pixels, decoding, about, turns=stored.TURNS if overwrite else 1)
        work = _Work(item, multilevel.resident(source, params, copies=copies), about)
        if self.keeping is not None:
            is_light = origin.linear and not decoding.linearise
            return work.keep(self.keeping, pixels, is_light, reconstruct=self.reconstruct)
        del pixels, source  # pixels on the device need not stay on the host
        work.transform(self.shrinking)
        return None

    @property
    def _asks(self) -> str:
        """What needs the whole picture, for messages."""
        if self.keeping is not None:
            return "dwt --keep"
        return "a picture of coefficients" if self.shrinking is None else "dwt --threshold"


@dataclass(frozen=True)
class OfCoefficients:
    """Writes the picture of a coefficient file, in the depth of the original."""

    reads_numbers: ClassVar[bool] = True

    def __call__(self, item: Item) -> None:
        arrays, attributes = item.load_data()
        try:
            about = stored.unpack(arrays, attributes)
        except FileError as error:
            raise FileError(f"{item.path}: {error}") from None
        about = about if item.options.alpha else about.without_alpha()
        if any(isinstance(array, RowsOfArray) for array in arrays.values()):
            _write_image(item, arrays, about)
            return
        work = _Work(item, None, about)
        work.save(item.run(lambda: work.restored(stored.host_bands(item.gpu, arrays, work.about))))


@dataclass
class _Work:
    """The work on the image of a source, on the device as a whole or in slabs; ``about`` tells of the image."""

    item: Item
    source: DeviceImage | PixelSource | None
    about: StoredBands

    def transform(self, shrinking: ShrinkParams | None) -> None:
        """Writes the coefficients, or a picture of them."""
        item, source, about = self.item, self.source, self.about
        if not item.output.writes_data:
            self._save_picture(item.run(lambda: self._painted(self._shrunk(shrinking))))
            return
        in_place = about.params.method in IN_PLACE and item.once and shrinking is None
        if in_place and isinstance(source, DeviceImage):
            arrays = item.run(stored.overwritten, source.image, about)
        else:
            arrays = item.run(lambda: stored.named(self._shrunk(shrinking), about))
        number_files.save(item.output, arrays, about.attributes(), compress=shrinking is not None)

    def keep(self, keeping: KeepParams, pixels: Any, is_light: bool, *, reconstruct: bool) -> Approximation:
        """Writes what is kept of the image of ``pixels``, which are light or not."""
        item, about = self.item, self.about
        depth = keep.depth_of(pixels.dtype, linear=about.linear)

        def work() -> tuple[list[Anywhere], keep.Kept, PixelSink, float]:
            bands, kept = keep.keep(stored.coefficients(self._original, about.params), keeping)
            ours = self.restored(bands, depth)
            psnr = keep.psnr(item.gpu, pixels, ours.pixels, alpha=about.alpha, linear=is_light)
            return bands, kept, ours, psnr

        bands, kept, ours, psnr = item.run(work)
        if reconstruct:
            wanted = self._encoding
            self.save(ours if wanted == depth else item.run(self.restored, bands, wanted))
        elif item.output.writes_data:
            number_files.save(item.output, stored.named(bands, about), about.attributes(), compress=True)
        else:
            self._save_picture(item.run(self._painted, bands))
        return Approximation(kept, psnr)

    @property
    def _original(self) -> DeviceImage | PixelSource:
        assert self.source is not None
        return self.source

    def _shrunk(self, shrinking: ShrinkParams | None) -> list[Anywhere]:
        params = self.about.params
        bands = stored.coefficients(self._original, params)
        if shrinking is None:
            return bands
        approximation, details = transform.nested(bands)
        return transform.flat(approximation, shrink.shrink(approximation, details, params.wavelet, shrinking))

    def restored(self, bands: Sequence[Anywhere], encoding: Encoding | None = None) -> PixelSink:
        """Returns the pixels that coefficients give, in the output's encoding or another one."""
        sink = stored.sink_of(self.about, encoding or self._encoding)
        multilevel.recompose(bands, self.about.params, sink)
        return sink

    def _painted(self, bands: Sequence[Anywhere]) -> PixelSink:
        encoding = self.item.output.encoding_of(self._depth, linear=False, display=True)
        sink = PixelSink(pyramid.size(bands), encoding)
        pyramid.paint(bands, sink, self._white)
        return sink

    @property
    def _encoding(self) -> Encoding:
        return self.item.output.encoding_of(self.about.dtype, linear=self.about.linear)

    def save(self, sink: PixelSink) -> None:
        """Writes an image's pixels."""
        # Values keep their range but for the overshoot of what coefficients have lost.
        about, output = self.about, replace(self.item.output, keeps_range=True)
        output.write(output.of_pixels(*sink.result, about.dtype, linear=about.linear, alpha=about.alpha))

    def _save_picture(self, sink: PixelSink) -> None:
        output = self.item.output
        output.write(output.of_pixels(*sink.result, self._depth, linear=False, alpha=False, display=True))

    @property
    def _depth(self) -> str:
        """The depth of a picture of the pyramid, whose values are shades in [0, 1] for pixels of any range."""
        return "uint8" if self.about.dtype == "uint8" else "uint16"

    @property
    def _white(self) -> float:
        """The brightest value of an approximation. That of the integer transform grows with each level."""
        params = self.about.params
        if not params.integer:
            return 1.0
        return WAVELETS[params.wavelet].growth ** (params.levels or 0) * stored.WHITE[self.about.dtype]


def _write_bands(item: Item, strips: Strips, how: FileReading, about: StoredBands, whole: float) -> None:
    """Writes the bands of a picture's stored values as numbers; ``whole``: the memory that this takes as a whole."""
    gpu, picture = item.gpu, strips.picture
    row = picture.pixels.nbytes // picture.height
    rooms = _Rooms(item, about, row, strips.least, strips.held, whole)
    with ExitStack() as stack, item.naming():
        pool = stack.enter_context(ThreadPoolExecutor(1))

        def begin() -> Iterator[Array]:
            rows = max(1, rooms.at_once // row)
            return (item.converted(pixels, how) for _, pixels in rows_ahead(gpu, pool, strips, rows))

        planes, height, width = about.shape
        dtype = picture.pixels.dtype if how.colour is None else np.dtype(np.float32)
        pixels: Any = RowsOfPixels((height, width, planes), dtype, begin)
        source = stored.source_of(gpu, pixels, how.decoding, about, turns=stored.TURNS)
        kept = stack.enter_context(ExitStack())
        with gpu.phase("compute"):
            for _ in range(item.options.repeat):
                kept.close()  # the bands of the run before
                bands = stored.coefficients(
                    source, about.params, memory=rooms.device, made=partial(rooms.band, kept)
                )
        rows = {
            name: RowsOfArray(band.shape, band.dtype, band.blocks)
            for name, band in zip(about.all_bands(), bands, strict=True)
            if isinstance(band, SpooledImage) and band.nbytes
        }
        with gpu.phase("encode"):
            number_files.save_rows(
                item.output, rows, about.attributes(), max(1, rooms.at_once // (4 * width))
            )


def _write_image(item: Item, arrays: Mapping[str, Any], about: StoredBands) -> None:
    """Writes the picture of bands, arrays or their rows, in the depth of the original."""
    gpu, output = item.gpu, item.output
    encoding = output.encoding_of(about.dtype, linear=about.linear)
    planes, height, width = about.shape
    whole = item.budget.arrays(array.nbytes for array in arrays.values())
    rooms = _Rooms(item, about, planes * width * encoding.dtype.itemsize, 1, 0, whole)
    with ExitStack() as stack, item.naming(), gpu.phase("compute"):
        bands = [rooms.filled(stack, arrays.get(name), shape) for name, shape in about.all_bands().items()]
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with RowWriter(output, height, pool) as writing:

            def give(pixels: Array, lost: Losses) -> None:
                writing.put(
                    output.of_pixels(pixels, lost, about.dtype, linear=about.linear, alpha=about.alpha)
                )

            sink = PixelRows(about.shape, encoding, about.alpha, stored.from_levels(about), give=give)
            multilevel.recompose(
                bands, about.params, sink, memory=rooms.device, made=partial(rooms.band, stack)
            )
    writing.warn()


class _Rooms:
    """Where bands are kept, and how much goes at a time."""

    def __init__(self, item: Item, about: StoredBands, row: int, least: int, held: int, whole: float) -> None:
        self._item, budget = item, item.budget
        planes, *shape = about.shape
        bands = prod(about.shape) * about.sample.itemsize * (_BANDS + _ON_THE_WAY)
        self._about = about
        fixed = codecs(2) + BLOCKS * least * row + _LEAST + held
        beside = fixed + multilevel.least(planes, tuple(shape), row, about.params)
        in_memory = max(beside + bands, fixed + with_spools(bands))
        needed = beside if item.options.scratch is not None else in_memory
        if item.options.memory is not None and not budget.has_room(needed):
            raise budget.refused(needed, whole, scratch=bands, beside=beside)
        self._in_memory = item.options.scratch is None or budget.has_room(in_memory)
        free = budget.nbytes - fixed - (bands if self._in_memory else 0)
        # Staging memory, and rows on their way, take less of the host than a slab with all copies takes of the device.
        self.device = int(min(item.gpu.limits.global_bytes, max(free, beside - fixed)))
        self.at_once = max(row, min(self.device, _LEAST) // BLOCKS)

    def band(self, stack: ExitStack, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SpooledImage:
        """Returns a place for a band, which goes with the stack."""
        folder = None if self._in_memory else self._item.options.scratch
        planes, height, width = shape
        spool = new_spool(stack, folder, (planes, height, width), dtype, width)
        return SpooledImage(self._item.gpu, spool, alpha=self._about.alpha, linear=self._about.linear)

    def filled(self, stack: ExitStack, array: Any | None, shape: tuple[int, ...]) -> SpooledImage:
        """Returns the band of an array, or of rows of it, whose last plane may be left out."""
        band = self.band(stack, shape, self._about.sample)
        if array is None or not band.nbytes:
            return band
        rows = array if isinstance(array, RowsOfArray) else RowsOfArray.of(array)
        at = 0
        for block in rows.blocks(max(1, self.at_once // band.row_bytes)):
            band.spool.put_rows(*divmod(at, shape[1]), block)
            at += len(block)
            if at == shape[0] * shape[1]:
                break
        return band
