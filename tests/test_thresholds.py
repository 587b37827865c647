"""Thresholds: what passes, what fails, and which could never fail."""

import math

import pytest

from gpuops import ParameterError, figures
from gpuops.params.thresholds import NAMES, Thresholds

# Figures of a picture whose largest error is 0.05.
FIGURES = {"max": 0.05, "psnr": 40.0, "ssim": 0.9, "flip": 0.02}


def names(thresholds: Thresholds, bad: int = 0, **figures: float) -> list[str]:
    return [limit.name for limit in thresholds.missed(FIGURES | figures, bad, 1000)]


def test_without_thresholds_one_pixel_fails() -> None:
    assert names(Thresholds()) == [] and names(Thresholds(), bad=1) == ["allowfailures"]


@pytest.mark.parametrize(("thresholds", "bad", "missed"), [
    (Thresholds(fail=0.1), 0, []),
    (Thresholds(fail=0.01), 5, ["allowfailures"]),
    (Thresholds(fail=0.01, allowfailures=5), 5, []),
    (Thresholds(fail=0.01, allowfailures=5), 6, ["allowfailures"]),
    (Thresholds(fail=0.01, failpercent=0.5), 5, []),
    (Thresholds(fail=0.01, failpercent=0.5), 6, ["failpercent"]),
    (Thresholds(fail=0.01, failpercent=0.1, allowfailures=10), 10, []),
    # idiff passes both of these at once, since no value is above `fail`.
    (Thresholds(fail=0.1, hardfail=0.01), 0, ["hardfail"]),
    (Thresholds(hardfail=0.05), 1000, []),
    (Thresholds(limits={"flip": 0.02}), 1000, []),
    (Thresholds(limits={"flip": 0.019}), 1000, ["max-flip"]),
    (Thresholds(limits={"ssim": 0.91, "psnr": 40}), 0, ["min-ssim"]),
    (Thresholds(fail=0.01, limits={"ssim": 0.91}), 1, ["allowfailures", "min-ssim"]),
])  # fmt: skip
def test_verdicts(thresholds, bad, missed) -> None:
    assert names(thresholds, bad) == missed


def test_nan_misses_every_limit() -> None:
    for metric, figure in figures.FIGURES.items():
        thresholds = Thresholds(limits={metric: -1e300 if figure.higher else 1e300})
        assert names(thresholds, **{metric: math.nan}) == [figure.option]
    assert names(Thresholds(hardfail=1e300), max=math.nan) == ["hardfail"]


def test_what_fails_nothing_may_warn() -> None:
    thresholds = Thresholds(fail=0.1, warn=0.01)
    assert names(thresholds) == []
    assert [limit.name for limit in thresholds.warned(FIGURES, 3, 1000)] == ["warn"]
    assert thresholds.warned(FIGURES, 0, 1000) == ()
    assert [limit.name for limit in Thresholds(hardwarn=0.01).warned(FIGURES, 0, 1000)] == ["hardwarn"]


@pytest.mark.parametrize(("table", "most", "blind"), [
    ({"fail": 1}, 1.0, True),  # what passed 22 of a renderer's tests for years
    ({"fail": 1}, None, False),  # light goes beyond 1
    ({"fail": 0.5}, 1.0, False),
    ({"failpercent": 100}, 1.0, True),
    ({"failpercent": 100, "hardfail": 0.5}, 1.0, False),
    ({"fail": 0.1, "failrelative": 2}, 1.0, True),
    ({"allowfailures": 100}, 1.0, True),
    ({"hardfail": 1}, 1.0, True),
    ({"max-flip": 1}, 1.0, True),
    ({"min-ssim": -1, "max-error": 0.5}, 1.0, False),
    ({"max-error": 1}, None, False),
    ({}, 1.0, False),
])  # fmt: skip
def test_thresholds_that_can_never_fail(table, most, blind) -> None:
    assert (Thresholds.of(table).blind(100, most=most) is not None) == blind


def test_tables_come_back_and_lie_over_others() -> None:
    table = dict.fromkeys(NAMES, 1) | dict.fromkeys(figures.LIMITS, 0.25)
    thresholds = Thresholds.of(table)
    assert thresholds.table == table and Thresholds.of(thresholds.table) == thresholds
    assert Thresholds(fail=0.5).over(thresholds).table == table | {"fail": 0.5}


@pytest.mark.parametrize(("table", "message"), [
    ({"max-flp": 1}, "did you mean 'max-flip'"), ({"fail": "a"}, "must be a number"),
    ({"fail": True}, "must be a number"), ({"fail": -1}, "0 or more"), ({"fail": math.nan}, "0 or more"),
    ({"failpercent": 101}, "0 to 100"), ({"allowfailures": 1.5}, "whole number"),
    ({"min-ssim": 1.1}, "no picture has more"), ({"max-flip": math.nan}, "must be a number"),
])  # fmt: skip
def test_wrong_thresholds(table, message) -> None:
    with pytest.raises(ParameterError, match=message):
        Thresholds.of(table)
