"""clpix bloom."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import click

from gpuops.params.bloom import BLENDS, BORDERS, MEMORY, METHODS, RADIUS, STRENGTH
from gpuops.params.starburst import ANGLE, BLADES
from gpuops.params.tonemap import OPERATORS

from . import options

if TYPE_CHECKING:
    from gpuops.filters.convolve import Weights
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.pixels.coding import Decoding, Encoding

    from .item import Item

# The options that define the aperture.
_APERTURE = ("blades", "blade_angle", "roundness")
# The options that define the glow.
_SHAPING = (
    "threshold",
    "knee",
    "strength",
    "radius",
    "blend",
    "method",
    "kernel",
    "karis",
    "border",
    *_APERTURE,
)


@options.command(short_help="Glow around bright light")
@options.inputs
@options.output
@options.shared
@click.option(
    "--threshold",
    type=float,
    default=0.0,
    show_default=True,
    metavar="T",
    help="Only light above T glows: linear, after exposure, of the brightest channel (1 is a display's white).",
)
@click.option(
    "--knee",
    type=float,
    default=0.5,
    show_default=True,
    metavar="K",
    help="Half-width of the soft transition around the threshold, as a fraction of it.",
)
@click.option(
    "--strength",
    type=float,
    default=STRENGTH,
    show_default=True,
    metavar="S",
    help="Share of the light that goes into the glow; 0 gives the input exactly.",
)
@click.option(
    "--radius",
    type=float,
    metavar="R",
    help="Reach of the glow as a fraction of the image height: σ of its widest part; of a starburst, within which 99 % "
    f"of a round aperture's green light lies.  [default: {RADIUS}]",
)
@click.option(
    "--blend",
    type=options.Choice(BLENDS),
    default="energy",
    show_default=True,
    help="energy: the glow's light leaves where it came from; add: the glow comes on top.",
)
@click.option(
    "--method",
    type=options.Choice(METHODS),
    help="mip: a chain of half-size images (the default); gaussians: the exact sum, slow; fft: a starburst, the light "
    "that the lens's aperture diffracts, or --kernel.",
)
@click.option(
    "--blades",
    type=int,
    default=BLADES,
    show_default=True,
    metavar="N",
    help="Of a starburst's aperture: N rays if N is even, 2N if it is odd.",
)
@click.option(
    "--blade-angle",
    type=float,
    default=ANGLE,
    show_default=True,
    metavar="DEG",
    help="Direction of one ray, counter-clockwise from a row's direction.",
)
@click.option(
    "--roundness",
    type=float,
    default=0.0,
    show_default=True,
    metavar="R",
    help="Of the aperture: 0 a polygon, 1 a circle; between, rays widen to fans.",
)
@click.option(
    "--kernel", metavar="IMAGE", help="Shape of the glow, pixel for pixel, in place of a starburst."
)
@click.option(
    "--tonemap",
    "operator",
    type=options.Word(),
    metavar="OPERATOR",
    help="Tone-map the result before it leaves the device (as `clpix tonemap`, with its defaults): "
    f"{', '.join(OPERATORS)}.",
)
@click.option(
    "--exposure",
    type=options.Word(),
    metavar="EV|auto",
    help="In stops, for --threshold and --tonemap; auto meters the input.  [default: auto with --tonemap, or 0]",
)
@click.option(
    "--karis/--no-karis", default=True, show_default=True, help="Damp the glow of single hot pixels."
)
@click.option(
    "--border",
    type=options.Choice(BORDERS),
    default="reflect",
    show_default=True,
    help="Beyond the edges: the image mirrored; or, for panoramas, wrap-x: the right edge goes on at the left.",
)
@click.option(
    "--memory",
    type=options.Choice(MEMORY),
    default="auto",
    show_default=True,
    help="The chain's filters through local memory, or with direct reads.",
)
@click.option(
    "--preset", type=options.Choice(["d3d11"]), help="The bloom of the Direct3D 11 HDR sample, exactly."
)
def command(
    shared: options.Shared,
    threshold: float,
    knee: float,
    strength: float,
    radius: float | None,
    blend: str,
    method: str | None,
    blades: int,
    blade_angle: float,
    roundness: float,
    kernel: str | None,
    operator: str | None,
    exposure: str | None,
    karis: bool,
    border: str,
    memory: str,
    preset: str | None,
) -> None:
    """Lay a glow over images, in linear light, unclipped and with premultiplied alpha.

    Without a threshold all light glows, as in a lens: small strengths do. NaN and infinite pixels give no glow.
    """
    from gpuops.filters.convolve import kernel_from_picture
    from gpuops.glow import bloom, d3d11
    from gpuops.params.bloom import BloomParams
    from gpuops.params.starburst import Aperture
    from gpuops.params.tonemap import TonemapParams, exposure_option
    from gpuops.pixels.coding import pack, unpack
    from gpuops.tone import tonemap

    from .checks import check_stdin
    from .pipeline import process
    from .reader import read_picture

    if preset is not None:
        options.refuse("--preset fixes everything but --memory", *_SHAPING)
        if operator is None:
            options.refuse("--preset meters by itself, and there is no --tonemap", "exposure")
    thresholded = options.given("threshold")
    if not thresholded:
        options.refuse("without --threshold there is no transition", "knee")
    if method is None:
        method = "fft" if kernel is not None or any(map(options.given, _APERTURE)) else "mip"
    if method != "fft":
        options.refuse(f"only --method fft has that, not {method}", "kernel", *_APERTURE)
    if kernel is not None:
        options.refuse("the pixels of --kernel are the image's pixels", "radius")
        options.refuse("--kernel is the shape of the glow itself", *_APERTURE)
    if method != "mip":
        options.refuse(f"only --method mip has that, not {method}", "karis", "memory")
    if operator is None and not thresholded and not (karis and method == "mip"):
        options.refuse("nothing here depends on exposure", "exposure")
    params = BloomParams(
        threshold=threshold,
        knee=knee,
        strength=strength,
        radius=RADIUS if radius is None else radius,
        blend=blend,
        method=method,
        karis=karis,
        border=border,
        memory=memory,
        aperture=Aperture(blades, blade_angle, roundness),
    )
    stops = exposure_option(exposure) if exposure is not None else None if operator else 0.0
    display = None
    if operator is not None:
        display = TonemapParams(operator=operator, exposure=stops or 0.0, transfer="linear")
    elif stops is not None:
        TonemapParams(exposure=stops)  # refuses what is no exposure
    picture = None
    if kernel is not None:
        check_stdin(kernel, *shared.inputs)
        picture = read_picture(kernel)

    @cache
    def weights(gpu: Gpu) -> Weights | None:
        return None if picture is None else kernel_from_picture(gpu, picture, normalise=True)

    def of_the_sample(gpu: Gpu, pixels: Image, decoding: Decoding, encoding: Encoding) -> tuple[Image, Image]:
        image = d3d11.bloom(gpu, unpack(pixels, decoding), memory)
        if display is None:
            return pack(image, encoding)
        ev = tonemap.stops_of_pixels(gpu, pixels, decoding) if stops is None else stops
        return tonemap.tonemap_premultiplied(gpu, image, replace(display, exposure=ev), encoding)

    def work(gpu: Gpu, item: Item) -> None:
        # Strength 0 is the input exactly: colours under alpha 0 must not be lost to premultiplication.
        pixels, decoding = item.load_pixels(linear=True, premultiply=strength > 0)
        encoding = item.encoding if display is None else item.display_encoding
        if preset is not None:
            result, lost = item.run(of_the_sample, gpu, pixels, decoding, encoding)
        else:
            exposed, metered = replace(params, exposure=stops or 0.0), stops is None
            operation = partial(bloom.bloom_pixels, metered=metered, kernel=weights(gpu))
            result, lost = item.run(operation, gpu, pixels, exposed, decoding, encoding, display)
        if display is None:
            item.save_pixels(result, lost)
        else:
            item.save_pixels(result, lost, item.display_dtype, colour=item.display_colour)

    process(shared, "bloom", work, also_read=[kernel] if kernel else [])
