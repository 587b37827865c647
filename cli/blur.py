"""clpix blur."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpuops.params.blur import KINDS, METHODS

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item


@options.command(short_help="Gaussian, box, disc, motion, median or bilateral blur")
@options.inputs
@options.output
@options.shared
@click.option(
    "--sigma",
    type=float,
    metavar="S",
    help="Standard deviation of the Gaussian in pixels, also of the bilateral filter's.",
)
@click.option("--sigma-x", type=float, metavar="S", help="The same along x only.")
@click.option("--sigma-y", type=float, metavar="S", help="The same along y only.")
@click.option(
    "--radius",
    type=float,
    metavar="R",
    help="Of the disc; of the window of box, median (15 at most) and bilateral, 2R + 1 pixels wide.",
)
@click.option(
    "--sigma-color",
    type=float,
    metavar="C",
    help="Of the bilateral filter: how far colours may differ, of 0 … 1 or as light.",
)
@click.option("--length", type=float, metavar="L", help="Of the motion, in pixels.")
@click.option(
    "--angle",
    type=float,
    default=0.0,
    metavar="A",
    help="Of the motion, in degrees, counter-clockwise from the x axis.",
)
@click.option("--kind", type=options.Choice(KINDS), default="gaussian", show_default=True)
@click.option(
    "--border",
    type=options.Word(),
    default="reflect",
    show_default=True,
    metavar="MODE",
    help="reflect, mirror, nearest, wrap, constant or constant:V, as in scipy.ndimage (OpenCV's names work too); "
    "wrap-x, for panoramas: wrap along rows, reflect down columns.",
)
@click.option(
    "--truncate",
    type=float,
    metavar="T",
    help="Cut the Gaussian at T sigmas (scipy's default: 4), not where it ends.",
)
@click.option(
    "--method", type=options.Choice(METHODS), default="auto", show_default=True, help="Which kernel."
)
@click.option(
    "--preset", type=options.Choice(["d3d11"]), help="The blur of the Direct3D 11 HDR sample, exactly."
)
def command(
    shared: options.Shared,
    sigma: float | None,
    sigma_x: float | None,
    sigma_y: float | None,
    radius: float | None,
    sigma_color: float | None,
    length: float | None,
    angle: float,
    kind: str,
    border: str,
    truncate: float | None,
    method: str,
    preset: str | None,
) -> None:
    """Blur images, in linear light and with premultiplied alpha.

    The Gaussian is within 5e-5 of its peak and takes the same time for any sigma; with --truncate it is scipy's, cut at
    int(T·σ + 0.5) pixels and normalised. --sigma 0 gives the input exactly.
    """
    from gpuops.params.blur import BlurParams
    from gpuops.params.border import border_option

    sizes, motion = ("sigma", "sigma_x", "sigma_y", "truncate"), ("length", "angle")
    if preset is not None:
        others = ("radius", "sigma_color", "kind", "border")
        options.refuse("--preset fixes everything but --method", *sizes, *motion, *others)
        if method in ("multirate", "fft", "recursive"):
            raise click.UsageError("--preset d3d11 has --method auto, local or direct")
    elif kind in ("box", "disc", "median"):
        options.refuse(f"--kind {kind} is as wide as --radius says", *sizes, "sigma_color", *motion)
        if radius is None:
            raise click.UsageError(f"--kind {kind} needs --radius")
    elif kind == "motion":
        options.refuse("--kind motion is as long as --length says", *sizes, "radius", "sigma_color")
        if length is None:
            raise click.UsageError("--kind motion needs --length")
    elif kind == "bilateral":
        options.refuse("--kind bilateral has one --sigma and is not cut", *sizes[1:], *motion)
        if sigma is None or sigma_color is None:
            raise click.UsageError("--kind bilateral needs --sigma and --sigma-color")
    else:
        options.refuse(
            "a Gaussian is as wide as --sigma says; these belong to other kinds", "radius", "sigma_color"
        )
        options.refuse("a Gaussian does not move: these belong to --kind motion", *motion)
        axes = [value for value in (sigma_x, sigma_y) if value is not None]
        if len(axes) == 2:
            options.refuse("--sigma-x and --sigma-y say all", "sigma")
        elif sigma is None:
            raise click.UsageError("give --sigma, both --sigma-x and --sigma-y, or --sigma and one of them")
    x = sigma_x if sigma_x is not None else sigma or 0.0
    y = sigma_y if sigma_y is not None else sigma or 0.0
    mode, cval = border_option(border)
    params = BlurParams(
        sigma=(y, x),
        radius=(radius or 0, radius or 0),
        sigma_color=sigma_color or 0.0,
        length=length or 0.0,
        angle=angle,
        kind=kind,
        truncate=truncate,
        border=mode,
        cval=cval,
        method=method,
    )

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        with gpu.phase("import"):  # while the first input is being read
            from gpuops.filters import blur

        if preset:
            from gpuops.glow import d3d11

            image = item.load(linear=True, premultiply=True)
            item.save(item.run(d3d11.blur, gpu, image, method))
        else:
            # Where nothing is blurred, colours hidden under alpha 0 need not be lost to premultiplication.
            pixels, decoding = item.load_pixels(linear=True, premultiply=any(params.radii), count=True)
            result = item.run(blur.blur_pixels, gpu, pixels, params, decoding, item.encoding)
            height, width, channels = pixels.shape
            item.warn_of_spread(blur.reach(gpu, (channels, height, width), params))
            item.save_pixels(*result)

    process(shared, "blur", work)
