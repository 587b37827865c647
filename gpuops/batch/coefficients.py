"""The work of a wavelet transform: a picture → coefficients, a picture of them, or a changed picture; and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import FileError
from ..files import RowsOfArray
from ..files.strips import Strips
from ..params.dwt import IN_PLACE, DwtParams, KeepParams, ShrinkParams
from ..pixels.coding import Encoding
from ..tiles.ends import Anywhere, DeviceImage
from ..tiles.pixels import PixelSink, PixelSource
from ..wavelets import keep, multilevel, pyramid, shrink, stored, transform
from ..wavelets.stored import StoredBands
from ..wavelets.wavelets import WAVELETS
from .coefficients_by_rows import write_bands, write_image
from .item import Item
from .whole import shape_of


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
        found = item.opened()
        picture = found.picture if isinstance(found, Strips) else found
        how = item.how(picture, linear=False, premultiply=False)
        decoding, (planes, height, width) = how.decoding, shape_of(picture, how)
        dtype = picture.pixels.dtype if how.colour is None else np.dtype(np.float32)
        if self.params.integer and dtype.kind != "u":
            raise FileError(f"{item.path}: --integer needs 8- or 16-bit pixels, not {dtype}")
        params, origin = self._with_levels(item, (height, width)), item.origin
        assert origin.dtype is not None
        about = StoredBands(params, (planes, height, width), origin.dtype.name, decoding.alpha, origin.linear)
        plain = item.output.writes_data and not (self.reconstruct or self.shrinking or self.keeping)
        nbytes = picture.pixels.nbytes
        whole = max(item.budget.whole(nbytes), stored.host_bytes(about, nbytes))
        if plain and not (found is picture and item.budget.has_room(whole)):
            strips = found if isinstance(found, Strips) else item.by_rows() or Strips.of(found)
            del found, picture  # what comes by rows need not stay in memory
            write_bands(item, strips, how, about, whole)
            return None
        picture, how = item.read(found, linear=False, premultiply=False, what=self._asks)
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

    def _with_levels(self, item: Item, shape: tuple[int, int]) -> DwtParams:
        params = self.params
        if params.levels is not None:
            transform.warn_of_levels(shape, params)
            return params
        levels = transform.default_levels(shape, params)
        if levels == 0 and self.shrinking is not None:
            item.note(f"{shape[0]}×{shape[1]} pixels are too few for a level that could be shrunk")
        return replace(params, levels=levels)


@dataclass(frozen=True)
class OfCoefficients:
    """Writes the picture of a coefficient file, in the depth of the original."""

    reads_numbers: ClassVar[bool] = True

    def __call__(self, item: Item) -> None:
        arrays, attributes = item.load_data(by_rows=True)
        try:
            about = stored.unpack(arrays, attributes)
        except FileError as error:
            raise FileError(f"{item.path}: {error}") from None
        about = about if item.options.alpha else about.without_alpha()
        if any(isinstance(array, RowsOfArray) for array in arrays.values()):
            write_image(item, arrays, about)
            return
        work = _Work(item, None, about)
        work.save(item.run(lambda: work.restored(stored.found_in(item.gpu, arrays, work.about))))


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
        item.output.save_data(arrays, about.attributes(), compress=shrinking is not None)

    def keep(self, keeping: KeepParams, pixels: Any, is_light: bool, *, reconstruct: bool) -> Approximation:
        """Writes what is kept of the image of ``pixels``, which are light or not."""
        item, about = self.item, self.about
        depth = keep.depth_of(pixels.dtype, linear=about.linear)

        def work() -> tuple[list[Anywhere], keep.Kept, PixelSink, float]:
            found, kept = keep.keep(stored.coefficients(self._original, about.params), keeping)
            ours = self.restored(found, depth)
            psnr = keep.psnr(item.gpu, pixels, ours.pixels, alpha=about.alpha, linear=is_light)
            return found, kept, ours, psnr

        found, kept, ours, psnr = item.run(work)
        if reconstruct:
            wanted = self._encoding
            self.save(ours if wanted == depth else item.run(self.restored, found, wanted))
        elif item.output.writes_data:
            item.output.save_data(stored.named(found, about), about.attributes(), compress=True)
        else:
            self._save_picture(item.run(self._painted, found))
        return Approximation(kept, psnr)

    @property
    def _original(self) -> DeviceImage | PixelSource:
        assert self.source is not None
        return self.source

    def _shrunk(self, shrinking: ShrinkParams | None) -> list[Anywhere]:
        params = self.about.params
        found = stored.coefficients(self._original, params)
        if shrinking is None:
            return found
        approximation, details = transform.nested(found)
        return transform.flat(approximation, shrink.shrink(approximation, details, params.wavelet, shrinking))

    def restored(self, found: Sequence[Anywhere], encoding: Encoding | None = None) -> PixelSink:
        """Returns the pixels that coefficients give, in the output's encoding or another one."""
        sink = stored.sink_of(self.about, encoding or self._encoding)
        multilevel.recompose(found, self.about.params, sink)
        return sink

    def _painted(self, found: Sequence[Anywhere]) -> PixelSink:
        encoding = self.item.output.encoding_of(self._depth, linear=False, display=True)
        sink = PixelSink(pyramid.size(found), encoding)
        pyramid.paint(found, sink, self._white)
        return sink

    @property
    def _encoding(self) -> Encoding:
        return self.item.output.encoding_of(self.about.dtype, linear=self.about.linear)

    def save(self, sink: PixelSink) -> None:
        """Writes an image's pixels."""
        about, item = self.about, self.item
        output = replace(
            item.output, keeps_range=True
        )  # but for the overshoot of what coefficients have lost
        output.save_host(*sink.result, about.dtype, linear=about.linear, alpha=about.alpha)

    def _save_picture(self, sink: PixelSink) -> None:
        self.item.output.save_host(*sink.result, self._depth, linear=False, alpha=False, display=True)

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
