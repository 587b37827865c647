"""The work of a Fourier transform: a picture → its spectrum, as numbers or as a picture of it; a spectrum → picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import FileError, ParameterError
from ..params.fft import FftParams, SpectrumParams
from ..records import dataclass

if TYPE_CHECKING:
    from .. import files
    from ..fourier.peaks import Peak
    from ..fourier.radial import RadialProfile
    from ..fourier.record import SpectrumRecord
    from ..image import Image
    from .item import FileReading, Item


@dataclass(frozen=True)
class Findings:
    """The periodic components that were found, and the radial profile; None of what was not asked for."""

    peaks: list[Peak] | None = None
    profile: RadialProfile | None = None


@dataclass(frozen=True)
class ToSpectrum:
    """Writes the spectrum of stored values: with the parameters ``numbers`` as numbers, with ``picture`` as a picture.

    A format of numbers gets numbers, unless a ``view``, the kind of picture, is named. A view that is stored as floats
    has its own numbers, and a picture shades of them. ``peaks``: how many periodic components are found, and ringed in
    a picture; ``axes``: whether a picture has axes; ``profile``: whether the radial profile is made.
    """

    numbers: SpectrumParams
    picture: SpectrumParams
    view: str | None = None
    peaks: int = 0
    axes: bool = False
    profile: bool = False

    def __call__(self, item: Item) -> Findings:
        from .. import files
        from ..fourier import spectrum

        strips = item.opened()
        asks = self._asks
        picture = strips.picture if asks is None else item.whole(strips, asks)
        how = item.how(picture, linear=False, premultiply=False)
        data = self.view is None and item.output.writes_data
        depth, shown = self._depth(item, picture), self.view or "log-magnitude"
        params = self.numbers if data else spectrum.of_picture(self.picture)
        whole = self._whole_bytes(item, picture, how, params, data=data)
        if asks or (strips.in_memory and whole is not None and item.budget.has_room(whole)):
            pixels = item.on_device(picture.pixels, how)
            header = replace(picture, pixels=files.unread(picture.pixels.shape, picture.pixels.dtype))
            del strips, picture  # pixels on the device need not stay on the host
            findings = self._findings(item, pixels, how)
            if data:
                self._save(item, pixels, header, how)
            else:
                made = item.run(self._drawn, item, pixels, how, shown, depth, findings.peaks)
                item.output.write(item.output.encoded(made, depth, display=depth[0] != "f"))
            return findings
        from . import spectra_by_rows

        strips.tell()
        planes = picture.channels - (how.drops_alpha if data else picture.alpha)
        rows, sweeps = spectra_by_rows.sweeps_over(item, strips, how, params, planes, whole)
        del strips, picture
        if data:
            about = self._about(item, rows.picture, how)
            spectra_by_rows.write_numbers(rows, how, sweeps, about, _program())
        else:
            spectra_by_rows.write_picture(rows, how, sweeps, self.picture, shown, depth)
        return Findings()

    @property
    def _asks(self) -> str | None:
        """The option that needs the whole picture, for messages."""
        options = {"peaks": self.peaks, "axes": self.axes, "profile": self.profile}
        return next((f"fft --{name}" for name, is_given in options.items() if is_given), None)

    def _findings(self, item: Item, pixels: Image, how: FileReading) -> Findings:
        """Finds periodic components and the profile, if they are asked for."""
        told = None
        if self.peaks:
            from ..fourier import peaks
            from ..pixels.coding import unpack

            told = item.run(lambda: peaks.peaks(item.gpu, unpack(pixels, how.decoding), self.peaks))
            if item.gpu.report is not None:
                peaks_found = [peak.written() for peak in told]
                item.gpu.report.results.append({"input": item.path, "peaks": peaks_found})
        return Findings(told, self._profile(item, pixels, how))

    def _drawn(
        self, item: Item, pixels: Image, how: FileReading, view: str, depth: str, told: list[Peak] | None
    ) -> Image:
        """Returns the picture of the spectrum, with axes and rings around the components that were found."""
        from ..fourier import spectrum

        shaded = depth[0] != "f"
        made = spectrum.picture_of_pixels(item.gpu, pixels, how.decoding, self.picture, view, shaded=shaded)
        if not shaded or not (told or self.axes):
            return made
        from ..fourier.peaks import annotated

        _, rows, columns = made.shape
        middle = (rows // 2, columns // 2) if self.picture.shift else (0, 0)
        result = item.gpu.array(annotated(made.numpy(), middle, told or [], axes=self.axes))
        result.space = made.space
        return result

    def _depth(self, item: Item, picture: files.Picture) -> str:
        """The depth of a picture of the spectrum unless the options say another; that of numbers is ``float32``."""
        shade = "uint16" if picture.depth.itemsize > 1 else "uint8"
        return "float32" if item.options.depth_of(item.output.path, shade)[0] == "f" else shade

    def _profile(self, item: Item, pixels: Image, how: FileReading) -> RadialProfile | None:
        """The radial profile of the view that is named, else of the power."""
        if not self.profile:
            return None
        from ..fourier import radial, spectrum

        view = self.view or "power"
        half = item.run(
            spectrum.half_view_of_pixels, item.gpu, pixels, how.decoding, self.picture, view
        ).numpy()
        columns = spectrum.padded((1, pixels.shape[1]), self.picture.pad)[1]
        return radial.radial_profile(half, columns, view)

    @staticmethod
    def _whole_bytes(
        item: Item, picture: files.Picture, how: FileReading, params: SpectrumParams, *, data: bool
    ) -> float | None:
        """Returns the bytes of memory that the transform takes as a whole; None if the device has no room for it."""
        from ..fourier import axes

        nbytes = picture.pixels.nbytes
        shape = picture.height, picture.width, picture.channels - how.drops_alpha
        size = axes.padded(shape, params)
        made = shape[2] * size[0] * axes.width(size, params) * axes.stored(params).itemsize
        if not axes.fits(item.gpu, shape, nbytes, params):
            return None
        return max(item.budget.whole(nbytes), nbytes + made if data else 0)

    def _save(self, item: Item, pixels: Image, header: files.Picture, how: FileReading) -> None:
        from ..fourier import spectrum
        from . import number_files

        about = self._about(item, header, how)
        values = item.run(spectrum.values_of, item.gpu, pixels, how.decoding, about.params)
        try:
            arrays = about.arrays(values)
        except ParameterError as error:
            raise FileError(f"{item.path}: {error}") from None
        number_files.save(item.output, arrays, about.attributes(_program()))

    def _about(self, item: Item, picture: files.Picture, how: FileReading) -> SpectrumRecord:
        """Returns the description of the spectrum for its file, and notes what ifft will not restore."""
        from ..fourier import record, spectrum

        params, depth = self.numbers, picture.depth.name
        channels = picture.channels - how.drops_alpha
        size = picture.height, picture.width
        about = record.SpectrumRecord(params, size, channels, depth, how.decoding.alpha, item.origin.linear)
        lost = spectrum.lost_pixels(params.window, size)
        if lost:
            item.note(
                f"the {params.window} window is as good as 0 at {lost} of {size[0] * size[1]} "
                "pixels: ifft restores the others"
            )
        exact = depth == "uint8" and params.window == "none" and params.how.method != "global"
        if params.precision == "half" and not exact:
            item.note(
                "half precision keeps about 11 bits of a value: ifft restores the image only nearly; exactly "
                "if it has 8 bits, without --window and --method global"
            )
        return about


def _program() -> str:
    from importlib.metadata import version

    return f"clpix {version('clpix')}"


@dataclass(frozen=True)
class OfSpectrum:
    """Writes the picture of a spectrum file, in the depth of the original."""

    how: FftParams
    reads_numbers: ClassVar[bool] = True

    def __call__(self, item: Item) -> None:
        from .. import files
        from ..fourier import record, spectrum
        from ..pixels.coding import losses

        arrays, attributes = item.load_data()
        about = record.described(item.path, arrays, attributes)
        params = replace(about.params, how=self.how)
        if params.precision == "half" and self.how.method == "global":
            item.note(
                "--method global rounds to half precision after every stage: the image comes back only "
                "nearly, even one of 8 bits"
            )
        alpha = about.alpha and item.options.alpha
        rows = {name: array for name, array in arrays.items() if isinstance(array, files.RowsOfArray)}
        whole = self._whole_bytes(item, about, params, arrays)
        if rows or whole is None or not item.budget.has_room(whole):
            from .spectra_by_rows import write_image

            held = 0 if rows else sum(array.nbytes for array in arrays.values())
            rows = rows or {name: files.RowsOfArray.of(array) for name, array in arrays.items()}
            write_image(item, rows, about, params, alpha=alpha, held=held, whole=whole)
            return
        about, values = record.parse(item.path, arrays, attributes)
        if alpha != about.alpha:
            values = values[:-1]
        encoding = item.output.encoding_of(about.dtype, linear=about.linear)
        pixels, lost = item.run(
            spectrum.pixels_of, item.gpu, values, about.size, about.transform, params, encoding, alpha
        )
        item.output.write(
            item.output.of_pixels(pixels.numpy(), losses(lost), about.dtype, linear=about.linear, alpha=alpha)
        )

    @staticmethod
    def _whole_bytes(
        item: Item, about: SpectrumRecord, params: SpectrumParams, arrays: Mapping[str, Any]
    ) -> float | None:
        """Returns the bytes of memory that the transform takes as a whole; None if the device has no room for it."""
        import numpy as np

        from ..fourier import axes

        shape = *about.size, about.planes
        pixels = (
            np.prod(shape, dtype=int)
            * item.output.encoding_of(about.dtype, linear=about.linear).dtype.itemsize
        )
        sizes = [array.nbytes for array in arrays.values()]
        if not axes.fits(item.gpu, shape, int(pixels), params, inverse=True):
            return None
        return float(max(item.budget.arrays(sizes), sum(sizes) + int(pixels)))
