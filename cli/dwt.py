"""The command ``clpix dwt``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from gpuops.params.dwt import (
    DEFAULT_LEVELS,
    DENOISE_SPACES,
    FAMILIES,
    MAX_SPINS,
    METHODS,
    MODES,
    SHRINKS,
    WAVELETS,
    DwtParams,
    KeepParams,
    ShrinkParams,
    threshold_option,
    wavelet_name,
)
from gpuops.params.files import STREAM

from . import options, types
from .shared import Shared

if TYPE_CHECKING:
    from gpuops.batch.coefficients import Approximation
    from gpuops.batch.job import Job


@options.command(
    short_help="image → wavelet coefficients, or a picture of them",
    examples=(
        "clpix dwt photo.png -o pyramid.png --wavelet haar --levels 3",
        "clpix dwt photo.png -o clean.png --shrink bayes --reconstruct",
        "clpix dwt photo.png -o coefficients.npz --integer",
    ),
    groups={
        "Transform": ("wavelet", "levels", "mode", "integer", "method"),
        "Shrinking": (
            "shrink",
            "threshold",
            "keep",
            "reconstruct",
            "cycle_spins",
            "denoise_space",
            "as_json",
        ),
    },
)
@options.inputs
@options.output
@options.shared
@options.batch
@click.option(
    "--wavelet",
    type=types.Word(),
    metavar="NAME",
    help=f"{', '.join(FAMILIES)}; also 5/3, 9/7 and others' names for them. "
    "Default: bior4.4 (CDF 9/7), with --integer bior2.2 (CDF 5/3).",
)
@click.option(
    "--levels",
    type=int,
    metavar="N",
    help=f"How often the approximation is transformed again. Default: {DEFAULT_LEVELS}, fewer for small images.",
)
@click.option(
    "--mode",
    type=types.Word(),
    metavar="MODE",
    help=f"What stands beyond the border, by PyWavelets' names: {', '.join(MODES)}. Default: mirror, "
    "JPEG 2000's, which has as many coefficients as pixels; symmetric for wavelets without lifting steps.",
)
@click.option(
    "--method",
    type=types.ChoiceType(METHODS),
    default="auto",
    show_default=True,
    help="The kernels that compute the transform.",
)
@click.option(
    "--integer", is_flag=True, help="Use the reversible transform of 8- or 16-bit values to whole numbers."
)
@click.option(
    "--threshold",
    type=types.Word(),
    metavar="T|ESTIMATE[:F]",
    help="Shrink the details by T, or by a threshold estimated from the noise: visu or bayes (times F).",
)
@click.option(
    "--shrink",
    type=types.ChoiceType(SHRINKS),
    help="How to shrink: soft (default), hard, garrote. visu and bayes estimate the threshold, times --threshold "
    "(default 1).",
)
@click.option(
    "--denoise-space",
    type=types.ChoiceType(DENOISE_SPACES),
    help="The space in which colours are shrunk: opponent (default; their sum and two differences, which have less "
    "detail), ycbcr (as in JPEG) or rgb (each by itself).",
)
@click.option(
    "--keep",
    type=float,
    metavar="PERCENT",
    help="Keep the largest PERCENT % of all coefficients only, and print the PSNR of what they restore.",
)
@click.option(
    "--reconstruct", is_flag=True, help="Write the image that the changed coefficients give, not these."
)
@click.option(
    "--cycle-spins",
    type=click.IntRange(1, MAX_SPINS),
    metavar="N",
    help="With --reconstruct: take the mean of N × N shifts of the image, which removes blocky artefacts.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="With --keep: print the figures as JSON, a line for each output."
)
def command(
    shared: Shared,
    wavelet: str | None,
    levels: int | None,
    mode: str | None,
    method: str,
    integer: bool,
    threshold: str | None,
    shrink: str | None,
    denoise_space: str | None,
    keep: float | None,
    reconstruct: bool,
    cycle_spins: int | None,
    as_json: bool,
) -> None:
    """Transform images to wavelet coefficients, which `clpix idwt` turns back.

    Outputs .npz, .exr and .tif hold the coefficients. Other formats get a picture of the pyramid, in which each band
    has a contrast of its own, and zero is mid gray. The transform works on the stored values, also of alpha.
    """
    name = wavelet_name(wavelet or ("bior2.2" if integer else "bior4.4"))
    lifts, _ = WAVELETS[name]
    params = DwtParams(name, mode or ("mirror" if lifts else "symmetric"), levels, method, integer)
    shrinks = threshold is not None or shrink is not None
    options.refuse("wavelets work on stored values", "working")
    _check(shared, integer, shrinks, keep is not None, reconstruct, cycle_spins is not None, as_json)
    shrinking, keeping = None, None
    if shrinks:
        amount, estimate = threshold_option(threshold) if threshold is not None else (None, None)
        shrinking = ShrinkParams(shrink or "soft", amount, estimate, denoise_space or DENOISE_SPACES[0])
    elif denoise_space is not None:
        raise click.UsageError(
            "--denoise-space is where coefficients are shrunk: add --shrink or --threshold"
        )
    if keep is not None:
        keeping = KeepParams(keep)

    def check(job: Job) -> None:
        writes_data = job.options.writes_data(job.target)
        if writes_data and not reconstruct:
            options.refuse("coefficients are of stored values", "colour")
            options.refuse("coefficients are stored as they are", *options.STORAGE)
        if writes_data and not reconstruct and (integer or shared.dtype != "float"):
            kind = "whole numbers" if integer else "floats"
            options.refuse(f"coefficients are stored as {kind}: no other --dtype", "dtype")
        elif not writes_data and not reconstruct:
            options.refuse("a picture of the pyramid shows the colours", "alpha")

    from gpuops.batch.coefficients import ToCoefficients

    from .pipeline import process

    work = ToCoefficients(params, shrinking, keeping, reconstruct, cycle_spins or 1)
    process(shared, "dwt", work, check=check, tell=partial(_tell, as_json=as_json))


def _tell(job: Job, told: Approximation | None, *, as_json: bool) -> None:
    """Prints what was kept, if a part was."""
    import math

    from gpuops.errors import json_text, visible
    from gpuops.files.streams import printable

    from .main import say, show

    if told is None:
        return
    kept, psnr = told.kept, told.psnr
    if as_json:
        figures = {
            "input": printable(job.source),
            "output": printable(job.target),
            "kept": kept.kept,
            "coefficients": kept.coefficients,
            "threshold": kept.threshold,
            "psnr": psnr if math.isfinite(psnr) else str(psnr),
        }
        show(json_text(figures))
        return
    streams = job.target == STREAM
    name, share = "stdout" if streams else printable(job.target), 100 * kept.kept / kept.coefficients
    line = f"{name}: {kept.kept} of {kept.coefficients} coefficients kept ({share:.3g} %), PSNR {psnr:.2f} dB"
    (say if streams else show)(visible(line))


def _check(
    shared: Shared, integer: bool, shrinks: bool, keeps: bool, reconstruct: bool, spins: bool, as_json: bool
) -> None:
    """Refuses options that contradict each other."""
    if integer and (shrinks or keeps):
        raise click.UsageError(
            "--integer is the lossless transform: it goes without --threshold, --shrink and --keep"
        )
    if integer and shared.space == "linear":
        raise click.UsageError("--integer works on the stored levels: it goes without --space linear")
    if shrinks and keeps:
        raise click.UsageError("--keep has a threshold of its own: it goes without --threshold and --shrink")
    if reconstruct and not (shrinks or keeps):
        raise click.UsageError("--reconstruct would give the input back: add --shrink, --threshold or --keep")
    if spins and not (reconstruct and shrinks):
        raise click.UsageError(
            "--cycle-spins averages denoised images: it goes with --shrink or --threshold, and --reconstruct"
        )
    if as_json and not keeps:
        raise click.UsageError("--json prints what --keep came to: it goes with that")
    if as_json and shared.output == "-":
        raise click.UsageError("stdout is the output: leave out --json, or give -o a file")
