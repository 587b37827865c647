"""The commands ``clpix fft`` and ``clpix ifft``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from gpuops.ops.filter import FilterParams
from gpuops.params import fft as choices
from gpuops.params.files import FileOperand
from gpuops.records import dataclass

from . import derived, options
from .shared import STORAGE, Shared, file_option, flag, option

if TYPE_CHECKING:
    from gpuops.batch.job import Job
    from gpuops.batch.spectra import Findings
    from gpuops.fourier.peaks import Peak
    from gpuops.fourier.radial import RadialProfile


@dataclass(frozen=True)
class Spectrum:
    """The options of a spectrum that its parameters do not declare, of pictures of it, and of what is found in it."""

    half: bool | None = option(
        "Keep half of the columns (default for data), or all of them.", None, "--half/--full"
    )
    shift: bool | None = option(
        "Put frequency 0 in the middle (default for pictures).", None, "--shift/--no-shift"
    )
    view: str | None = option(
        "Make this picture of the spectrum, or write these numbers as floats [default: log-magnitude].",
        type=choices.VIEWS,
    )
    profile: str | None = file_option(
        "Write the mean of the view (default: power) over all directions, for each radius.", "FILE.csv"
    )
    peaks: int | None = option(
        "List the N strongest periodic components, and draw rings around them in a picture.",
        "N",
        type=click.IntRange(1, 100),
    )
    axes: bool = flag("Draw axes in a picture, in cycles per pixel.")


# The options of a spectrum, and of the kernels that compute it, by the names of parameters.
_OF_SPECTRUM = {name: name for name in ("norm", "window", "pad", "precision")}
_OF_KERNELS = {name: name for name in ("method", "radix", "twiddle")}
# The options of the operation filter that say by what a spectrum is multiplied, and what they are called here.
_OF_FILTER = {"kind": "filter", "cutoff": "cutoff", "shape": "filter_shape", "order": "order", "mask": "mask"}


# The columns of a file of profiles.
_PROFILE = ("input", "colour", "radius", "frequency", "samples", "mean")


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
@options.pictures
@derived.collected("by", FilterParams, _OF_FILTER)
@derived.collected("stored", choices.SpectrumParams, _OF_SPECTRUM)
@options.collected("given", Spectrum)
@derived.collected("how", choices.FftParams, _OF_KERNELS)
def command(
    shared: Shared, given: Spectrum, stored: SimpleNamespace, how: SimpleNamespace, by: SimpleNamespace
) -> None:
    """Make the Fourier transform of images.

    Outputs .exr, .npz and .tif hold the spectrum as numbers, with all that `clpix ifft` needs to restore the image.
    Other formats, and --view, give a picture of the spectrum. The transform works on the stored values.
    """
    if (by.filter is None) != (not by.cutoff):
        raise click.UsageError("--filter and --cutoff go together")
    if by.filter is None:
        options.refuse("there is no --filter", "filter_shape", "order")
    elif by.filter_shape != "butterworth":
        options.refuse("only --filter-shape butterworth has an order", "order")
    words = (by.filter, by.cutoff, by.filter_shape, by.order)
    chosen = choices.filter_option(*words) if by.filter else None
    mask = None if by.mask is None else FileOperand.of(by.mask)
    # Wrong options are reported before any device is sought.
    numbers = choices.SpectrumParams(
        **vars(stored), half=given.half is not False, shift=given.shift is True, filter=chosen, mask=mask,
        how=choices.FftParams(**vars(how)),
    )  # fmt: skip

    def check(job: Job) -> None:
        if job.options.writes_data(job.target) and given.view is None:
            options.refuse("a spectrum is of stored values", "colour")
            options.refuse("a spectrum is stored as it is", *STORAGE)
            options.refuse("a spectrum is stored as --precision says", "dtype")
            options.refuse("numbers have no axes: give a picture's name, or --view", "axes")
            return
        options.refuse("a gain map needs light, and a spectrum is none", "gain_map")
        if job.options.depth_of(job.target, "uint8").startswith("float"):
            options.refuse("numbers have no colour space", "colour")
            options.refuse("numbers have no axes: give a picture's name, or leave out --dtype", "axes")
        elif given.profile is None:
            options.refuse("a picture is scaled to its own range", "norm")
        options.refuse("a picture shows the spectra of the colours", "alpha")
        if given.half:
            options.refuse("a picture shows the full spectrum", "half")
        if stored.precision == "half":
            options.refuse("a picture stores no spectrum", "precision")

    options.refuse("the spectrum is of stored values", "working")
    if given.profile is not None:
        options.refuse(
            "a profile has all inputs, also those of outputs that stay", "skip_existing", "update", "resume"
        )

    from gpuops.batch.access import Access
    from gpuops.batch.spectra import ToSpectrum

    from .pipeline import process

    also_read = () if by.mask is None else (by.mask,)
    for path in also_read:
        Access(path, shared.of_job()).check_second("mask")
    profiled = given.profile is not None
    precision = "single" if numbers.precision == "half" else numbers.precision
    shown = replace(numbers, half=given.half is True, shift=given.shift is not False, precision=precision)
    work = ToSpectrum(numbers, shown, given.view, given.peaks or 0, given.axes, profiled)
    if given.profile is not None:
        _check_profile(given.profile, overwrite=shared.overwrite)
    profiles: list[tuple[str, RadialProfile]] = []

    def tell(job: Job, findings: Findings) -> None:
        _tell(job, findings.peaks, "encoded" if shared.space == "auto" else shared.space)
        if findings.profile is not None:
            profiles.append((job.source, findings.profile))

    try:
        process(shared, "fft", work, check=check, also_read=also_read, tell=tell)
    finally:  # also when some inputs failed
        if given.profile is not None and profiles:
            _write_profile(given.profile, profiles, overwrite=shared.overwrite)


def _check_profile(path: str, *, overwrite: bool) -> None:
    """Refuses a file that cannot be written."""
    from gpuops.files.output import check_place

    if not path.lower().endswith(".csv"):
        raise click.UsageError(f"--profile writes a .csv file, not {path!r}")
    check_place(path, overwrite=overwrite)


def _write_profile(path: str, profiles: Iterable[tuple[str, RadialProfile]], *, overwrite: bool) -> None:
    """Writes the profile of each input."""
    import csv
    from io import StringIO

    from gpuops.files.output import write_text

    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_PROFILE)
    for source, profile in profiles:
        for colour, radius, frequency, samples, mean in profile.rows():
            rows.writerow((source, colour, radius, f"{frequency:.9g}", samples, f"{mean:.9g}"))
    write_text(path, text.getvalue(), overwrite=overwrite)


def _tell(job: Job, told: list[Peak] | None, space: str) -> None:
    """Prints the periodic components that were found in the values of a space, if any were asked for."""
    from shlex import join

    from gpuops.bench.report_formats import cells
    from gpuops.files.streams import printable

    from .messages import result

    if told is None:
        return
    count = f"{len(told)} periodic component{'' if len(told) == 1 else 's'}"
    result(f"{printable(job.source)}: {count}", job.target)
    if not told:
        return
    columns: dict[str, Callable[[Peak], str]] = {
        "": lambda peak: str(told.index(peak) + 1),
        "cycles/picture": lambda peak: ",".join(f"{round(n, 2) + 0.0:.2f}" for n in peak.cycles),
        "period px": lambda peak: f"{peak.period:.3f}",
        "angle °": lambda peak: f"{peak.angle:.1f}",
        "amplitude": lambda peak: f"{peak.amplitude:.5f}",
        "--cutoff": lambda peak: peak.cutoff,
    }
    for line in cells(columns, told):
        result(line, job.target)
    cutoffs = [word for peak in told[: choices.MOST_NOTCHES] for word in ("--cutoff", peak.cutoff)]
    command = ["clpix", "filter", job.source, "-o", "OUTPUT", "--kind", "notch", *cutoffs, "--space", space]
    result(f"without them: {join(command)}", job.target)


@options.command(
    examples=(
        "clpix ifft spectrum.npz -o photo-again.png",
        "clpix ifft spectrum.npz -o photo-again.tif --dtype uint16",
        "clpix ifft spectra/*.npz -o 'pictures/{stem}.png'",
    ),
    groups={"Kernels": ("method", "radix", "twiddle")},
)
@options.pictures
@derived.collected("how", choices.FftParams, _OF_KERNELS)
def inverse(shared: Shared, how: SimpleNamespace) -> None:
    """Make images from the spectra that `clpix fft` wrote as .exr, .npz or .tif.

    The file has all that is needed. The image gets the depth and the metadata of the original.
    """
    options.refuse("a spectrum file says itself what its values are", "space")
    options.refuse("a spectrum file has no layers", "layer")
    options.refuse("a spectrum is of stored values", "working")
    from gpuops.batch.spectra import OfSpectrum

    from .pipeline import process

    process(shared, "ifft", OfSpectrum(choices.FftParams(**vars(how))))
