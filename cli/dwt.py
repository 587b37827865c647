"""clpix dwt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gpuops.params.dwt import FAMILIES, METHODS, MODES, SHRINKS, DwtParams, ShrinkParams

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.image import Image

    from .item import Item

DEFAULT_LEVELS = 5


@click.command(short_help="image → wavelet coefficients, or a picture of them")
@options.inputs
@options.output
@options.shared
@click.option(
    "--wavelet",
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
    default="mirror",
    show_default=True,
    metavar="MODE",
    help=f"What stands beyond the border, by PyWavelets' names: {', '.join(MODES)}. "
    "mirror, JPEG 2000's, has as many coefficients as pixels.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--integer", is_flag=True, help="The reversible transform of 8- or 16-bit levels to whole numbers."
)
@click.option(
    "--threshold",
    type=float,
    metavar="T",
    help="Shrink the details by T; with --shrink visu or bayes by T times the estimate (default 1).",
)
@click.option(
    "--shrink",
    type=click.Choice(SHRINKS),
    help="How: soft (default), hard; visu and bayes estimate the noise and take it away.",
)
def command(
    shared: options.Shared,
    wavelet: str | None,
    levels: int | None,
    mode: str,
    method: str,
    integer: bool,
    threshold: float | None,
    shrink: str | None,
) -> None:
    """Transform images to wavelet coefficients, which `clpix idwt` turns back.

    .npz, .exr and .tif receive the coefficients; other formats a picture of the pyramid: each band with a contrast
    of its own, zero being mid gray. The transform works on the stored values, alpha included.
    """
    params = DwtParams(wavelet or ("bior2.2" if integer else "bior4.4"), mode, levels, method, integer)
    shrinking = None
    if threshold is not None or shrink is not None:
        if integer:
            raise click.UsageError(
                "--integer is the lossless transform: it goes without --threshold and --shrink"
            )
        shrinking = ShrinkParams(shrink or "soft", threshold)
    if integer and shared.space == "linear":
        raise click.UsageError("--integer works on the stored levels: it goes without --space linear")

    def check(writes_data: bool) -> None:
        if writes_data and (integer or shared.dtype != "float"):
            kind = "whole numbers" if integer else "floats"
            options.refuse(f"coefficients are stored as {kind}: no other --dtype", "dtype")
        elif not writes_data:
            options.refuse("a picture of the pyramid shows the colours", "alpha")

    from gpuops.dwt import transform

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        image = item.load(linear=False)
        shape = (image.shape[1], image.shape[2])
        if params.levels is None:
            chosen = replace(params, levels=min(DEFAULT_LEVELS, transform.max_levels(shape, params)))
        else:
            chosen = params
            transform.warn_of_levels(shape, params)
        _transform(item, image, chosen, shrinking)

    process(shared, "dwt", work, check=check)


def _transform(item: Item, image: Image, params: DwtParams, shrinking: ShrinkParams | None) -> None:
    from gpuops.dwt import stored
    from gpuops.errors import FileError

    assert item.picture is not None
    dtype = item.picture.pixels.dtype
    if params.integer and dtype.kind != "u":
        raise FileError(f"{item.path}: --integer needs 8- or 16-bit pixels, not {dtype}")
    if not item.writes_data:
        white = stored.WHITE[dtype.name] if params.integer else None
        item.save(item.run(_picture, image, params, shrinking, white))
        return
    planes, height, width = image.shape
    description = stored.Stored(params, (planes, height, width), dtype.name, image.alpha, image.linear)
    item.save_data(item.run(stored.pack, image, description, shrinking), description.attributes())


def _picture(image: Image, params: DwtParams, shrinking: ShrinkParams | None, white: int | None) -> Image:
    from gpuops.dwt import bands, pyramid, shrink, stored, transform
    from gpuops.dwt.wavelets import WAVELETS

    samples = image if white is None else bands.to_levels(image, white)
    approximation, details = transform.decompose(samples, params)
    if shrinking is not None:
        details = shrink.shrink(approximation, details, shrinking)
    stored.check_finite(approximation.numpy())
    growth = WAVELETS[params.wavelet].growth ** len(details) if params.integer else 1.0
    return pyramid.picture(approximation, details, growth * (white or 1.0))
