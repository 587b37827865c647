"""Tone mapping: metering, exposure, an operator, and a display's signal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..gpu import Gpu
from ..image import Image
from ..metrics.statistics import Statistics, all_statistics, statistics
from ..notes import finding, tally
from ..operands import check_colours
from ..operation import Measure, Params, Together
from ..params.exposure import MAX_STOPS
from ..params.lut import LutParams
from ..params.operators import LOCAL
from ..params.region import Region
from ..params.tonemap import TonemapParams
from ..params.white_balance import GRAY_WORLD
from ..pixels import blue_noise
from ..pixels.coding import Decoding, Encoding, pack
from ..pixels.conversion import conversion, converted
from ..pixels.pointwise import Stage, reading, writing
from ..pixels.regions import cut, cut_of_part
from ..records import dataclass
from . import local, lut, operators, white_balance


def tonemap(gpu: Gpu, image: Image, params: TonemapParams, stages: Sequence[Stage] = ()) -> Image:
    """Maps linear light, which goes through ``stages`` first, to a display's signal.

    The result is finite whatever the input holds: NaN and negative light become 0, infinite light becomes the
    operator's brightest value; a GpuopsWarning counts such pixels. Values above 1 are not clipped: the function that
    stores the result does that. Gray is treated as R = G = B; alpha passes through. The result's ``linear`` says
    whether it is light or a signal.

    Reads the image once for metering where the parameters need it, and once to map it. Memory beside the input: the
    result; before that, a copy of the region that is metered, and for local operators also the memory that
    :mod:`gpuops.tone.local` describes.

    Raises
    ------
    ParameterError
        The image is neither gray nor RGB, or gray and to be balanced, or does not contain the meter's region.
    """
    image.check_planar()
    result, _ = mapped(gpu, image, params, stages=stages)
    result.linear = params.transfer == "linear"
    return result


def tonemap_pixels(
    gpu: Gpu, pixels: Image, params: TonemapParams, decoding: Decoding, encoding: Encoding
) -> tuple[Image, Image]:
    """Does :func:`tonemap` from pixels (height, width, channels) of a file's depth to such pixels, all on the device.

    ``encoding`` is applied after the transfer of ``params``. Also returns the counters of values that did not fit: see
    :func:`gpuops.pixels.coding.losses`. Memory beside the input: the result.
    """
    return mapped(gpu, pixels, params, decoding, encoding)


def tonemap_premultiplied(
    gpu: Gpu, image: Image, params: TonemapParams, encoding: Encoding
) -> tuple[Image, Image]:
    """Does :func:`tonemap_pixels` for a planar Image, whose colours are premultiplied if ``encoding`` unpremultiplies.

    Operators are curves and take straight colours, so colours are divided by alpha before, not after. Memory beside
    input and result: a copy of the input.
    """
    straight, _ = pack(image, Encoding(np.dtype(np.float32), unpremultiply=encoding.unpremultiply))
    encoding = replace(encoding, unpremultiply=False)
    return tonemap_pixels(gpu, straight, params, Decoding(image.alpha), encoding)


def _split(image: Image) -> tuple[Image, Image]:
    """Returns the planes of light, in their own memory, and the gains."""
    planes, height, width = image.shape
    shape = planes - 1, height, width
    light = Image(image.gpu, image.buffer, shape, image.dtype, alpha=image.alpha, space=image.space)
    light.part, light.orientation = image.part, image.orientation
    return light, image.planes(slice(planes - 1, planes))


def mapped(
    gpu: Gpu,
    source: Image,
    params: TonemapParams,
    decoding: Decoding | None = None,
    encoding: Encoding | None = None,
    stages: Sequence[Stage] = (),
) -> tuple[Image, Image]:
    """Returns the result, and the counters of values that did not fit.

    The source is pixels with a ``decoding``, or planes of straight colours without one; the result is pixels with an
    ``encoding``, or planes without one. All that is read goes through the ``stages`` first.
    """
    if params.transfer == "auto":
        params = replace(params, transfer="srgb")
    gains = None
    if params.gained:
        source, gains = _split(source)
    ways = reading(gpu, source, decoding, stages=stages)
    channels, colours = ways.channels, ways.colours
    check_colours(colours, channels, "tone mapping")
    params = white_balance.resolved(gpu, source, params, decoding, stages)
    balance = white_balance.known(params.white_balance)
    exposure, p = _levels(gpu, source, params, decoding, stages)
    transfer = params.transfer
    hue = params.gamut == "hue" and colours == 3
    table = params.operator if isinstance(params.operator, LutParams) else None
    if table and not hue:  # keeping the hue works on light
        table, transfer, decoding, encoding = lut.in_signals(
            table, transfer, decoding, encoding,
            as_it_is=exposure == 1 and balance is None and not stages, colours=colours,
        )  # fmt: skip
        ways = reading(gpu, source, decoding, stages=stages)
    if gains is None and isinstance(params.operator, str) and params.operator in LOCAL:
        light = local.Light(source, exposure, balance, decoding, stages)
        gains = local.OPERATORS[params.operator](gpu, light, **local.arguments(params))
    size, width = math.prod(source.shape) // channels, source.shape[1 if decoding else 2]
    sources, defines, codes = writing(gpu, size, ways, encoding, alpha=channels > colours)
    native, dithers = gpu.limits.native, params.dither is not None
    noise = blue_noise.on_device(gpu, params.seed) if dithers and params.noise == "blue" else None
    operator = ("tonemap_operators", "lut") if table else ("tonemap_operators",)
    kernel = gpu.kernel(
        (*ways.sources, *operator, "tonemap_light", *sources, "dither", "tonemap"), "tonemap",
        OPERATOR=operators.function_of(params.operator), LUMINANCE=operators.luminance_of(source.space),
        UP_TO_1=(hue or params.operator in operators.CLIPPED) and transfer == "linear", KEEP_HUE=hue,
        GAINS=gains is not None, NATIVE=native, FINITE=not native and not ways.by_formula, DENORMS_ARE_ZERO=native,
        SRGB=transfer == "srgb", GAMMA=transfer == "gamma", PQ=transfer == "pq", DITHER=dithers,
        BALANCE=balance is not None, BLUE=blue_noise.SIZE if noise is not None else None, **ways.defines, **defines,
        **(lut.defines(table) if table else {}),
    )  # fmt: skip
    lost, repaired = gpu.zeros((2,), np.uint32), gpu.zeros((3,), np.uint32)
    if encoding is None:
        result = source.like()
    else:
        height = source.shape[0] if decoding else source.shape[1]
        result = gpu.empty((height, width, channels), encoding.dtype)
    group = kernel.fit(1 if gpu.limits.is_cpu else 256)
    items, times = ways.times(gpu, size, group[0])
    before = np.uint32((source.part.first if source.part else 0) * width % 2**32)
    gpu.launch(
        kernel, (items,), source, result, size, width, before, times, exposure, p, float(params.gamma),
        1.0 / params.dither if params.dither else 0.0, np.uint32(params.seed), *ways.arguments, codes, lost, repaired,
        noise, lut.on_device(gpu, table) if table else None, gains, white_balance.rows(balance), local=group,
        label=f"tonemap {params.operator}",
    )  # fmt: skip
    warn_of_repairs(*(int(n) for n in repaired.numpy()))
    return result, lost


def measure(params: TonemapParams) -> Measure | None:
    """Returns the next figures of a whole picture that the parameters need, if its rows come in parts."""
    if params.white_balance == GRAY_WORLD:
        return Measure(
            partial(_means, region=params.meter_region),
            lambda measured: (replace(params, white_balance=white_balance.gray_world(measured.means)),),
        )
    if params.exposure is None:
        return Measure(partial(_of_part, params=params), partial(_exposed, params))
    if operators.needs_scene(params):
        of_all = replace(params, meter_region=None)
        return Measure(partial(_of_part, params=of_all), partial(_resolved, params))
    if params.operator in LOCAL:
        return Measure(None, lambda _none: local.steps(params))
    return None


def _of_part(gpu: Gpu, image: Image, _first: int, _end: int, params: TonemapParams) -> Statistics | None:
    part = cut_of_part(image, params.meter_region)
    return None if part is None else _measured(gpu, part, replace(params, meter_region=None))


def _exposed(params: TonemapParams, measured: Statistics) -> tuple[TonemapParams, ...]:
    """Returns parameters with the exposure that was measured."""
    params = replace(params, exposure=_told(_stops(measured, params)))
    if operators.needs_scene(params) and params.meter_region is None:
        return _resolved(params, measured)
    return (params,)


def _resolved(params: TonemapParams, measured: Statistics) -> tuple[TonemapParams, ...]:
    """Returns parameters with values for all that the scene decides."""
    assert params.exposure is not None
    return (operators.resolved(params, operators.Scene.of(measured), 2.0**params.exposure),)


@dataclass(frozen=True)
class _Means:
    """The statistics of channels, which can be added."""

    channels: tuple[Statistics, ...]

    @property
    def means(self) -> list[float]:
        return [one.mean for one in self.channels[:3]]

    def __add__(self, other: _Means) -> _Means:
        return _Means(tuple(a + b for a, b in zip(self.channels, other.channels, strict=True)))


def _means(gpu: Gpu, image: Image, _first: int, _end: int, region: Region | None) -> _Means | None:
    white_balance.check_coloured(image.colours)
    part = cut_of_part(image, region)
    return None if part is None else _Means(all_statistics(gpu, part, histogram=False)[1])


def exposure(gpu: Gpu, image: Image, params: TonemapParams) -> float:
    """Returns the factor that brings the metered luminance of ``image`` to the key; 1 where no pixel is lit.

    Raises ParameterError as :func:`tonemap`.
    """
    params = white_balance.resolved(gpu, image, params, None)
    return _factor(_measured(gpu, image, params), params)


def stops_of_pixels(gpu: Gpu, pixels: Image, decoding: Decoding) -> float:
    """Returns :func:`exposure` by the default meter, in stops, for the light of pixels (height, width, channels).

    Their colours are metered straight, as :func:`stops` has them: those under alpha 0 are black if ``decoding``
    premultiplies. The exposure of an absurd image is clipped to the range that parameters allow.
    """
    premultiplied = replace(pixels.space, premultiplied=decoding.premultiply)
    straight, _ = conversion(premultiplied, premultiplied.colour, alpha=decoding.alpha, premultiplied=False)
    params, stages = TonemapParams(), [straight] if straight else []
    return _told(_stops(_measured(gpu, pixels, params, decoding, stages), params))


def stops(gpu: Gpu, image: Image) -> float:
    """Returns the same for planes of light, multiplied by alpha or not."""
    return _told(_stops(_straight(gpu, image), TonemapParams()))


def stops_by_rows(then: Callable[[float], Params]) -> Measure:
    """Returns the measure of the same, where rows come in parts; ``then`` gives the parameters that it is for."""
    return Measure(
        lambda gpu, image, _first, _end: _straight(gpu, image),
        lambda measured: (then(_told(_stops(measured, TonemapParams()))),),
    )


def _straight(gpu: Gpu, image: Image) -> Statistics:
    """Returns what the default meter reads of light, multiplied by alpha or not."""
    straight = converted(image, image.space.colour, premultiplied=False)
    return _measured(gpu, straight, TonemapParams())


def _stops(measured: Statistics, params: TonemapParams) -> float:
    """Returns the exposure in stops, clipped to the range that parameters allow."""
    return min(max(math.log2(_factor(measured, params)), -MAX_STOPS), MAX_STOPS)


def _told(stops: float) -> float:
    """Reports the exposure that an image was metered for, in stops, and returns it."""
    finding(f"exposure {stops:+.3f} stops, metered", {"exposure": stops}, detail=True)
    return stops


def _measured(
    gpu: Gpu,
    source: Image,
    params: TonemapParams,
    decoding: Decoding | None = None,
    stages: Sequence[Stage] = (),
) -> Statistics:
    part = cut(source, params.meter_region, interleaved=decoding is not None, alpha=bool(stages))
    return statistics(
        gpu, part, decoding=decoding, stages=stages, centre=params.meter == "center",
        weights=white_balance.weights(params.white_balance, source.space.colour.luminance),
        histogram=params.meter == "histogram" or operators.needs_scene(params),
        method="tiles" if params.method == "local" else params.method,
    )  # fmt: skip


def _factor(measured: Statistics, params: TonemapParams) -> float:
    if params.meter == "histogram":
        level = measured.trimmed_log_mean(*params.percentiles)
    else:
        level = getattr(measured, {"center": "centre_mean"}.get(params.meter, params.meter.replace("-", "_")))
    if not level > 0:  # black, or nothing that could be read
        return 1.0
    # This keeps it within float32 for any image: 2**±100 is beyond any light.
    return min(max(params.key / level, 2.0**-100), 2.0**100)


def _levels(
    gpu: Gpu, source: Image, params: TonemapParams, decoding: Decoding | None, stages: Sequence[Stage]
) -> tuple[float, operators.Vector]:
    """Returns the exposure's factor, and the operator's vector p."""
    measured = None
    if params.exposure is not None:
        scale = 2.0**params.exposure
    else:
        measured = _measured(gpu, source, params, decoding, stages)
        scale = _factor(measured, params)
        _told(math.log2(scale))
    if operators.needs_scene(params):
        if measured is None or params.meter_region is not None:  # the whole image has not been read
            measured = _measured(gpu, source, replace(params, meter_region=None), decoding, stages)
        params = operators.resolved(params, operators.Scene.of(measured), scale)
    return scale, operators.vector(params)


def warn_of_repairs(nan: int, infinite: int, negative: int) -> None:
    """Gives one warning for all pixels whose light had to be repaired."""
    tally(
        "pixels repaired before tone mapping: {} (NaN and negative light became black, infinite light white)",
        {"NaN": nan, "infinite": infinite, "negative": negative},
    )


# -- sequences, whose exposure depends on what all images are metered for ------------------------------------------


def _of_sequence(params: TonemapParams, stops: float) -> TonemapParams:
    """Returns parameters with this exposure, and without what no longer has an effect."""
    usual = {name: getattr(TonemapParams, name) for name in ("meter", "key", "percentiles")}
    if params.white_balance != GRAY_WORLD:
        usual["meter_region"] = None
    exposed = replace(params, exposure=stops, **usual)
    needless = params.white_balance != GRAY_WORLD and not operators.needs_scene(exposed)
    return replace(exposed, method="auto") if needless else exposed


def together(params: TonemapParams) -> Together | None:
    """Says how the images of a sequence are exposed together; None where each is exposed alone."""
    sequence = params.sequence
    if sequence is None:
        return None

    def settled(measured: Sequence[Any]) -> list[Params]:
        metered = [None if one is None else one.exposure for one in measured]
        return [_of_sequence(params, stops) for stops in sequence.means(metered)]

    return Together(
        replace(params, sequence=None),
        lambda measured: measured.exposure is not None,
        settled,
        "exposure",
        "stops",
    )
