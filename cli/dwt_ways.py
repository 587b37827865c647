"""The work of `clpix dwt` on an image, either whole on the device or in slabs, and its results."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gpuops.pixels.coding import Decoding, Encoding, Losses, on_device
from gpuops.wavelets import bands, denoise, keep, pyramid, shrink, stored, transform
from gpuops.wavelets.parts import HostBand
from gpuops.wavelets.rows import PixelSink
from gpuops.wavelets.stored import Stored
from gpuops.wavelets.wavelets import WAVELETS

from .main import say, visible
from .naming import STREAM, printable

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.params.dwt import KeepParams, ShrinkParams

    from .item import Item


class OnDevice:
    """The work on an image as a whole."""

    def __init__(self, item: Item, gpu: Gpu, pixels: Any, decoding: Decoding, about: Stored) -> None:
        self.item = item
        self.about = about
        self._pixels = on_device(gpu, pixels)
        self._image = item.unpacked(self._pixels, decoding)

    def transform(self, shrinking: ShrinkParams | None) -> None:
        """Writes the coefficients, or a picture of them."""
        item, about = self.item, self.about
        if item.writes_data:
            del self._pixels
            pack = partial(stored.pack, overwrite_input=item.once)
            arrays = item.run(pack, self._image, about, shrinking)
            item.save_data(arrays, about.attributes(), compress=shrinking is not None)
        else:
            item.save(item.run(self._painted, shrinking), _depth(self.about), display=True)

    def denoise(self, shrinking: ShrinkParams, spins: int) -> None:
        """Writes the image of shrunk coefficients."""
        work = partial(
            denoise.denoise, self._image.gpu, self._image, self.about.params, shrinking, spins=spins
        )
        self.item.save(self.item.run(work))

    def keep(self, keeping: KeepParams, *, reconstruct: bool, as_json: bool) -> None:
        """Writes the image of the kept coefficients, and tells how many they are and how close it comes."""
        item, params = self.item, self.about.params

        def work() -> tuple[Any, keep.Kept, float]:
            approximation, details, kept = keep.keep(*stored.coefficients(self._image, params), keeping)
            result = keep.restored(approximation, details, params, self._image)
            assert item.picture is not None
            psnr = keep.psnr(self._pixels, result, linear=item.picture.linear)
            if reconstruct:
                return result, kept, psnr
            if item.writes_data:
                return stored.pack_bands(approximation, details, self.about), kept, psnr
            return pyramid.picture(approximation, details), kept, psnr

        result, kept, psnr = item.run(work)
        if item.writes_data and not reconstruct:
            item.save_data(result, self.about.attributes(), compress=True)
        else:
            item.save(result, None if reconstruct else _depth(self.about), display=not reconstruct)
        _tell(item, kept, psnr, as_json)

    def _painted(self, shrinking: ShrinkParams | None) -> Image:
        params, image = self.about.params, self._image
        if params.integer:
            image = bands.to_levels(image, stored.WHITE[self.about.dtype])
        approximation, details = stored.coefficients(image, params)
        if shrinking is not None:
            details = shrink.shrink(approximation, details, params.wavelet, shrinking)
        return pyramid.picture(approximation, details, _white(self.about))


@dataclass
class InSlabs:
    """The work on an image that does not fit the device's memory: its pixels and its bands are on the host."""

    item: Item
    gpu: Gpu
    pixels: Any
    decoding: Decoding
    about: Stored

    def transform(self, shrinking: ShrinkParams | None) -> None:
        """Writes the coefficients, or a picture of them."""
        item = self.item
        if item.writes_data:
            pack = partial(stored.pack_split, shrinking=shrinking)
            arrays = item.run(pack, self.gpu, self.pixels, self.decoding, self.about)
            item.save_data(arrays, self.about.attributes(), compress=shrinking is not None)
        else:
            self._save_picture(*item.run(self._painted, shrinking))

    def denoise(self, shrinking: ShrinkParams, spins: int) -> None:
        """Writes the image of shrunk coefficients."""
        what = self.gpu, self.pixels, self.decoding, self.about
        self._save(self.item.run(denoise.denoise_split, *what, shrinking, self._encoding(), spins))

    def keep(self, keeping: KeepParams, *, reconstruct: bool, as_json: bool) -> None:
        """Writes the image of the kept coefficients, and tells how many they are and how close it comes."""
        item, about = self.item, self.about

        def restored(found: list[HostBand], encoding: Encoding) -> PixelSink:
            arrays = {name: band.array for name, band in zip(about.names(), found, strict=True)}
            return stored.pixels_of(self.gpu, arrays, about, encoding, alpha=about.alpha)

        def work() -> tuple[list[HostBand], keep.Kept, PixelSink, float]:
            found = stored.coefficients_split(self.gpu, self.pixels, self.decoding, about)
            kept = keep.keep_on_host(found, keeping)
            ours = restored(found, depth)
            linear = item.picture is not None and item.picture.linear
            psnr = keep.psnr_split(self.gpu, self.pixels, ours.pixels, alpha=about.alpha, linear=linear)
            return found, kept, ours, psnr

        depth = keep.depth_of(self.pixels.dtype, linear=about.linear)
        found, kept, ours, psnr = item.run(work)
        if reconstruct:
            wanted = self._encoding()
            self._save(ours if wanted == depth else item.run(restored, found, wanted))
        elif item.writes_data:
            item.save_data(stored.named(found, about), about.attributes(), compress=True)
        else:
            self._save_picture(*item.run(pyramid.picture_split, found, self._encoding_of_picture()))
        _tell(item, kept, psnr, as_json)

    def _painted(self, shrinking: ShrinkParams | None) -> tuple[Any, Losses]:
        params = self.about.params
        found = stored.coefficients_split(self.gpu, self.pixels, self.decoding, self.about)
        if shrinking is not None:
            shrink.shrink_on_host(*transform.nested(found), params.wavelet, shrinking)
        return pyramid.picture_split(found, self._encoding_of_picture(), _white(self.about))

    def _encoding(self) -> Encoding:
        return self.item.encoding_of(self.about.dtype, linear=self.about.linear)

    def _encoding_of_picture(self) -> Encoding:
        return self.item.encoding_of(_depth(self.about), linear=False, display=True)

    def _save(self, sink: PixelSink) -> None:
        about = self.about
        self.item.save_host(sink.pixels, sink.losses, about.dtype, linear=about.linear, alpha=about.alpha)

    def _save_picture(self, pixels: Any, lost: Losses) -> None:
        self.item.save_host(pixels, lost, _depth(self.about), linear=False, alpha=False, display=True)


def _depth(about: Stored) -> str:
    """Returns the depth of a picture of the pyramid, whose values are shades in [0, 1] for pixels of any range."""
    return "uint8" if about.dtype == "uint8" else "uint16"


def _white(about: Stored) -> float:
    """Returns the brightest value of an approximation: of fractions 1; whole numbers grow with each level."""
    params = about.params
    if not params.integer:
        return 1.0
    return WAVELETS[params.wavelet].growth ** (params.levels or 0) * stored.WHITE[about.dtype]


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
