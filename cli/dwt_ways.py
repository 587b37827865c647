"""The work of `clpix dwt` on an image, on the device as a whole or in slabs, and its results."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gpuops.params.dwt import IN_PLACE
from gpuops.pixels.coding import Encoding
from gpuops.tiles.ends import Anywhere, DeviceImage
from gpuops.tiles.pixels import PixelSink
from gpuops.wavelets import denoise, keep, multilevel, pyramid, shrink, stored, transform
from gpuops.wavelets.stored import Stored
from gpuops.wavelets.wavelets import WAVELETS

from .main import say, visible
from .naming import STREAM, printable

if TYPE_CHECKING:
    from gpuops.params.dwt import KeepParams, ShrinkParams

    from .item import Item


@dataclass
class Work:
    """The work on the image of a source, of which ``about`` tells."""

    item: Item
    source: denoise.Original
    about: Stored

    def transform(self, shrinking: ShrinkParams | None) -> None:
        """Writes the coefficients, or a picture of them."""
        item, source, about = self.item, self.source, self.about
        if not item.writes_data:
            self._save_picture(item.run(lambda: self._painted(self._shrunk(shrinking))))
            return
        in_place = about.params.method in IN_PLACE and item.once and shrinking is None
        if in_place and isinstance(source, DeviceImage):
            arrays = item.run(stored.overwritten, source.image, about)
        else:
            arrays = item.run(lambda: stored.named(self._shrunk(shrinking), about))
        item.save_data(arrays, about.attributes(), compress=shrinking is not None)

    def denoise(self, shrinking: ShrinkParams, spins: int) -> None:
        """Writes the image of shrunk coefficients."""

        def clean() -> PixelSink:
            sink = stored.sink_of(self.about, self._encoding)
            denoise.denoised(self.source, sink, self.about.params, shrinking, spins)
            return sink

        self._save(self.item.run(clean))

    def keep(self, keeping: KeepParams, pixels: Any, *, reconstruct: bool, as_json: bool) -> None:
        """Writes what is kept of the image of ``pixels``, and tells how many coefficients that is and how near they
        come."""
        item, about = self.item, self.about
        depth = keep.depth_of(pixels.dtype, linear=about.linear)

        def work() -> tuple[list[Anywhere], keep.Kept, PixelSink, float]:
            found, kept = keep.keep(stored.coefficients(self.source, about.params), keeping)
            ours = self._restored(found, depth)
            linear = item.picture is not None and item.picture.linear
            psnr = keep.psnr(item.gpu, pixels, ours.pixels, alpha=about.alpha, linear=linear)
            return found, kept, ours, psnr

        found, kept, ours, psnr = item.run(work)
        if reconstruct:
            wanted = self._encoding
            self._save(ours if wanted == depth else item.run(self._restored, found, wanted))
        elif item.writes_data:
            item.save_data(stored.named(found, about), about.attributes(), compress=True)
        else:
            self._save_picture(item.run(self._painted, found))
        _tell(item, kept, psnr, as_json)

    def _shrunk(self, shrinking: ShrinkParams | None) -> list[Anywhere]:
        params = self.about.params
        found = stored.coefficients(self.source, params)
        if shrinking is None:
            return found
        approximation, details = transform.nested(found)
        return transform.flat(approximation, shrink.shrink(approximation, details, params.wavelet, shrinking))

    def _restored(self, found: Sequence[Anywhere], encoding: Encoding) -> PixelSink:
        sink = stored.sink_of(self.about, encoding)
        multilevel.recompose(found, self.about.params, sink)
        return sink

    def _painted(self, found: Sequence[Anywhere]) -> PixelSink:
        encoding = self.item.encoding_of(self._depth, linear=False, display=True)
        sink = PixelSink(pyramid.size(found), encoding)
        pyramid.paint(found, sink, self._white)
        return sink

    @property
    def _encoding(self) -> Encoding:
        return self.item.encoding_of(self.about.dtype, linear=self.about.linear)

    def _save(self, sink: PixelSink) -> None:
        about = self.about
        self.item.save_host(*sink.result, about.dtype, linear=about.linear, alpha=about.alpha)

    def _save_picture(self, sink: PixelSink) -> None:
        self.item.save_host(*sink.result, self._depth, linear=False, alpha=False, display=True)

    @property
    def _depth(self) -> str:
        """The depth of a picture of the pyramid, whose values are shades in [0, 1] for pixels of any range."""
        return "uint8" if self.about.dtype == "uint8" else "uint16"

    @property
    def _white(self) -> float:
        """The brightest approximation, as in the image before any level: of whole numbers they grow."""
        params = self.about.params
        if not params.integer:
            return 1.0
        return WAVELETS[params.wavelet].growth ** (params.levels or 0) * stored.WHITE[self.about.dtype]


def _tell(item: Item, kept: keep.Kept, psnr: float, as_json: bool) -> None:
    share = 100 * kept.kept / kept.coefficients
    if as_json:
        figures = {
            "input": printable(item.path),
            "output": printable(item.output),
            "kept": kept.kept,
            "coefficients": kept.coefficients,
            "threshold": kept.threshold,
            "psnr": psnr if math.isfinite(psnr) else str(psnr),
        }
        click.echo(json.dumps(figures, ensure_ascii=False))
    else:
        name = "stdout" if item.output == STREAM else printable(item.output)
        line = f"{name}: {kept.kept} of {kept.coefficients} coefficients kept ({share:.3g} %), PSNR {psnr:.2f} dB"
        (say if item.output == STREAM else click.echo)(visible(line))
