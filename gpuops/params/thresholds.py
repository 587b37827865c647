"""The thresholds within which a picture passes: those of idiff, by its names, and one for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields
from typing import NamedTuple

from ..errors import ParameterError, check_name
from ..figures import FIGURES, LIMITS
from ..records import dataclass
from .toml import nearest

#: The limit that no threshold loosens.
NOT_FINITE = "not-finite"


class Limit(NamedTuple):
    """A threshold that was missed, or that warns: its name, the figure, and the most or the least that is allowed."""

    name: str
    value: float
    limit: float

    @property
    def said(self) -> str:
        """What was measured, and what is allowed, in words."""
        name, _, of = self.name.partition(" of ")  # which may be a layer
        if name in LIMITS:
            kind = "needs" if LIMITS[name].higher else "allows"
            figure = f"{LIMITS[name].name} of {of}" if of else LIMITS[name].name
            return f"{figure} {self.value:.4g}, {name} {kind} {self.limit:g}"
        if name == NOT_FINITE:
            return f"NaN or infinities against other values: {self.value:.0f} pixels, and none passes"
        if name.endswith("percent"):
            return f"{self.value:.4g} % of the pixels are bad, {self.name} allows {self.limit:g}"
        if name in ("allowfailures", "warn"):
            bad = "1 pixel is bad" if self.value == 1 else f"{self.value:.0f} pixels are bad"
            return f"{bad}, {self.limit:g} are allowed"
        return f"an error of {self.value:.4g}, {self.name} allows {self.limit:g}"


@dataclass(frozen=True)
class Thresholds:
    """Limits that say what passes, what warns and what fails. Without any threshold only equal pictures pass.

    Errors are fractions of the full range. A value is bad if its error is above ``fail`` and, relative to the mean of
    both values' magnitudes, above ``failrelative``; a pixel counts once. More than ``allowfailures`` bad pixels fail if
    they are more than ``failpercent`` of all, and so does any error above ``hardfail``. What fails nothing may warn, by
    the same rule. A value that is NaN or infinite in one picture only fails whatever the thresholds are.

    Attributes
    ----------
    limits : dict
        By metric, the most that passes, or the least where more is better.
    """

    fail: float | None = None
    failrelative: float | None = None
    failpercent: float | None = None
    hardfail: float | None = None
    allowfailures: int | None = None
    warn: float | None = None
    warnrelative: float | None = None
    warnpercent: float | None = None
    hardwarn: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in NAMES:
            value, percent = getattr(self, name), name.endswith("percent")
            if value is not None and not 0 <= value <= (100 if percent else math.inf):
                raise ParameterError(f"{name} must be {'0 to 100' if percent else '0 or more'}, not {value}")
        if self.allowfailures is not None and self.allowfailures != int(self.allowfailures):
            raise ParameterError(f"allowfailures must be a whole number of pixels, not {self.allowfailures}")
        for metric, limit in self.limits.items():
            check_name("metric", metric, FIGURES)
            figure = FIGURES[metric]
            if math.isnan(limit):
                raise ParameterError(f"{figure.option} must be a number")
            if not figure.higher and limit < 0:
                raise ParameterError(f"{figure.option} must be 0 or more, not {limit:g}")
            if figure.worst is not None and figure.higher and limit > figure.best:
                raise ParameterError(f"{figure.option} {limit:g}: no picture has more than {figure.best:g}")

    @classmethod
    def of(cls, values: Mapping[str, object], where: str = "") -> Thresholds:
        """Returns the thresholds of a table, such as a TOML file has: ``fail``, ``max-flip``, ``min-ssim`` …

        Raises ParameterError, which begins with ``where``, for an unknown name or a value that is no number.
        """
        own: dict[str, float | int] = {}
        limits: dict[str, float] = {}
        for name, value in values.items():
            if name not in NAMES and name not in LIMITS:
                raise ParameterError(f"{where}unknown threshold {name!r}{nearest(name, [*NAMES, *LIMITS])}")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ParameterError(f"{where}{name} must be a number, not {value!r}")
            if name in NAMES:
                own[name] = value
            else:
                limits[LIMITS[name].name] = float(value)
        try:
            return cls(**own, limits=limits)  # type: ignore[arg-type]
        except ParameterError as error:
            raise ParameterError(f"{where}{error}") from None

    def over(self, base: Thresholds) -> Thresholds:
        """Returns these thresholds, and those of ``base`` that are not set here."""
        own = {name: v if (v := getattr(self, name)) is not None else getattr(base, name) for name in NAMES}
        return Thresholds(**own, limits={**base.limits, **self.limits})

    @property
    def table(self) -> dict[str, float]:
        """The thresholds that are set, as :meth:`of` takes them."""
        own = {name: v for name in NAMES if (v := getattr(self, name)) is not None}
        return own | {FIGURES[metric].option: limit for metric, limit in self.limits.items()}

    @property
    def counts(self) -> bool:
        """Whether bad pixels are counted: by ``fail`` or a threshold beside it, or as there is no other threshold."""
        near = (self.fail, self.failrelative, self.failpercent, self.allowfailures)
        return any(value is not None for value in near) or (not self.limits and self.hardfail is None)

    def missed(self, figures: Mapping[str, float], bad: int, pixels: int) -> tuple[Limit, ...]:
        """Returns the thresholds that a picture misses; a NaN misses each.

        ``figures`` has those of :attr:`limits` and ``max``; ``bad``: how many of the ``pixels`` are.
        """
        misses = []
        if self.counts and bad > (self.allowfailures or 0):
            percent = 100 * bad / pixels
            if percent > (self.failpercent or 0):
                by_percent = self.failpercent is not None
                name = "failpercent" if by_percent else "allowfailures"
                misses.append(Limit(name, percent if by_percent else bad, getattr(self, name) or 0))
        if self.hardfail is not None and not figures["max"] <= self.hardfail:
            misses.append(Limit("hardfail", figures["max"], self.hardfail))
        for metric, limit in self.limits.items():
            value = figures.get(metric, math.nan)
            if not FIGURES[metric].passes(value, limit):
                misses.append(Limit(FIGURES[metric].option, value, limit))
        return tuple(misses)

    def warned(self, figures: Mapping[str, float], bad: int, pixels: int) -> tuple[Limit, ...]:
        """Returns the thresholds by which a picture warns; ``bad``: how many of the ``pixels`` are above ``warn``."""
        if self.warnings is None:
            return ()
        names = {"allowfailures": "warn", "failpercent": "warnpercent", "hardfail": "hardwarn"}
        missed = self.warnings.missed(figures, bad, pixels)
        return tuple(limit._replace(name=names[limit.name]) for limit in missed)

    @property
    def warnings(self) -> Thresholds | None:
        """The thresholds that warn, as if they failed; None if there are none."""
        own = (self.warn, self.warnrelative, self.warnpercent, self.hardwarn)
        return None if all(value is None for value in own) else Thresholds(*own)

    def as_idiff(
        self, largest: float, bad: int, warning: int, pixels: int
    ) -> tuple[tuple[Limit, ...], tuple[Limit, ...]]:
        """Returns the thresholds that a picture misses and those by which it warns, by idiff's rules.

        Where no more than ``allowfailures`` pixels are bad, all is well at once, whatever else there is. ``largest``,
        ``bad`` and ``warning`` are idiff's counts: see :meth:`gpuops.metrics.counts.Counts.as_idiff`.
        """
        if bad <= (self.allowfailures or 0):
            return (), ()
        for count, percent, hard, prefix in (
            (bad, self.failpercent or 0.0, self.hardfail, "fail"),
            (warning, self.warnpercent or 0.0, self.hardwarn, "warn"),
        ):
            misses = []
            if 100 * count / pixels > percent:
                misses.append(Limit(f"{prefix}percent", 100 * count / pixels, percent))
            if hard is not None and largest > hard:
                misses.append(Limit(f"hard{prefix}", largest, hard))
            if misses:
                return (tuple(misses), ()) if prefix == "fail" else ((), tuple(misses))
        return (), ()

    def blind(self, pixels: int, *, most: float | None = 1.0) -> str | None:
        """Says why no picture at all would fail, or returns None.

        ``pixels``: the number of pixels. ``most``: the largest error that there can be, None if it has no bound.
        """
        reasons = []
        if self.counts:
            reason = None
            if self.failpercent is not None and self.failpercent >= 100:
                reason = f"failpercent {self.failpercent:g} allows all pixels"
            elif self.allowfailures is not None and self.allowfailures >= pixels:
                reason = f"allowfailures {self.allowfailures} allows all {pixels} pixels"
            elif self.fail is not None and most is not None and self.fail >= most:
                reason = f"fail {self.fail:g} allows every error"
            elif self.failrelative is not None and self.failrelative >= 2:
                reason = f"failrelative {self.failrelative:g} allows every error: 2 is the largest"
            reasons.append(reason)
        if self.hardfail is not None:
            allows = self.hardfail == math.inf or (most is not None and self.hardfail >= most)
            reasons.append(f"hardfail {self.hardfail:g} allows every error" if allows else None)
        for metric, limit in self.limits.items():
            allows = FIGURES[metric].allows_any(limit, pixels, most)
            reasons.append(f"{FIGURES[metric].option} {limit:g} allows any picture" if allows else None)
        texts = [reason for reason in reasons if reason is not None]
        return f"these thresholds can never fail: {'; '.join(texts)}" if len(texts) == len(reasons) else None


# The names of idiff's thresholds.
NAMES = tuple(one.name for one in fields(Thresholds) if one.name != "limits")
