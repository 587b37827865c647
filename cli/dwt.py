"""The commands ``clpix dwt`` and ``clpix idwt``."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from gpuops.ops.denoise import DenoiseParams
from gpuops.params.dwt import DwtParams, KeepParams, default_mode, shrink_option
from gpuops.params.files import STREAM
from gpuops.records import dataclass

from . import derived, options
from .shared import STORAGE, Shared, flag, option

if TYPE_CHECKING:
    from gpuops.batch.coefficients import Approximation
    from gpuops.batch.job import Job


# The options of the operation denoise that say the same of a transform here.
_OF_DENOISE = ("wavelet", "levels", "mode", "method", "threshold", "shrink", "denoise_space", "cycle_spins")


# The options of shrinking, in the help's order.
_SHRINKING = ("shrink", "threshold", "keep", "reconstruct", "cycle_spins", "denoise_space", "as_json")


@dataclass(frozen=True)
class Coefficients:
    """The other options of coefficients, and of what is made of them."""

    integer: bool = flag("Use the reversible transform of 8- or 16-bit values to whole numbers.")
    keep: float | None = option(
        "Keep the largest PERCENT % of all coefficients only, and print the PSNR of what they restore.",
        "PERCENT",
        type=float,
    )
    reconstruct: bool = flag("Write the image that the changed coefficients give, not these.")
    as_json: bool = flag("With --keep: print the figures as JSON, a line for each output.", "--json")


@options.command(
    examples=(
        "clpix dwt photo.png -o pyramid.png --wavelet haar --levels 3",
        "clpix dwt photo.png -o clean.png --shrink bayes --reconstruct",
        "clpix dwt photo.png -o coefficients.npz --integer",
    ),
    groups={
        "Transform": ("wavelet", "levels", "mode", "integer", "method"),
        "Shrinking": _SHRINKING,
    },
)
@options.pictures
@derived.collected("denoise", DenoiseParams, {name: name for name in _OF_DENOISE})
@options.collected("given", Coefficients)
def command(shared: Shared, given: Coefficients, denoise: SimpleNamespace) -> None:
    """Transform images to wavelet coefficients, which `clpix idwt` turns back.

    Outputs .npz, .exr and .tif hold the coefficients. Other formats get a picture of the pyramid, in which each band
    has a contrast of its own, and zero is mid gray. The transform works on the stored values, also of alpha.
    To take noise from a picture, also within a chain, see `clpix denoise`.
    """
    integer, reconstruct = given.integer, given.reconstruct
    name = denoise.wavelet or ("bior2.2" if integer else "bior4.4")
    params = DwtParams(name, denoise.mode or default_mode(name), denoise.levels, denoise.method, integer)
    shrinks = denoise.threshold is not None or denoise.shrink is not None
    options.refuse("wavelets work on stored values", "working")
    _check(shared, given, shrinks, denoise.cycle_spins is not None)
    shrinking = shrink_option(denoise.shrink, denoise.threshold, denoise.denoise_space) if shrinks else None
    if not shrinks and options.given("denoise_space"):
        raise click.UsageError("--denoise-space is where coefficients shrink: add --shrink or --threshold")
    keeping = None if given.keep is None else KeepParams(given.keep)

    def check(job: Job) -> None:
        if reconstruct:
            return
        if not job.options.writes_data(job.target):
            options.refuse("a picture of the pyramid shows the colours", "alpha")
            return
        options.refuse("coefficients are of stored values", "colour")
        options.refuse("coefficients are stored as they are", *STORAGE)
        if integer or shared.dtype != "float":
            kind = "whole numbers" if integer else "floats"
            options.refuse(f"coefficients are stored as {kind}: no other --dtype", "dtype")

    from gpuops.batch.coefficients import ToCoefficients
    from gpuops.chain import Chain

    from .pipeline import process

    if shrinks and reconstruct:
        step = DenoiseParams(**vars(denoise) | {"wavelet": name})
        process(shared, "dwt", Chain(step), check=check)
        return
    work = ToCoefficients(params, shrinking, keeping, reconstruct)
    process(shared, "dwt", work, check=check, tell=partial(_tell, as_json=given.as_json))


def _tell(job: Job, told: Approximation | None, *, as_json: bool) -> None:
    """Prints what was kept, if a part was."""
    from gpuops.errors import json_text
    from gpuops.files.streams import printable

    from .messages import result, show

    if told is None:
        return
    kept, psnr = told.kept, told.psnr
    if as_json:
        paths = {"input": printable(job.source), "output": printable(job.target)}
        show(json_text({**paths, **vars(kept), "psnr": psnr}))
        return
    name = "stdout" if job.target == STREAM else printable(job.target)
    share = 100 * kept.kept / kept.coefficients
    line = f"{name}: {kept.kept} of {kept.coefficients} coefficients kept ({share:.3g} %), PSNR {psnr:.2f} dB"
    result(line, job.target)


def _check(shared: Shared, given: Coefficients, shrinks: bool, spins: bool) -> None:
    """Refuses options that contradict each other."""
    integer, keeps = given.integer, given.keep is not None
    if integer and (shrinks or keeps):
        raise click.UsageError(
            "--integer is the lossless transform: it goes without --threshold, --shrink and --keep"
        )
    if integer and shared.space == "linear":
        raise click.UsageError("--integer works on the stored levels: it goes without --space linear")
    if shrinks and keeps:
        raise click.UsageError("--keep has a threshold of its own: it goes without --threshold and --shrink")
    if given.reconstruct and not (shrinks or keeps):
        raise click.UsageError("--reconstruct would give the input back: add --shrink, --threshold or --keep")
    if spins and not (given.reconstruct and shrinks):
        raise click.UsageError(
            "--cycle-spins averages denoised images: it goes with --shrink or --threshold, and --reconstruct"
        )
    if given.as_json and not keeps:
        raise click.UsageError("--json prints what --keep came to: it goes with that")
    if given.as_json and shared.output == "-":
        raise click.UsageError("stdout is the output: leave out --json, or give -o a file")


@options.command(
    examples=(
        "clpix idwt coefficients.npz -o photo-again.png",
        "clpix idwt coefficients.npz -o photo-again.tif --dtype uint16",
        "clpix idwt coefficients/*.npz -o 'pictures/{stem}.png'",
    )
)
@options.pictures
def inverse(shared: Shared) -> None:
    """Turn the coefficients that `clpix dwt` wrote back into images.

    Wavelet, mode, size and depth are read from the file; --dtype changes the depth, --alpha drop leaves alpha out.
    """
    options.refuse("a coefficient file says itself what its values are", "space")
    options.refuse("a coefficient file has no layers", "layer")
    options.refuse("coefficients are of stored values", "working")

    from gpuops.batch.coefficients import OfCoefficients

    from .pipeline import process

    process(shared, "idwt", OfCoefficients())
