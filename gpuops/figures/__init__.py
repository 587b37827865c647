"""The figures by which pictures are compared: each module here declares some, and nothing else names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules

from ..figure import Figure

# The order in which figures are told; those of other modules follow by their names.
_ORDER = ("errors", "ssim", "flip", "delta_e", "ssimulacra2", "pixelmatch", "within_radius", "z_test", "pu21")


def _declared() -> dict[str, Figure]:
    names = {module.name for module in iter_modules(__path__)}
    ordered = [*_ORDER, *sorted(names.difference(_ORDER))]
    modules = [import_module(f".{name}", __name__) for name in ordered]
    return {figure.name: figure for module in modules for figure in module.FIGURES}


#: Every figure by its name.
FIGURES = _declared()
#: Figures by the names of their thresholds.
LIMITS = {figure.option: figure for figure in FIGURES.values()}


def worst_of(measured: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the worst value of each figure in several comparisons. NaN is the worst."""
    worst: dict[str, float] = {}
    for figures in measured:
        for name, value in figures.items():
            if name not in worst or FIGURES[name].worse(value, worst[name]):
                worst[name] = value
    return worst
