"""Local tone mapping operators: a gain for every pixel that depends on its surroundings, in place of one curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..filters import bilateral_grid
from ..filters.blur import blur, reach
from ..gpu import Argument, Gpu
from ..image import Image
from ..metrics.statistics import Statistics, statistics
from ..operands import check_colours
from ..operation import Measure, Operation, Params, Pass, Traits
from ..params.blur import BlurParams
from ..params.operators import WRAPPING
from ..params.tonemap import TonemapParams
from ..pixels.coding import Decoding
from ..pixels.pointwise import Stage, reading
from ..pixels.primaries import Matrix
from ..records import dataclass
from ..rows.window import with_halo
from . import white_balance

Shape = tuple[int, int, int]

# The number of scales of reinhard-local.
_SCALES = 8
# The ratio of one scale to the next.
_RATIO = 1.6
# The log-mean at which Durand's brightest base is 1.
_MIDDLE = 0.18
# The luminance after exposure from which light counts as infinite; infinite blue light alone reaches it.
_BEYOND = 2.0**56
# The largest luminance after exposure that counts as black in logarithms.
_DARKEST = 2.0**-40
# Bytes for each value of the light in memory beside it, for putting it together with the gains, which need four planes.
_BYTES_PER_VALUE = 20.0


def arguments(params: TonemapParams) -> dict[str, Any]:
    """Returns the parameters of the local operator that tone mapping names, all of which have values."""
    values: dict[str, Any] = {name: params.value(name) or 0.0 for name in params.known}
    return {**values, "border": params.border} if params.operator in WRAPPING else values


@dataclass(frozen=True)
class Light:
    """Linear Rec. 709 light, gray or RGB. NaN and negative light count as black; alpha has no part in it.

    Attributes
    ----------
    source : Image
        Planes, or with a ``decoding`` pixels (height, width, channels).
    exposure : float
        The factor that the light is multiplied by.
    balance : array (3, 3), optional
        The matrix of :func:`gpuops.tone.white_balance.matrix`, which the light of an RGB image goes through after that.
    stages
        What the light goes through first of all.
    """

    source: Image
    exposure: float = 1.0
    balance: Matrix | None = None
    decoding: Decoding | None = None
    stages: Sequence[Stage] = ()

    @property
    def plane(self) -> tuple[int, int, int]:
        """The shape of a plane."""
        height, width = self.source.shape[:2] if self.decoding else self.source.shape[1:]
        return 1, height, width

    def to(self, gpu: Gpu, name: str, images: tuple[Image, ...], *scalars: Argument) -> None:
        """Launches one of tonemap_surroundings.cl's kernels, which writes planes."""
        ways = reading(gpu, self.source, self.decoding, stages=self.stages, colours_only=True)
        check_colours(ways.colours, self.source.shape[2 if self.decoding else 0], "tone mapping")
        size = math.prod(self.plane)
        gpu.compute(
            (*ways.sources, "tonemap_operators", "tonemap_light", "tonemap_surroundings"), name,
            (-(-size // ways.at_once),), self.source, *images, size, float(self.exposure), *scalars, *ways.arguments,
            white_balance.rows(self.balance), group=1 if gpu.limits.is_cpu else 256, label=f"tonemap {name}",
            traffic=ways.nbytes + sum(image.nbytes for image in images), BALANCE=self.balance is not None,
            **ways.defines,
        )  # fmt: skip


def reinhard_local(
    gpu: Gpu,
    light: Light,
    *,
    key: float = 0.18,
    phi: float = 8.0,
    threshold: float = 0.05,
    border: str = "reflect",
) -> Image:
    """Dodging and burning: 1/(1 + V(s)), V(s) being the luminance around a pixel at the largest scale s of even light.

    Light is even up to s where at every scale up to it |V(s) − V(1.6 s)| < threshold · (2^phi · key / s² + V(s)).
    Scales are 1.6^0 … 1.6^7, so that the widest surround, of s = 43, is the ninth; V(s) is a Gaussian's mean with
    σ = s/4, which is the paper's exp(−r²/(α s)²) with α = 1/(2√2). Where light is not even at the smallest scale, that
    one stands. The paper's words for s are the *first* scale below the threshold; its meaning is the largest
    neighbourhood without strong contrast.

    In the paper ``key`` is also the value that exposure brings the log mean to. Here it is independent of exposure, so
    that a result depends on the exposure and not on how it was found; ``key`` counts only as 2^phi · key.

    ``border`` is a name of :data:`gpuops.params.border.BORDERS`, for the light beyond the edges.

    Memory: four planes at a time, the gain among them, and a fifth where a blur needs it. There are nine blurs, which
    take about the same time for any σ, and nine more launches.

    Source: Reinhard, Stark, Shirley, Ferwerda, "Photographic Tone Reproduction for Digital Images", SIGGRAPH 2002,
    section 3.2.
    """
    luminance, result = gpu.empty(light.plane), gpu.empty(light.plane)
    luminance.part = light.source.part
    light.to(gpu, "surroundings", (luminance, result), _BEYOND)

    def around(scale: int) -> Image:
        return blur(gpu, luminance, _around(scale, border))

    centre = around(0)
    for scale in range(_SCALES):
        surround = around(scale + 1)
        sharpening = 2.0**phi * key / _RATIO ** (2 * scale)
        ends = -int(scale == 0), -int(scale == _SCALES - 1)
        _launch(gpu, "dodge", (centre, surround, result), sharpening, float(threshold), *ends)
        centre = surround
    return result


def _around(scale: int, border: str) -> BlurParams:
    """Returns the Gaussian of a scale."""
    sigma = _RATIO**scale / 4
    return BlurParams(sigma=(sigma, sigma), border=border)


def halo_of_reinhard(gpu: Gpu, shape: tuple[int, int, int], border: str) -> float:
    """Returns how many rows above and below a gain of :func:`reinhard_local` depends on."""
    return max(reach(gpu, (1, *shape[1:]), _around(scale, border)).rows for scale in range(_SCALES + 1))


def durand(
    gpu: Gpu,
    light: Light,
    *,
    base_contrast: float = 50.0,
    shadows: float = 1.0,
    highlights: float = 0.1,
    sigma_spatial: float = 0.02,
    sigma_color: float = 0.4,
) -> Image:
    """Reduces the contrast of an image's base and keeps its detail.

    The base is the bilateral filter of log10 luminance, by :mod:`gpuops.filters.bilateral_grid`, with ``sigma_spatial``
    as a share of the longer side and ``sigma_color`` in decades. The base's contrast, its brightest value over its
    darkest, becomes ``base_contrast`` where it is more; its brightest value becomes 1. The darkest ``shadows`` percent
    and the brightest ``highlights`` percent of the base's pixels do not count for these two values, to a quarter of a
    stop, and keep the contrast that they have: with 0, as in the paper, noise in black or a small sun makes all else
    flat and dark.

    By itself this does not depend on the exposure, as a factor leaves differences of logarithms as they are. So the
    exposure counts through the log mean of the luminance: where that is 0.18, as metering makes it, the brightest base
    is 1, and each stop more makes the result a stop brighter.

    Memory: the gain's plane and twice a grid, whose size does not depend on the image's: at most 8 MB for ten stops.
    There are about ten launches; the host reads sums twice on the way.

    Source: Durand, Dorsey, "Fast Bilateral Filtering for the Display of High-Dynamic-Range Images", SIGGRAPH 2002.
    """
    how = Durand(base_contrast, shadows, highlights, sigma_spatial, sigma_color)
    base = logarithms(gpu, light)
    survey = Survey.of(how, statistics(gpu, base, histogram=False), light.plane)
    if survey.grid is not None:
        cells = gpu.zeros(survey.grid.shape)
        bilateral_grid.splat(gpu, base, survey.grid, cells)
        survey = replace(survey, cells=bilateral_grid.blurred(gpu, cells, survey.grid))
    to_base(gpu, base, survey)
    compress(gpu, base, replace(survey, base=statistics(gpu, base)))
    return base


@dataclass(frozen=True)
class Durand:
    """The parameters of :func:`durand`."""

    base_contrast: float
    shadows: float
    highlights: float
    sigma_spatial: float
    sigma_color: float


@dataclass(frozen=True)
class Survey:
    """What Durand's operator has found out about a whole picture, one thing after the other.

    Attributes
    ----------
    offset : float, optional
        The mean logarithm of the picture's luminance over that of middle gray.
    grid, cells : Grid, Image
        The grid of the bilateral filter, and its blurred cells; there is none where nothing is lit.
    base : Statistics
        The base's statistics.
    """

    how: Durand
    offset: float | None = None
    grid: bilateral_grid.Grid | None = None
    cells: Image | None = None
    base: Statistics | None = None

    @classmethod
    def of(cls, how: Durand, logs: Statistics, size: tuple[int, ...]) -> Survey:
        """Returns what is known from the logarithms' statistics, for planes of this size."""
        if not logs.finite:
            return cls(how, 0.0)
        sigmas = max(1.0, how.sigma_spatial * max(size)), how.sigma_color * math.log2(10)
        grid = bilateral_grid.Grid.of(size[-2:], *sigmas, logs.minimum, logs.maximum)
        return cls(how, logs.mean - math.log2(_MIDDLE), grid)


def logarithms(gpu: Gpu, light: Light) -> Image:
    """Returns the plane of binary logarithms of luminance."""
    plane = gpu.empty(light.plane)
    plane.part = light.source.part
    light.to(gpu, "logarithms", (plane,), _DARKEST, _BEYOND)
    return plane


def to_base(gpu: Gpu, logs: Image, survey: Survey) -> None:
    """Replaces logarithms by the base's luminance."""
    if survey.grid is not None:
        assert survey.cells is not None
        bilateral_grid.slice_(gpu, logs, survey.grid, survey.cells, logs)
    _launch(gpu, "exponentials", (logs,))


def compress(gpu: Gpu, base: Image, survey: Survey) -> None:
    """Replaces the base by each pixel's gain."""
    assert survey.base is not None and survey.offset is not None
    lowest, highest = _ends(survey.base, survey.how.shadows, survey.how.highlights)
    compression = min(1.0, math.log2(survey.how.base_contrast) / max(highest - lowest, 1e-6))
    _launch(gpu, "compress", (base,), compression, lowest, highest, survey.offset, _BEYOND)


def _ends(base: Statistics, shadows: float, highlights: float) -> tuple[float, float]:
    """Returns the logarithms of the base's darkest and brightest values without these percents; 0 if nothing is lit."""
    if not base.finite:
        return 0.0, 0.0
    least, most = base.minimum, base.maximum
    lowest = max(least, base.percentile(shadows)) if shadows else least
    highest = min(most, base.percentile(100 - highlights)) if highlights else most
    return math.log2(min(lowest, most)), math.log2(max(highest, least))


#: The operators: of light they make the factor for each pixel's light, (1, height, width), finite and positive.
#: Infinite light has no part in the surroundings of other pixels, and becomes white.
OPERATORS: dict[str, Callable[..., Image]] = {"reinhard-local": reinhard_local, "durand": durand}


def _launch(gpu: Gpu, name: str, images: tuple[Image, ...], *scalars: float) -> None:
    """Launches one of tonemap_local.cl's kernels, which writes the last of the planes in place."""
    size, per_item = math.prod(images[0].shape), gpu.limits.lanes
    gpu.compute(
        ("lanes", "tonemap_local"), name, (-(-size // per_item),), *images, size, *scalars, group=256,
        label=f"tonemap {name}", traffic=4 * size * (len(images) + 1), WIDTH=per_item,
    )  # fmt: skip


# -- by rows: a step that puts a plane of gains behind the others ---------------------------------------------------


def steps(params: TonemapParams) -> tuple[Params, ...]:
    """Returns the steps that do what a local operator does, whose exposure and white balance are known."""
    own = arguments(params)
    survey = Survey(Durand(**own)) if params.operator == "durand" else None
    return Gains(params, own, survey), replace(params, gained=True)


@dataclass(frozen=True, eq=False)
class Gains(Params):
    """Put a plane of gains behind the others.

    Attributes
    ----------
    params : TonemapParams
        The tone mapping that they are for.
    own : dict
        The parameters of its operator.
    survey : Survey, optional
        What Durand's operator knows of the whole picture so far.
    """

    params: TonemapParams
    own: dict[str, Any]
    survey: Survey | None


def _gains(gpu: Gpu, image: Image, gains: Gains) -> Image:
    light = _light(image, gains)
    if gains.survey is None:
        plane = reinhard_local(gpu, light, **gains.own)
    else:
        plane = logarithms(gpu, light)
        to_base(gpu, plane, gains.survey)
        compress(gpu, plane, gains.survey)
    planes, height, width = image.shape
    result = image.like((planes + 1, height, width))
    result.put(slice(0, planes), image)
    result.put(slice(planes, planes + 1), plane)
    return result


def _light(image: Image, gains: Gains) -> Light:
    params = gains.params
    assert params.exposure is not None
    return Light(image, 2.0**params.exposure, white_balance.known(params.white_balance))


def _measure(gpu: Gpu, shape: Shape, gains: Gains) -> Measure | None:
    """The statistics of logarithms, then the grid's cells, then the statistics of the base."""
    survey = gains.survey
    if survey is None or survey.base is not None:
        return None

    def known(survey: Survey) -> tuple[Params, ...]:
        return (replace(gains, survey=survey),)

    if survey.offset is None:
        return Measure(
            lambda gpu, image, _first, _end: statistics(gpu, _logarithms(gpu, image, gains), histogram=False),
            lambda logs: known(Survey.of(survey.how, logs, shape)),
        )
    if survey.grid is not None and survey.cells is None:
        grid = survey.grid
        cells = gpu.zeros(grid.shape)
        return Measure(
            lambda gpu, image, *_rows: bilateral_grid.splat(gpu, _logarithms(gpu, image, gains), grid, cells),
            lambda _none: known(replace(survey, cells=bilateral_grid.blurred(gpu, cells, grid))),
        )

    def of_base(gpu: Gpu, image: Image, _first: int, _end: int) -> Any:
        plane = _logarithms(gpu, image, gains)
        to_base(gpu, plane, survey)
        return statistics(gpu, plane)

    return Measure(of_base, lambda base: known(replace(survey, base=base)))


def _logarithms(gpu: Gpu, image: Image, gains: Gains) -> Image:
    return logarithms(gpu, _light(image, gains))


def _passes(gpu: Gpu, shape: Shape, gains: Gains) -> tuple[Pass, ...]:
    planes, height, width = shape
    halo = 0 if gains.survey else int(halo_of_reinhard(gpu, shape, gains.params.border))
    result = planes + 1, height, width
    return (with_halo(result, halo, lambda gpu, image: _gains(gpu, image, gains), _BYTES_PER_VALUE),)


def _fixed_bytes(_gpu: Gpu, _shape: Shape, gains: Gains) -> float:
    """The bytes of a grid, and of the copy that is made when it is blurred."""
    grid = gains.survey and gains.survey.grid
    return 2 * 4.0 * math.prod(grid.shape) if grid else 0.0


OPERATION = Operation(
    "tonemap",
    Gains,
    _gains,
    traits=Traits(rec709=True),
    passes=_passes,
    fixed_bytes=_fixed_bytes,
    measure=_measure,
)
