"""clpix dwt."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

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
    from gpuops.dwt.keep import Kept
    from gpuops.dwt.parts import HostBand
    from gpuops.dwt.rows import PixelSink
    from gpuops.dwt.stored import Stored
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.pixels import Decoding, Encoding, Losses

    from .item import Item

DEFAULT_LEVELS = 5


@click.command(short_help="image → wavelet coefficients, or a picture of them")
@options.inputs
@options.output
@options.device_memory
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
    metavar="MODE",
    help=f"What stands beyond the border, by PyWavelets' names: {', '.join(MODES)}. Default: mirror, "
    "JPEG 2000's, which has as many coefficients as pixels; symmetric for wavelets without lifting steps.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--integer", is_flag=True, help="The reversible transform of 8- or 16-bit levels to whole numbers."
)
@click.option(
    "--threshold",
    metavar="T|ESTIMATE[:F]",
    help="Shrink the details by T, or as an estimate from the noise says, visu or bayes (times F).",
)
@click.option(
    "--shrink",
    type=click.Choice(SHRINKS),
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

    from gpuops.dwt import stored, transform
    from gpuops.errors import FileError, GpuopsWarning
    from gpuops.pixels import on_device

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        stored_pixels, decoding = item.read_pixels(linear=False)
        height, width, planes = stored_pixels.shape
        shape = height, width
        if integer and stored_pixels.dtype.kind != "u":
            raise FileError(f"{item.path}: --integer needs 8- or 16-bit pixels, not {stored_pixels.dtype}")
        if params.levels is None:
            chosen = replace(params, levels=min(DEFAULT_LEVELS, transform.max_levels(shape, params)))
            if chosen.levels == 0 and shrinking is not None:
                warnings.warn(
                    f"{item.path}: {shape[0]}×{shape[1]} pixels are too few for a level that could be shrunk",
                    GpuopsWarning,
                    stacklevel=1,
                )
        else:
            chosen = params
            transform.warn_of_levels(shape, params)
        description = _description(item, (planes, *shape), chosen, alpha=decoding.alpha)
        plain = item.writes_data and not (reconstruct or shrinks or keeping)
        if not stored.fits(gpu, description, overwrite_input=plain and item.once):
            in_slabs = _InSlabs(item, gpu, stored_pixels, decoding, description)
            if keeping is not None:
                in_slabs.keep(keeping, reconstruct, as_json)
            elif reconstruct:
                assert shrinking is not None
                in_slabs.denoise(shrinking, cycle_spins or 1)
            else:
                in_slabs.transform(shrinking)
            return
        pixels = on_device(gpu, stored_pixels)
        del stored_pixels
        image = item.unpacked(pixels, decoding)
        if keeping is not None:
            _keep(item, pixels, image, description, keeping, reconstruct, as_json)
        elif reconstruct:
            assert shrinking is not None
            item.save(item.run(_denoise, image, chosen, shrinking, cycle_spins or 1))
        elif item.writes_data:
            del pixels
            pack = partial(stored.pack, overwrite_input=item.once)
            arrays = item.run(pack, image, description, shrinking)
            item.save_data(arrays, description.attributes(), compress=shrinking is not None)
        else:
            item.save(item.run(_picture, image, chosen, shrinking, pixels.dtype.name), _depth(pixels))

    process(shared, "dwt", work, check=check)


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


def _description(item: Item, shape: tuple[int, int, int], params: DwtParams, *, alpha: bool) -> Stored:
    from gpuops.dwt import stored

    assert item.picture is not None
    return stored.Stored(params, shape, item.picture.pixels.dtype.name, alpha, item.linear)


@dataclass
class _InSlabs:
    """What is done to an image that the device has no room for."""

    item: Item
    gpu: Gpu
    pixels: Any
    decoding: Decoding
    about: Stored

    def transform(self, shrinking: ShrinkParams | None) -> None:
        """Writes the coefficients, or a picture of them."""
        from gpuops.dwt import stored

        item = self.item
        if item.writes_data:
            pack = partial(stored.pack_split, shrinking=shrinking)
            arrays = item.run(pack, self.gpu, self.pixels, self.decoding, self.about)
            item.save_data(arrays, self.about.attributes(), compress=shrinking is not None)
        else:
            self._save_picture(*item.run(self._painted, shrinking))

    def denoise(self, shrinking: ShrinkParams, spins: int) -> None:
        """Writes the image of shrunk coefficients."""
        from gpuops.dwt.denoise import denoise_split

        sink = self.item.run(
            denoise_split,
            self.gpu,
            self.pixels,
            self.decoding,
            self.about,
            shrinking,
            self._encoding(),
            spins,
        )
        self._save(sink)

    def keep(self, keeping: KeepParams, reconstruct: bool, as_json: bool) -> None:
        """Writes what is kept, and tells of it."""
        from gpuops.dwt import keep, pyramid, stored

        item, about = self.item, self.about

        def restored(found: list[HostBand], encoding: Encoding) -> PixelSink:
            arrays = {name: band.array for name, band in zip(about.names(), found, strict=True)}
            return stored.pixels_of(self.gpu, arrays, about, encoding, alpha=about.alpha)

        def work() -> tuple[list[HostBand], keep.Kept, float]:
            found = stored.coefficients_split(self.gpu, self.pixels, self.decoding, about)
            kept = keep.keep_on_host(found, keeping)
            ours = restored(found, keep.depth_of(self.pixels.dtype, linear=about.linear)).pixels
            linear = item.picture is not None and item.picture.linear
            return found, kept, keep.psnr_split(self.gpu, self.pixels, ours, alpha=about.alpha, linear=linear)

        found, kept, psnr = item.run(work)
        if reconstruct:
            self._save(item.run(restored, found, self._encoding()))
        elif item.writes_data:
            item.save_data(stored.named(found, about), about.attributes(), compress=True)
        else:
            self._save_picture(*item.run(pyramid.picture_split, found, self._encoding_of_picture()))
        _tell(item, kept, psnr, as_json)

    def _painted(self, shrinking: ShrinkParams | None) -> tuple[Any, Losses]:
        from gpuops.dwt import pyramid, shrink, stored, transform

        params = self.about.params
        found = stored.coefficients_split(self.gpu, self.pixels, self.decoding, self.about)
        if shrinking is not None:
            shrink.shrink_on_host(*transform.nested(found), params.wavelet, shrinking)
        return pyramid.picture_split(found, self._encoding_of_picture(), _white(params, self.about.dtype))

    def _encoding(self) -> Encoding:
        return self.item.encoding_of(self.about.dtype, linear=self.about.linear)

    def _encoding_of_picture(self) -> Encoding:
        return self.item.encoding_of(_depth(self.pixels), linear=False)

    def _save(self, sink: PixelSink) -> None:
        self.item.save_host(sink.pixels, sink.losses, self.about.dtype, alpha=self.about.alpha)

    def _save_picture(self, pixels: Any, lost: Losses) -> None:
        self.item.save_host(pixels, lost, _depth(self.pixels), alpha=False)


def _depth(pixels: Any) -> str:
    """Of a picture of the pyramid, whose values are shades in [0, 1] whatever the pixels' are."""
    return "uint16" if pixels.dtype.itemsize > 1 else "uint8"


