"""The command ``clpix fft``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpuops.ops.filter import FilterParams
from gpuops.params import fft as choices
from gpuops.params.files import STREAM, FileOperand

from . import derived, options, types
from .shared import STORAGE, Shared

if TYPE_CHECKING:
    from gpuops.batch.job import Job
    from gpuops.batch.spectra import Findings
    from gpuops.fourier.peaks import Peak


# The options of a spectrum that its parameters declare.
_NORM, _WINDOW, _PAD, _PRECISION = map(derived.click_option, choices.SpectrumParams.options())


def ways(command: options.Command) -> options.Command:
    """Adds the options that say by which kernels a transform is computed, as one ``how`` argument."""
    own = map(derived.click_option, choices.FftParams.options())
    return options.collected("how", choices.FftParams, *own)(command)


def _filter(command: options.Command) -> options.Command:
    """Adds the options of the operation filter that say by what a spectrum is multiplied."""
    names = {"kind": "filter", "cutoff": "cutoff", "shape": "filter_shape", "order": "order", "mask": "mask"}
    own = (option for option in FilterParams.options() if option.name in names)
    renamed = (option._replace(name=names[option.name]) for option in own)
    found: options.Command = options.added(command, *map(derived.click_option, renamed))
    return found


@options.command(
    examples=(
        "clpix fft photo.png -o spectrum.png",
        "clpix fft photo.png -o spectrum.npz",
        "clpix fft texture.png -o low.exr --filter lowpass --cutoff 0.1",
    ),
    groups={
        "Spectrum": ("view", "profile", "half", "shift", "norm", "window", "pad", "precision"),
        "Filter": ("filter", "cutoff", "filter_shape", "order", "mask"),
        "Peaks": ("peaks", "axes"),
        "Kernels": ("method", "radix", "twiddle"),
    },
)
@options.inputs
@options.output
@options.shared
@options.batch
@_NORM
@click.option(
    "--half/--full", default=None, help="Keep half of the columns (default for data), or all of them."
)
@click.option(
    "--shift/--no-shift", default=None, help="Put frequency 0 in the middle (default for pictures)."
)
@_WINDOW
@_PAD
@click.option(
    "--view",
    type=types.ChoiceType(choices.VIEWS),
    help="Make this picture of the spectrum, or write these numbers as floats [default: log-magnitude].",
)
@click.option(
    "--profile",
    cls=types.OutputOption,
    metavar="FILE.csv",
    help="Write the mean of the view (default: power) over all directions, for each radius.",
)
@click.option(
    "--peaks",
    type=click.IntRange(1, 100),
    metavar="N",
    help="List the N strongest periodic components, and draw rings around them in a picture.",
)
@click.option("--axes", is_flag=True, help="Draw axes in a picture, in cycles per pixel.")
@_filter
@ways
@_PRECISION
def command(
    shared: Shared,
    norm: str,
    half: bool | None,
    shift: bool | None,
    window: str,
    pad: str,
    view: str | None,
    profile: str | None,
    peaks: int | None,
    axes: bool,
    filter: str | None,
    cutoff: tuple[str, ...],
    filter_shape: str,
    mask: str | None,
    order: int,
    how: choices.FftParams,
    precision: str,
) -> None:
    """Make the Fourier transform of images.

    Outputs .exr, .npz and .tif hold the spectrum as numbers, with all that `clpix ifft` needs to restore the image.
    Other formats, and --view, give a picture of the spectrum. The transform works on the stored values.
    """
    if (filter is None) != (not cutoff):
        raise click.UsageError("--filter and --cutoff go together")
    if filter is None:
        options.refuse("there is no --filter", "filter_shape", "order")
    elif filter_shape != "butterworth":
        options.refuse("only --filter-shape butterworth has an order", "order")
    chosen = choices.filter_option(filter, cutoff, filter_shape, order) if filter else None

    def params(picture: bool) -> choices.SpectrumParams:
        return choices.SpectrumParams(
            norm=norm,
            half=not picture if half is None else half,
            shift=picture if shift is None else shift,
            window=window,
            pad=pad,
            filter=chosen,
            mask=None if mask is None else FileOperand.of(mask),
            precision="single" if picture and precision == "half" else precision,
            how=how,
        )

    def check(job: Job) -> None:
        if job.options.writes_data(job.target) and view is None:
            options.refuse("a spectrum is of stored values", "colour")
            options.refuse("a spectrum is stored as it is", *STORAGE)
            options.refuse("a spectrum is stored as --precision says", "dtype")
            options.refuse("numbers have no axes: give a picture's name, or --view", "axes")
            return
        options.refuse("a gain map needs light, and a spectrum is none", "gain_map")
        if job.options.depth_of(job.target, "uint8").startswith("float"):
            options.refuse("numbers have no colour space", "colour")
            options.refuse("numbers have no axes: give a picture's name, or leave out --dtype", "axes")
        elif profile is None:
            options.refuse("a picture is scaled to its own range", "norm")
        options.refuse("a picture shows the spectra of the colours", "alpha")
        if half:
            options.refuse("a picture shows the full spectrum", "half")
        if precision == "half":
            options.refuse("a picture stores no spectrum", "precision")

    options.refuse("the spectrum is of stored values", "working")
    if profile is not None:
        options.refuse(
            "a profile has all inputs, also those of outputs that stay", "skip_existing", "update", "resume"
        )
    numbers = params(False)  # wrong options are reported before any device is sought

    from gpuops.batch.access import Access
    from gpuops.batch.spectra import ToSpectrum

    from . import profiles
    from .pipeline import process

    also_read = () if mask is None else (mask,)
    for path in also_read:
        Access(path, shared.of_job()).check_second("mask")
    work = ToSpectrum(numbers, params(True), view, peaks or 0, axes, profile is not None)
    with profiles.written(profile, overwrite=shared.overwrite) as keep:

        def tell(job: Job, found: Findings) -> None:
            _tell(job, found.peaks, "encoded" if shared.space == "auto" else shared.space)
            if found.profile is not None:
                keep(job.source, found.profile)

        process(shared, "fft", work, check=check, also_read=also_read, tell=tell)


def _tell(job: Job, told: list[Peak] | None, space: str) -> None:
    """Prints the periodic components that were found in the values of a space, if any were asked for."""
    from shlex import join

    from gpuops.bench.report_formats import columns
    from gpuops.errors import visible
    from gpuops.files.streams import printable

    from .messages import say, show

    if told is None:
        return
    tell = say if job.target == STREAM else show
    count = f"{len(told)} periodic component{'' if len(told) == 1 else 's'}"
    tell(visible(f"{printable(job.source)}: {count}"))
    rows = [
        (
            str(number),
            ",".join(f"{round(cycles, 2) + 0.0:.2f}" for cycles in peak.cycles),
            f"{peak.period:.3f}",
            f"{peak.angle:.1f}",
            f"{peak.amplitude:.5f}",
            peak.cutoff,
        )
        for number, peak in enumerate(told, 1)
    ]
    header = ("", "cycles/picture", "period px", "angle °", "amplitude", "--cutoff")
    if not told:
        return
    for line in columns(header, rows):
        tell(line)
    cutoffs = [word for peak in told[: choices.MOST_NOTCHES] for word in ("--cutoff", peak.cutoff)]
    command = join(
        ["clpix", "filter", job.source, "-o", "OUTPUT", "--kind", "notch", *cutoffs, "--space", space]
    )
    tell(visible(f"without them: {command}"))
