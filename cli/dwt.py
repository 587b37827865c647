"""The command ``clpix dwt``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gpuops.params.dwt import (
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

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item

# The number of levels unless --levels says otherwise.
DEFAULT_LEVELS = 5


@options.command(short_help="image → wavelet coefficients, or a picture of them")
@options.inputs
@options.output
@options.device_memory
@options.shared
@click.option(
    "--wavelet",
    type=options.Word(),
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
    type=options.Word(),
    metavar="MODE",
    help=f"What stands beyond the border, by PyWavelets' names: {', '.join(MODES)}. Default: mirror, "
    "JPEG 2000's, which has as many coefficients as pixels; symmetric for wavelets without lifting steps.",
)
@click.option(
    "--method", type=options.Choice(METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--integer", is_flag=True, help="The reversible transform of 8- or 16-bit levels to whole numbers."
)
@click.option(
    "--threshold",
    type=options.Word(),
    metavar="T|ESTIMATE[:F]",
    help="Shrink the details by T, or as an estimate from the noise says, visu or bayes (times F).",
)
@click.option(
    "--shrink",
    type=options.Choice(SHRINKS),
    help="How: soft (default), hard, garrote; visu and bayes estimate the threshold themselves, "
    "times --threshold (default 1).",
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
    help="With --reconstruct: the mean of the results for N × N shifts of the image, without blocky artefacts.",
)
@click.option("--json", "as_json", is_flag=True, help="With --keep: print the figures as JSON, a line each.")
def command(
    shared: options.Shared,
    wavelet: str | None,
    levels: int | None,
    mode: str | None,
    method: str,
    integer: bool,
    threshold: str | None,
    shrink: str | None,
    keep: float | None,
    reconstruct: bool,
    cycle_spins: int | None,
    as_json: bool,
) -> None:
    """Transform images to wavelet coefficients, which `clpix idwt` turns back.

    .npz, .exr and .tif receive the coefficients; other formats a picture of the pyramid: each band with a contrast
    of its own, zero being mid gray. The transform works on the stored values, alpha included.

    Denoise a picture:  clpix dwt noisy.png -o clean.png --shrink bayes --reconstruct
    """
    name = wavelet_name(wavelet or ("bior2.2" if integer else "bior4.4"))
    lifts, _ = WAVELETS[name]
    params = DwtParams(name, mode or ("mirror" if lifts else "symmetric"), levels, method, integer)
    shrinks = threshold is not None or shrink is not None
    _check(shared, integer, shrinks, keep is not None, reconstruct, cycle_spins is not None, as_json)
    shrinking, keeping = None, None
    if shrinks:
        amount, estimate = threshold_option(threshold) if threshold is not None else (None, None)
        shrinking = ShrinkParams(shrink or "soft", amount, estimate)
    if keep is not None:
        keeping = KeepParams(keep)

    def check(writes_data: bool) -> None:
        if writes_data and not reconstruct and (integer or shared.dtype != "float"):
            kind = "whole numbers" if integer else "floats"
            options.refuse(f"coefficients are stored as {kind}: no other --dtype", "dtype")
        elif not writes_data and not reconstruct:
            options.refuse("a picture of the pyramid shows the colours", "alpha")

    from gpuops.errors import FileError
    from gpuops.notes import note
    from gpuops.wavelets import multilevel, stored, transform

    from .dwt_ways import Work
    from .pipeline import process

    def one(gpu: Gpu, item: Item) -> None:
        pixels, decoding = item.read_pixels(linear=False)
        height, width, planes = pixels.shape
        shape = height, width
        if integer and pixels.dtype.kind != "u":
            raise FileError(f"{item.path}: --integer needs 8- or 16-bit pixels, not {pixels.dtype}")
        if params.levels is None:
            chosen = replace(params, levels=min(DEFAULT_LEVELS, transform.max_levels(shape, params)))
            if chosen.levels == 0 and shrinking is not None:
                note(
                    f"{item.path}: {shape[0]}×{shape[1]} pixels are too few for a level that could be shrunk"
                )
        else:
            chosen = params
            transform.warn_of_levels(shape, params)
        assert item.picture is not None
        dtype = item.picture.pixels.dtype.name
        about = stored.Stored(chosen, (planes, *shape), dtype, decoding.alpha, item.linear)
        plain = item.writes_data and not (reconstruct or shrinks or keeping)
        copies = stored.copies(chosen, overwrite=plain and item.once, more=not plain)
        source = stored.source_of(gpu, pixels, decoding, about)
        work = Work(item, multilevel.resident(source, chosen, copies=copies), about)
        if keeping is not None:
            work.keep(keeping, pixels, reconstruct=reconstruct, as_json=as_json)
            return
        del pixels, source  # what is on the device need not stay on the host
        if reconstruct:
            assert shrinking is not None
            work.denoise(shrinking, cycle_spins or 1)
        else:
            work.transform(shrinking)

    process(shared, "dwt", one, check=check)


def _check(
    shared: options.Shared,
    integer: bool,
    shrinks: bool,
    keeps: bool,
    reconstruct: bool,
    spins: bool,
    as_json: bool,
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
