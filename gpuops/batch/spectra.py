"""The work of a Fourier transform: a picture → its spectrum, as numbers or as a picture of it; a spectrum → picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ..errors import FileError, ParameterError
from ..params.fft import FftParams, SpectrumParams

if TYPE_CHECKING:
    from ..image import Image
    from ..pixels.coding import Decoding
    from .item import Item


@dataclass(frozen=True)
class ToSpectrum:
    """Writes the spectrum of stored values: ``numbers`` to a format that can hold them, else a picture by ``picture``.

    ``view`` is what a picture shows; given, it asks for one in any format.
    """

    numbers: SpectrumParams
    picture: SpectrumParams
    view: str | None = None

    def __call__(self, item: Item) -> None:
        from ..fourier import spectrum

        pixels, decoding = item.load_pixels(linear=False)
        dtype = item.origin.dtype
        assert dtype is not None
        if self.view is None and item.output.writes_data:
            self._save(item, pixels, decoding, dtype.name)
            return
        shown = self.view or "log-magnitude"
        made = item.run(spectrum.picture_of_pixels, item.gpu, pixels, decoding, self.picture, shown)
        item.output.save(made, "uint16" if dtype.itemsize > 1 else "uint8", display=True)

    def _save(self, item: Item, pixels: Image, decoding: Decoding, depth: str) -> None:
        from importlib.metadata import version

        from ..fourier import record, spectrum

        params = self.numbers
        values = item.run(spectrum.values_of, item.gpu, pixels, decoding, params)
        height, width, channels = pixels.shape
        about = record.Record(params, (height, width), channels, depth, decoding.alpha, item.origin.linear)
        lost = spectrum.lost_pixels(params.window, about.size)
        if lost:
            item.note(
                f"the {params.window} window is as good as 0 at {lost} of {height * width} "
                "pixels: ifft restores the others"
            )
        exact = depth == "uint8" and params.window == "none" and params.how.method != "global"
        if params.precision == "half" and not exact:
            item.note(
                "half precision keeps about 11 bits of a value: ifft restores the image only nearly; exactly "
                "if it has 8 bits, without --window and --method global"
            )
        try:
            arrays = about.arrays(values)
        except ParameterError as error:
            raise FileError(f"{item.path}: {error}") from None
        item.output.save_data(arrays, about.attributes(f"clpix {version('clpix')}"))


@dataclass(frozen=True)
class OfSpectrum:
    """Writes the picture of a spectrum file, in the depth of the original."""

    how: FftParams
    reads_numbers: ClassVar[bool] = True

    def __call__(self, item: Item) -> None:
        from ..fourier import record, spectrum
        from ..pixels.coding import losses

        about, values = record.parse(item.path, *item.load_data())
        params = replace(about.params, how=self.how)
        if params.precision == "half" and self.how.method == "global":
            item.note(
                "--method global rounds to half precision after every stage: the image comes back only "
                "nearly, even one of 8 bits"
            )
        alpha = about.alpha and item.options.alpha
        if alpha != about.alpha:
            values = values[:-1]
        encoding = item.output.encoding_of(about.dtype, linear=about.linear)
        pixels, lost = item.run(
            spectrum.pixels_of, item.gpu, values, about.size, about.transform, params, encoding, alpha
        )
        item.output.save_host(pixels.numpy(), losses(lost), about.dtype, linear=about.linear, alpha=alpha)
