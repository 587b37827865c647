"""Gains of local operators where a picture's rows come in parts: a step that puts a plane of them behind the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..filters import bilateral_grid
from ..image import Image
from ..metrics.statistics import statistics
from ..operation import Measure, Operation, Params, Pass, Traits
from ..params.tonemap import TonemapParams
from ..rows.halo import with_halo
from . import local, white_balance

if TYPE_CHECKING:
    from ..gpu import Gpu

Shape = tuple[int, int, int]

# Bytes for each value of the light in memory beside it, for putting it together with the gains, which need four planes.
_BYTES_PER_VALUE = 20.0


def steps(params: TonemapParams) -> tuple[Params, ...]:
    """Returns the steps that do what a local operator does, whose exposure and white balance are known."""
    own = local.arguments(params)
    survey = local.Survey(local.Durand(**own)) if params.operator == "durand" else None
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
    survey: local.Survey | None


def _gains(gpu: Gpu, image: Image, gains: Gains) -> Image:
    light = _light(image, gains)
    if gains.survey is None:
        plane = local.reinhard_local(gpu, light, **gains.own)
    else:
        plane = local.logarithms(gpu, light)
        local.to_base(gpu, plane, gains.survey)
        local.compress(gpu, plane, gains.survey)
    planes, height, width = image.shape
    result = image.like((planes + 1, height, width))
    result.put(slice(0, planes), image)
    result.put(slice(planes, planes + 1), plane)
    return result


def _light(image: Image, gains: Gains) -> local.Light:
    params = gains.params
    assert params.exposure is not None
    return local.Light(image, 2.0**params.exposure, white_balance.known(params.white_balance))


def _measure(gpu: Gpu, shape: Shape, gains: Gains) -> Measure | None:
    """The statistics of logarithms, then the grid's cells, then the statistics of the base."""
    survey = gains.survey
    if survey is None or survey.base is not None:
        return None

    def known(survey: local.Survey) -> tuple[Params, ...]:
        return (replace(gains, survey=survey),)

    if survey.offset is None:
        return Measure(
            lambda gpu, image, _first, _end: statistics(gpu, _logarithms(gpu, image, gains), histogram=False),
            lambda found: known(local.Survey.of(survey.how, found, shape)),
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
        local.to_base(gpu, plane, survey)
        return statistics(gpu, plane)

    return Measure(of_base, lambda found: known(replace(survey, base=found)))


def _logarithms(gpu: Gpu, image: Image, gains: Gains) -> Image:
    return local.logarithms(gpu, _light(image, gains))


def _passes(gpu: Gpu, shape: Shape, gains: Gains) -> tuple[Pass, ...]:
    planes, height, width = shape
    halo = 0 if gains.survey else int(local.halo_of_reinhard(gpu, shape, gains.params.border))
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
