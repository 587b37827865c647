"""Tests of all that is derived from every operation's declaration: its command, its help, its refusals, the identity.

Each test module of an operation has CASES, IDENTITIES, a TOLERANCE and a ``reference`` (planes in double, how many are
colours, parameters), which tests/test_kernels.py holds its kernels against on every OpenCL implementation.
"""

from __future__ import annotations

import pickle
import runpy
from collections.abc import Callable
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, ParameterError, files
from gpuops.operation import Choice, Flag, Number, Operation, Params, kinds, parameter
from gpuops.ops import OPERATIONS, operation

from .conftest import Run

Program = Callable[..., Run]
LAYOUTS = {1: False, 2: True, 3: False, 4: True}  # channels: is the last one alpha?
SIZES = [(1, 1), (1, 23), (19, 1), (17, 31)]
every = pytest.mark.parametrize("name", OPERATIONS)


def cases(name: str, kind: str = "CASES") -> list[Params]:
    found: list[Params] = getattr(import_module(f".test_{name}", __package__), kind)
    return found


def options(params: Params) -> list[str]:
    """The command line of parameters."""
    words: list[str] = []
    for name, kind in kinds(params).items():
        value, option = getattr(params, name), name.replace("_", "-")
        if isinstance(kind, Flag):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            words += [f"--{option}", kind.text(value)]
    return words


def check(gpu: Gpu, name: str, x: np.ndarray[Any, Any], *, alpha: bool) -> None:
    """An operation's function, with each of its cases, against its reference."""
    module, found = import_module(f".test_{name}", __package__), operation(name)
    for params in module.CASES:
        image = gpu.array(x)
        image.alpha = alpha
        expected = module.reference(x.astype(float), image.colours, params)
        result = found.function(gpu, image, params)
        assert (result.shape, result.alpha) == (expected.shape, alpha)
        assert np.abs(result.numpy() - expected).max() <= module.TOLERANCE * np.abs(expected).max()
        np.testing.assert_array_equal(image.numpy(), x)  # the input stays


@every
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("channels", LAYOUTS)
def test_against_the_reference(
    gpu: Gpu, rng: np.random.Generator, name: str, size: tuple[int, int], channels: int
) -> None:
    check(gpu, name, rng.gamma(0.5, 2, (channels, *size)).astype(np.float32), alpha=LAYOUTS[channels])


@every
def test_identities(gpu: Gpu, clpix: Program, rng: np.random.Generator, name: str, tmp_path: Path) -> None:
    """Colours hidden under alpha 0 are left alone as well, and values that are not finite."""
    x = rng.random((5, 7, 4)).astype(np.float32)
    x[0, :3, 3], x[2, 2, 1] = 0, np.inf
    files.write(tmp_path / "in.tif", files.Picture(x, alpha=True, linear=True))
    for i, params in enumerate(cases(name, "IDENTITIES")):
        assert operation(name).identity(params)
        image = gpu.array(x.transpose(2, 0, 1).copy())
        assert operation(name).function(gpu, image, params) is image
        run = clpix(name, tmp_path / "in.tif", *options(params), "-o", tmp_path / f"{i}.tif")
        assert (run.code, run.err) == (0, "")
        np.testing.assert_array_equal(files.read(tmp_path / f"{i}.tif").pixels, x)


@every
def test_the_command_is_the_function(
    gpu: Gpu, clpix: Program, rng: np.random.Generator, name: str, tmp_path: Path
) -> None:
    """Over float EXR; pictures have straight colours, which the function takes premultiplied."""
    x = rng.gamma(0.5, 2, (23, 29, 4)).astype(np.float32)
    x[..., 3] = 2.0 ** -rng.integers(0, 4, (23, 29))  # by which colours are multiplied exactly
    files.write(tmp_path / "in.exr", files.Picture(x, alpha=True, linear=True))
    x[..., :3] *= x[..., 3:]
    for i, params in enumerate(cases(name)):
        run = clpix(name, tmp_path / "in.exr", *options(params), "-o", tmp_path / f"{i}.exr")
        assert (run.code, run.err) == (0, "")
        image = gpu.array(x.transpose(2, 0, 1).copy())
        image.alpha = True
        expected = operation(name).function(gpu, image, params).numpy().transpose(1, 2, 0)
        expected[..., :3] /= np.where(expected[..., 3:] > 0, expected[..., 3:], 1)
        np.testing.assert_array_equal(files.read(tmp_path / f"{i}.exr").pixels, expected)


@every
def test_values_that_are_not_finite_are_said(gpu: Gpu, clpix: Program, name: str, tmp_path: Path) -> None:
    x = np.ones((9, 9, 3), np.float32)
    x[4, 4] = np.nan
    files.write(tmp_path / "in.exr", files.Picture(x, linear=True))
    run = clpix(name, tmp_path / "in.exr", *options(cases(name)[0]), "-o", tmp_path / "out.exr")
    assert run.code == 0
    image, params = gpu.array(x.transpose(2, 0, 1).copy()), cases(name)[0]
    assert ("3 values are NaN or infinite" in run.err) == bool(operation(name).reach(gpu, image, params))


@every
def test_its_declaration(clpix: Program, name: str, tmp_path: Path) -> None:
    """The command's help and its entry in the list name all there is, and nothing else is taken."""
    found = operation(name)
    assert (found.name, OPERATIONS[name]) in [
        (line.split()[0], line.split(maxsplit=1)[1])
        for line in clpix("--help").out.splitlines()
        if line.split()[1:]
    ]
    help = clpix(name, "--help").out
    for parameter_name, kind in kinds(found.params).items():
        assert kind.help
        option = f"--{parameter_name.replace('_', '-')}"
        assert option in help
        if isinstance(kind, Flag):
            continue
        for value in ("x", "nan", "1e9", "-1e9") if isinstance(kind, Number) else ("x",):
            run = clpix(name, tmp_path / "in.png", f"{option}={value}", "-o", tmp_path / "out.png")
            assert run.code == 2 and len(run.err.splitlines()) == 1 and option.lstrip("-") in run.err


def test_the_reference_page_is_written_from_the_declarations() -> None:
    script = Path(__file__).parents[1] / "docs" / "operations.py"
    assert script.with_suffix(".md").read_text("utf-8") == runpy.run_path(str(script))["page"]()


@every
def test_parameters_travel(name: str) -> None:
    for params in (*cases(name), *cases(name, "IDENTITIES")):
        again = pickle.loads(pickle.dumps(params))
        assert again == params and hash(again) == hash(params)
    assert len(set(cases(name))) == len(cases(name))


def test_parameters_are_checked() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Some(Params):
        size: float = parameter(MISSING, Number("How large.", 0.5, 4, "pixels"))
        the_way: str = parameter("up", Choice("Where to.", ("up", "down")))

    assert Some(2) == Some(2.0, "up") == Some(np.float32(2))
    assert isinstance(Some(2).size, float)
    for given, text in (
        ((5,), "^size must be from 0.5 to 4 pixels, not 5$"),
        ((float("nan"),), "^size must be from 0.5 to 4 pixels, not nan$"),
        (("x",), "^size must be a number, not 'x'$"),
        ((1, "left"), "^the-way must be one of up, down, not 'left'$"),
    ):
        with pytest.raises(ParameterError, match=text):
            Some(*given)
    with pytest.raises(TypeError):
        Some()
    assert not Operation("some", Some, lambda _gpu, image, _params: image).identity(Some(1))
