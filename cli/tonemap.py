"""clpix tonemap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpuops.params.lut import OUTPUTS, LutParams, lut_input_option
from gpuops.params.tonemap import (
    DEFAULT_OPERATOR,
    GAMUTS,
    METERS,
    METHODS,
    NOISES,
    OPERATORS,
    WHITE,
)
from gpuops.params.white_balance import GRAY_WORLD

from . import looks as looking
from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.pixels.coding import Decoding

    from .item import Item

# The options that describe a table.
_OF_LUT = ("lut_input", "lut_output")
# The options that --preset fixes.
_EXCLUDED_BY_PRESET = (
    "operator", "lut", *_OF_LUT, "exposure", "meter", "key", "percentiles", "meter_region", "balance", "white", "given",
    "transfer", "gamut", "dither", "noise", "seed", "contact_sheet", "operators", "stops", "tile_width", "plot_curve",
)  # fmt: skip


@options.command(short_help="HDR → display")
@options.inputs
@options.output
@options.shared
@click.option(
    "--operator",
    type=options.Word(),
    metavar="NAME",
    default=DEFAULT_OPERATOR,
    show_default=True,
    help=f"One of {', '.join(OPERATORS)}.",
)
@click.option("--lut", metavar="FILE", help="A colour table, .cube or .spi3d, in place of an operator.")
@click.option(
    "--lut-input",
    type=options.Word(),
    metavar="srgb|linear|reinhard|log2:LOW:HIGH",
    default="srgb",
    show_default=True,
    help="What the table takes of light c: the sRGB signal; c; c/(1+c); (log2 c − LOW)/(HIGH − LOW).",
)
@click.option(
    "--lut-output",
    type=options.Choice(OUTPUTS),
    default="srgb",
    show_default=True,
    help="What it gives: the sRGB signal, or light.",
)
@click.option(
    "--exposure",
    type=options.Word(),
    metavar="EV|auto",
    default="auto",
    help="In stops, or metered.  [default: auto, or 0 with --lut]",
)
@click.option("--meter", type=options.Choice(METERS), help="What auto exposure reads.  [default: log-mean]")
@click.option(
    "--key", type=float, metavar="L", help="Luminance that auto exposure brings it to.  [default: 0.18]"
)
@click.option(
    "--percentiles",
    metavar="LOW,HIGH",
    help="Of the lit pixels, between which --meter histogram reads.  [default: 10,90]",
)
@click.option(
    "--meter-region",
    metavar="X,Y,W,H",
    help="What is metered: a rectangle of the pixels as they are stored, before any rotation that EXIF asks for; in "
    "pixels, or all four with %.",
)
@click.option(
    "--white-balance",
    "balance",
    type=options.Word(),
    metavar="none|gray-world|R,G,B|T[K][,TINT]",
    default="none",
    show_default=True,
    help="Before metering: channel means made equal, gains, or the scene's light in kelvin (1667 … 25000) with its "
    "distance from the locus in Duv (positive: greener).",
)
@click.option(
    "--white",
    type=float,
    metavar="L",
    help="Luminance after exposure that becomes white, for reinhard-extended and drago (default: the brightest "
    "pixel's, 1 at least) and hable (default: 11.2).",
)
@click.option(
    "--parameter",
    "given",
    type=options.Word(),
    multiple=True,
    metavar="NAME=V",
    help="Of the operator, such as contrast=1.6 of sigmoid; may be repeated. docs/tonemap.md lists them.",
)
@click.option(
    "--transfer",
    type=options.Word(),
    metavar="srgb|gamma:G|pq|linear",
    default="srgb",
    show_default=True,
    help="The signal; pq puts 1 at 203 cd/m².",
)
@click.option(
    "--gamut",
    type=options.Choice(GAMUTS),
    default="clip",
    show_default=True,
    help="Colours that the operator leaves beyond white: clip cuts each channel, hue mixes them with gray.",
)
@click.option("--dither/--no-dither", default=False, help="Noise of ±1 code before rounding.")
@click.option(
    "--noise",
    type=options.Choice(NOISES),
    default="triangular",
    show_default=True,
    help="Of dither: white noise, or blue noise, which is seen less. Both are triangularly distributed.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Another seed, another noise.")
@click.option(
    "--method", type=options.Choice(METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--preset", type=options.Choice(["d3d11"]), help="The picture of the Direct3D 11 HDR sample, exactly."
)
@click.option(
    "--bloom/--no-bloom", "with_bloom", default=True, help="With --preset: whether the sample's bloom is on."
)
@click.option(
    "--blur/--no-blur",
    "blurred",
    default=False,
    help="With --preset: whether the sample's blur is on; metering and bloom are of the picture before it.",
)
@looking.options
def command(
    shared: options.Shared,
    operator: str,
    lut: str | None,
    lut_input: str,
    lut_output: str,
    exposure: str,
    meter: str | None,
    key: float | None,
    percentiles: str | None,
    meter_region: str | None,
    balance: str,
    white: float | None,
    given: tuple[str, ...],
    transfer: str,
    gamut: str,
    dither: bool,
    noise: str,
    seed: int,
    method: str,
    preset: str | None,
    with_bloom: bool,
    blurred: bool,
    looks: looking.Looks,
) -> None:
    """Map high dynamic range to a display.

    Light, balanced if asked for, times exposure goes through the operator, or a table, and then the transfer
    curve. The result has 8 bits unless --dtype says otherwise; EXR, HDR, PFM and NPZ stay float. Pixels that
    are NaN, infinite or negative are repaired, and counted in a warning.
    """
    if preset:
        options.refuse("--preset fixes everything but --method, --bloom and --blur", *_EXCLUDED_BY_PRESET)
    else:
        options.refuse("these are effects of --preset d3d11", "with_bloom", "blurred")
    if lut is None:
        options.refuse("there is no --lut", *_OF_LUT)
        chosen: str | LutParams = operator
    else:
        options.refuse("--lut stands in place of operators", "operator", "operators", "white", "given")
        from gpuops.files import read_lut

        taken, limits = lut_input_option(lut_input)
        chosen = LutParams(read_lut(lut), taken, lut_output, limits)
        if not options.given("exposure"):
            exposure = "0"  # a look is for a picture as it is
    names = looks.shown(chosen if lut or options.given("operator") else None)
    if looks.contact_sheet:  # where any operator with a white point makes --white meaningful
        chosen = next((name for name in names if name in WHITE), names[0])
    if meter != "histogram":
        options.refuse("--percentiles belong to --meter histogram", "percentiles")
    if exposure != "auto":
        options.refuse("--meter and --key belong to --exposure auto", "meter", "key")
        if balance != GRAY_WORLD:
            options.refuse("with this --exposure no region is metered", "meter_region")
            takes_white = any(isinstance(o, str) and WHITE.get(o, 1.0) is None for o in (chosen, *names))
            if white is not None or not takes_white:
                options.refuse("with this --exposure nothing is metered", "method")
    if not dither:
        options.refuse("there is no --dither", "seed", "noise")

    from gpuops.params.region import region_option
    from gpuops.params.tonemap import (
        PERCENTILES,
        TonemapParams,
        exposure_option,
        percentiles_option,
        transfer_option,
    )
    from gpuops.params.white_balance import Illuminant, white_balance_option

    curve, gamma = transfer_option(transfer)
    params = TonemapParams(
        operator=chosen,
        exposure=exposure_option(exposure),
        meter=meter or "log-mean",
        key=0.18 if key is None else key,
        percentiles=PERCENTILES if percentiles is None else percentiles_option(percentiles),
        meter_region=None if meter_region is None else region_option(meter_region),
        white_balance=white_balance_option(balance),
        white=white,
        parameters=_parameters(given),
        transfer=curve,
        gamma=gamma,
        gamut=gamut,
        noise=noise,
        seed=seed,
        method=method,
    )
    looks.check(shared, params, names)

    from dataclasses import replace
    from functools import partial

    import numpy as np

    from gpuops.glow import d3d11
    from gpuops.pixels.coding import Encoding
    from gpuops.pixels.colour import of_signal
    from gpuops.tone import tonemap, white_balance

    from .pipeline import process

    if isinstance(params.white_balance, Illuminant):
        white_balance.matrix(params.white_balance)  # there may be none

    def work_on_pixels(gpu: Gpu, item: Item, pixels: Image, decoding: Decoding) -> None:
        depth = item.depth(item.display_dtype)
        # The signal as it is, whatever files of this kind hold.
        shown, encoding, colour = params, Encoding(depth), of_signal(curve, gamma)
        if depth.kind == "f":
            options.refuse(f"{item.output} holds floats, which are not rounded", "dither")
            if curve == "srgb":
                options.refuse(f"{item.output} holds floats, which are linear light", "transfer")
        if dither:
            shown = replace(params, dither=int(np.iinfo(depth).max))
        elif curve == "srgb":  # light, which the file's encoding makes exact codes of, or keeps
            shown, encoding = replace(params, transfer="linear"), item.display_encoding
            colour = item.display_colour
        result, lost = item.run(tonemap.tonemap_pixels, gpu, pixels, shown, decoding, encoding)
        item.save_pixels(result, lost, item.display_dtype, colour=colour)

    def work(gpu: Gpu, item: Item) -> None:
        pixels, decoding = item.load_pixels(linear=True, premultiply=preset is not None)
        image = item.unpacked(pixels, decoding) if preset or looks.asked else None
        curves = [] if image is None else looks.curves(gpu, item, image, params, names)
        if image is not None and looks.contact_sheet:
            looks.save_sheet(gpu, item, image, params, names)
        elif image is not None and preset:
            effects = partial(d3d11.tonemap, with_bloom=with_bloom, blurred=blurred)
            item.save(item.run(effects, gpu, image, method), item.display_dtype, display=True)
        else:
            work_on_pixels(gpu, item, pixels, decoding)
        looks.plot(gpu, item, curves)

    process(shared, "tonemap", work, also_read=[lut] if lut else [])


def _parameters(given: tuple[str, ...]) -> dict[str, float]:
    """The operator's parameters by name, each of which may be given once."""
    from gpuops.params.tonemap import parameter_option

    parameters: dict[str, float] = {}
    for name, value in map(parameter_option, given):
        if name in parameters:
            raise click.UsageError(f"--parameter {name} is given twice: give it once")
        parameters[name] = value
    return parameters
