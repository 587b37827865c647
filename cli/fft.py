"""The command ``clpix fft``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpuops.params import fft as choices

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.pixels.coding import Decoding

    from .item import Item


@options.command(short_help="image → spectrum, or a picture of it")
@options.inputs
@options.output
@options.shared
@click.option(
    "--norm", type=options.Choice(choices.NORMS), default="ortho", show_default=True, help="As in scipy.fft."
)
@click.option("--half/--full", default=None, help="Half of the columns (default of data), or all of them.")
@click.option("--shift/--no-shift", default=None, help="Frequency 0 in the middle (default of pictures).")
@click.option("--window", type=options.Choice(choices.WINDOWS), default="none", show_default=True)
@click.option(
    "--pad",
    type=options.Word(),
    default="none",
    show_default=True,
    metavar="none|pow2|fast|N",
    help="Zeros to the right and below.",
)
@click.option(
    "--view", type=options.Choice(choices.VIEWS), help="A picture of the spectrum [default: log-magnitude]."
)
@click.option(
    "--filter", "kind", type=options.Choice(choices.FILTERS), help="Multiply the spectrum by a filter."
)
@click.option(
    "--cutoff",
    metavar="F|LOW:HIGH|FX,FY[,R]",
    help="Of the filter, in cycles per pixel: a frequency, a band, or a notch's place and radius.",
)
@click.option(
    "--filter-shape",
    type=options.Choice(choices.SHAPES),
    default="gaussian",
    show_default=True,
    help="Of the filter.",
)
@click.option("--order", type=int, default=2, show_default=True, help="Of a Butterworth filter.")
@click.option(
    "--method", type=options.Choice(choices.METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--radix", type=options.Choice(choices.RADICES), default="auto", show_default=True, help="The largest."
)
@click.option("--twiddle", type=options.Choice(choices.TWIDDLES), default="auto", show_default=True)
@click.option(
    "--precision",
    type=options.Choice(choices.PRECISIONS),
    default="single",
    show_default=True,
    help="Of stored numbers, between the axes too: half of 16 bits; double of 64, and computed so.",
)
def command(
    shared: options.Shared,
    norm: str,
    half: bool | None,
    shift: bool | None,
    window: str,
    pad: str,
    view: str | None,
    kind: str | None,
    cutoff: str | None,
    filter_shape: str,
    order: int,
    method: str,
    radix: str,
    twiddle: str,
    precision: str,
) -> None:
    """Fourier transform of images.

    To .exr, .npz and .tif: the spectrum as numbers, with all that `clpix ifft` needs to restore the image. To other
    formats, or with --view: a picture of the spectrum of the colours. Works on the stored values.
    """
    if (kind is None) != (cutoff is None):
        raise click.UsageError("--filter and --cutoff go together")
    if kind is None:
        options.refuse("there is no --filter", "filter_shape", "order")
    elif filter_shape != "butterworth":
        options.refuse("only --filter-shape butterworth has an order", "order")
    how = choices.FftParams(method=method, radix=radix, twiddle=twiddle)
    chosen = choices.filter_option(kind, cutoff, filter_shape, order) if kind and cutoff else None

    def params(picture: bool) -> choices.SpectrumParams:
        return choices.SpectrumParams(
            norm=norm,
            half=not picture if half is None else half,
            shift=picture if shift is None else shift,
            window=window,
            pad=pad,
            filter=chosen,
            precision=precision,
            how=how,
        )

    def check(writes_data: bool) -> None:
        if writes_data and view is None:
            options.refuse("a spectrum is stored as --precision says", "dtype")
            return
        options.refuse("a picture is scaled to its own range", "norm")
        options.refuse("a picture shows the spectra of the colours", "alpha")
        if half:
            options.refuse("a picture shows the full spectrum", "half")
        if precision == "half":
            options.refuse("a picture stores no spectrum", "precision")

    params(False)  # wrong options are reported before any device is sought

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        from gpuops.fourier import spectrum

        pixels, decoding = item.load_pixels(linear=False)
        if view is not None or not item.writes_data:
            shown = view or "log-magnitude"
            picture = item.run(spectrum.picture_of_pixels, gpu, pixels, decoding, params(True), shown)
            depth = "uint16" if item.picture and item.picture.pixels.itemsize > 1 else "uint8"
            item.save(picture, depth, display=True)
        else:
            _save(gpu, item, pixels, decoding, params(False))

    process(shared, "fft", work, check=check)


def _save(gpu: Gpu, item: Item, pixels: Image, decoding: Decoding, params: choices.SpectrumParams) -> None:
    from importlib.metadata import version

    from gpuops.errors import FileError, ParameterError
    from gpuops.fourier import record, spectrum
    from gpuops.notes import note

    assert item.picture is not None
    values = item.run(spectrum.values_of, gpu, pixels, decoding, params)
    height, width, channels = pixels.shape
    depth = item.picture.pixels.dtype.name
    about = record.Record(params, (height, width), channels, depth, decoding.alpha, item.linear)
    lost = spectrum.lost_pixels(params.window, about.size)
    if lost:
        note(
            f"{item.path}: the {params.window} window is as good as 0 at {lost} of {height * width} "
            "pixels: ifft restores the others"
        )
    exact = about.dtype == "uint8" and params.window == "none" and params.how.method != "global"
    if params.precision == "half" and not exact:
        note(
            f"{item.path}: half precision keeps about 11 bits of a value: ifft restores the image only nearly; exactly "
            "if it has 8 bits, without --window and --method global"
        )
    try:
        arrays = about.arrays(values)
    except ParameterError as error:
        raise FileError(f"{item.path}: {error}") from None
    item.save_data(arrays, about.attributes(f"clpix {version('clpix')}"))