def _picture(image: Image, params: DwtParams, shrinking: ShrinkParams | None, dtype: str) -> Image:
    from gpuops.dwt import bands, pyramid, shrink, stored

    samples = bands.to_levels(image, stored.WHITE[dtype]) if params.integer else image
    approximation, details = stored.coefficients(samples, params)
    if shrinking is not None:
        details = shrink.shrink(approximation, details, params.wavelet, shrinking)
    return pyramid.picture(approximation, details, _white(params, dtype))


def _white(params: DwtParams, dtype: str) -> float:
    """The brightest approximation, as in the image before any level: of whole numbers they grow."""
    from gpuops.dwt import stored
    from gpuops.dwt.wavelets import WAVELETS

    if not params.integer:
        return 1.0
    return WAVELETS[params.wavelet].growth ** (params.levels or 0) * stored.WHITE[dtype]


def _denoise(image: Image, params: DwtParams, shrinking: ShrinkParams, spins: int) -> Image:
    from gpuops.dwt.denoise import denoise

    return denoise(image.gpu, image, params, shrinking, spins=spins)


def _keep(
    item: Item,
    pixels: Image,
    image: Image,
    description: Stored,
    keeping: KeepParams,
    reconstruct: bool,
    as_json: bool,
) -> None:
    """Writes what is kept, and tells how many coefficients that is and how near they come."""
    from gpuops.dwt import keep, pyramid, stored

    params = description.params

    def work() -> tuple[Any, keep.Kept, float]:
        approximation, details, kept = keep.keep(*stored.coefficients(image, params), keeping)
        result = keep.restored(approximation, details, params, image)
        assert item.picture is not None
        psnr = keep.psnr(pixels, result, linear=item.picture.linear)
        if reconstruct:
            return result, kept, psnr
        if item.writes_data:
            return stored.pack_bands(approximation, details, description), kept, psnr
        return pyramid.picture(approximation, details), kept, psnr

    result, kept, psnr = item.run(work)
    if item.writes_data and not reconstruct:
        item.save_data(result, description.attributes(), compress=True)
    else:
        item.save(result, None if reconstruct else _depth(pixels))
    _tell(item, kept, psnr, as_json)


def _tell(item: Item, kept: Kept, psnr: float, as_json: bool) -> None:
    import json
    import math

    from .main import say, visible
    from .naming import STREAM, printable

    share = 100 * kept.kept / kept.coefficients
    if as_json:
        figures = {
            "input": printable(item.path),
            "output": printable(item.output),
            "kept": kept.kept,
            "coefficients": kept.coefficients,
            "threshold": kept.threshold,
            "psnr": psnr if math.isfinite(psnr) else str(psnr),
        }
        click.echo(json.dumps(figures, ensure_ascii=False))
    else:
        name = "stdout" if item.output == STREAM else printable(item.output)
        line = f"{name}: {kept.kept} of {kept.coefficients} coefficients kept ({share:.3g} %), PSNR {psnr:.2f} dB"
        (say if item.output == STREAM else click.echo)(visible(line))
