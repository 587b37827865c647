"""Tests of all that is derived from every operation's record: its command, its help, its step in a chain, its recipe.

The test module of an operation has IDENTITIES, parameters that change nothing. Those of operations whose kernels have
no tests of their own also have a TOLERANCE and a ``reference`` (planes in double, how many are colours, parameters),
which tests/test_kernels.py holds the kernels against on every OpenCL implementation.
"""

import dataclasses
import math
import pickle
import runpy
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, ParameterError, Report, files
from gpuops.chain import Chain
from gpuops.operation import Choice, Given, Number, Operation, Params, kinds, operation_of
from gpuops.ops import OPERATIONS, operation
from gpuops.ops.convolve import ConvolveParams
from gpuops.params.files import FileOperand
from gpuops.pixels.conversion import converted

from .choices import pairs
from .operation_cases import CASES
from .reference.images import on
from .tolerance import CHAIN

LAYOUTS = {1: False, 2: True, 3: False, 4: True}  # channels: is the last one alpha?
SIZES = [(1, 1), (1, 23), (19, 1), (17, 31)]
every = pytest.mark.parametrize("name", [*OPERATIONS][::-1])  # the first ones build few kernels
#: Operations whose references and kernel tests have modules and forms of their own.
OLDER = ("tonemap", "blur", "bloom", "convolve", "denoise", "merge", "mix", "register")


def module_of(name: str) -> Any:
    """The test module of an operation, which has to exist."""
    return import_module(f".test_{name}", __package__)


@pytest.fixture(autouse=True)
def packages(request: pytest.FixtureRequest) -> None:
    """Skips tests of an operation whose package is absent."""
    skip_without_package(getattr(getattr(request.node, "callspec", None), "params", {}).get("name", ""))


def skip_without_package(name: str) -> None:
    if name == "ocio":
        pytest.importorskip("PyOpenColorIO", reason="needs the extra ocio")


NEWER = [name for name in OPERATIONS if name not in OLDER]


def identities(name: str) -> list[Params]:
    found: list[Params] = module_of(name).IDENTITIES
    return found


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> FileOperand:
    """A kernel image, which has no symmetry."""
    path = tmp_path_factory.mktemp("kernel") / "kernel.exr"
    files.write(
        path, files.Picture(np.float32([[[1], [2], [0]], [[0], [4], [1]], [[1], [0], [1]]]), linear=True)
    )
    return FileOperand.of(path)


@pytest.fixture
def cases(kernel: FileOperand) -> Callable[[str], list[Params]]:
    """The cases, of which every operation has some; those that need a file get one."""

    def found(name: str) -> list[Params]:
        if name == "convolve":
            return [ConvolveParams(kernel), ConvolveParams(kernel, False, "wrap", method="direct")]
        if name in ("merge", "mix", "register"):
            return []  # their pictures are of the images' sizes: tests/test_merge.py and others
        return list(CASES[name])

    return found


def options(params: Params) -> list[str]:
    """The command line of parameters."""
    words: list[str] = []
    types = {option.name: option.type for option in params.options()}
    for name, value in params.written().items():
        option = name.replace("_", "-")
        if types[name] is bool:
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, dict) and "path" in value:
            words += [f"--{option}", value["path"]]
        elif isinstance(value, dict):
            words += [word for key, number in value.items() for word in (f"--{option}", f"{key}={number}")]
        else:
            words += [f"--{option}", str(value)]
    return words


def check(gpu: Gpu, name: str, x: np.ndarray, *, alpha: bool) -> None:
    """An operation's function, with each of its cases, against its reference."""
    module, found = module_of(name), operation(name)
    for params in CASES[name]:
        image = on(gpu, x, alpha=alpha)
        expected = module.reference(x.astype(float), image.colours, params)
        result = found(gpu, image, params)
        assert (result.shape, result.alpha) == (expected.shape, alpha)
        assert np.abs(result.numpy() - expected).max() <= module.TOLERANCE * np.abs(expected).max()
        np.testing.assert_array_equal(image.numpy(), x)  # the input stays


@pytest.mark.parametrize(("name", "size", "channels"), pairs(NEWER, SIZES, LAYOUTS))
def test_against_the_reference(gpu, rng, name, size, channels) -> None:
    check(gpu, name, rng.gamma(0.5, 2, (channels, *size)).astype(np.float32), alpha=LAYOUTS[channels])


@pytest.mark.cases(99)
@every
def test_identities(gpu, clpix, rng, name, tmp_path) -> None:
    """Colours hidden under alpha 0 are left alone as well, and values that are not finite."""
    x = rng.random((5, 7, 4)).astype(np.float32)
    x[0, :3, 3], x[2, 2, 1] = 0, np.inf
    files.write(tmp_path / "in.tif", files.Picture(x, alpha=True, linear=True))
    for i, params in enumerate(identities(name)):
        assert operation(name).identity(params)
        image = gpu.array(x.transpose(2, 0, 1).copy())
        assert operation(name)(gpu, image, params) is image
        run = clpix(name, tmp_path / "in.tif", *options(params), "-o", tmp_path / f"{i}.tif")
        assert (run.code, run.err) == (0, "")
        np.testing.assert_array_equal(files.read(tmp_path / f"{i}.tif").pixels, x)


@pytest.mark.cases(1)
@every
def test_the_command_is_the_function(gpu, clpix, rng, cases, name, tmp_path) -> None:
    """Over float EXR; pictures have straight colours. What is fused with reading and writing is nearly the same."""
    x = rng.gamma(0.5, 2, (23, 29, 4)).astype(np.float32)
    x[..., 3] = 2.0 ** -rng.integers(0, 4, (23, 29))  # products of colours with these alphas are exact
    files.write(tmp_path / "in.exr", files.Picture(x, alpha=True, linear=True))
    for i, params in enumerate(cases(name)):
        image = on(gpu, x.transpose(2, 0, 1).copy(), alpha=True)
        result = gpu.run(Chain(params), image)
        np.testing.assert_array_equal(image.numpy(), x.transpose(2, 0, 1))
        expected = converted(result, result.space.colour, premultiplied=False).numpy().transpose(1, 2, 0)
        covered = expected[..., 3:] != 0  # where alpha is 0, EXR holds no colour
        expected[..., :3] *= covered
        if result.space.colour.transfer not in ("linear", "sRGB"):
            continue  # a signal that EXR cannot name
        for way in ("--no-fuse", "--fuse"):
            output = tmp_path / f"{i}{way}.exr"
            run = clpix(name, tmp_path / "in.exr", *options(params), way, "-o", output)
            assert (run.code, run.err) == (0, "")
            allowed = 0 if way == "--no-fuse" else CHAIN["fused"] * np.abs(expected).max()
            # EXR holds colours multiplied by alpha, of which the quotient is rounded once more.
            found = files.read(output).pixels
            np.testing.assert_allclose(found, expected, rtol=CHAIN["quotient"], atol=allowed)


@pytest.mark.cases(2)
@every
def test_values_that_are_not_finite_are_said(gpu, clpix, cases, name, tmp_path) -> None:
    x = np.ones((9, 9, 3), np.float32)
    x[4, 4] = np.nan
    files.write(tmp_path / "in.exr", files.Picture(x, linear=True))
    found = operation(name)
    for params in cases(name)[:1]:
        run = clpix(name, tmp_path / "in.exr", *options(params), "-o", tmp_path / "out.exr")
        if name == "denoise":
            assert run.code == 1 and "holds NaN or infinite pixels" in run.err
            continue
        assert run.code == 0
        spread = found.reach_of(gpu, (3, 9, 9), params).spoiled > 0
        assert ("3 values are NaN or infinite" in run.err) == spread


@pytest.mark.cases(2)
@every
def test_what_is_declared_is_so(opened, rng, cases, name) -> None:
    """A pixel has no effect farther away than the record says, and memory is not more than it says."""
    x = rng.gamma(0.5, 1, (3, 120, 160)).astype(np.float32) + 0.1
    y = x.copy()
    y[:, 60, 80] += 0.5
    for params in cases(name):
        found, report = operation(name), Report()
        traits = found.traits_of(params)
        gpu = opened(report=report)
        image = on(gpu, x, alpha=False)
        before = report.peak_device_bytes = image.nbytes
        result = found(gpu, image, params)
        assert report.peak_device_bytes - before <= (
            1.3 * traits.bytes_per_value * x.size + traits.fixed_bytes + (64 << 10)
        )
        reach = found.reach_of(gpu, x.shape, params).spoiled
        if traits.kind not in ("pointwise", "local") or math.isinf(reach) or result.shape != image.shape:
            continue
        changed = found(gpu, on(gpu, y, alpha=False), params).numpy() != result.numpy()
        rows, columns = np.nonzero(changed.any(0))
        assert max(abs(rows - 60).max(), abs(columns - 80).max()) <= (reach or 15)


@every
def test_it_is_a_step_of_a_chain_and_of_a_recipe(gpu, rng, cases, name) -> None:
    image = on(gpu, rng.random((3, 24, 40), np.float32), alpha=False)
    for params in (*cases(name), *identities(name)):
        chain = Chain(params)
        again = Chain.from_toml(chain.to_toml())
        assert again == chain and hash(again) == hash(chain) and again.digest == chain.digest
        assert pickle.loads(pickle.dumps(chain)) == chain
        assert type(params).of_options(Given(params.written())) == params
        assert operation_of(params) is operation(name)
        twice = gpu.run(Chain(params, params), image)
        assert twice.numpy().shape[0] == 3


@every
def test_its_declaration(clpix, name, tmp_path) -> None:
    """The command's help and its entry in the list name all there is, and nothing else is taken."""
    found = operation(name)
    assert (found.name, OPERATIONS[name]) in [
        (line.split()[0], line.split(maxsplit=1)[1])
        for line in clpix("--help").out.splitlines()
        if line.split()[1:]
    ]
    help = clpix("help", "--all", name).out
    wrong = {float: ("x",), int: ("x", "1.5"), tuple: ("x",)}
    assert all(kind.help for kind in kinds(found.params).values())
    for option_ in found.params.options():
        option = f"--{option_.name.replace('_', '-')}"
        assert option in help
        kind = kinds(found.params).get(option_.name)
        values = wrong.get(tuple if isinstance(option_.type, tuple) else option_.type, ())
        if type(kind) is Number and name in NEWER:
            values = ("x", "nan", "1e9", "-1e9")
        for value in values:
            run = clpix(name, tmp_path / "in.png", f"{option}={value}", "-o", tmp_path / "out.png")
            assert run.code == 2 and len(run.err.splitlines()) == 1 and option.lstrip("-") in run.err


@every
def test_its_defaults_are_right(name) -> None:
    """A default is of its parameter's kind and type as it stands: those are not checked when they are left."""
    params = operation(name).params
    for field in dataclasses.fields(params):
        kind = kinds(params).get(field.name)
        if kind is not None and field.default not in (dataclasses.MISSING, None):  # None stands for none
            checked = kind.check(field.name, field.default)
            assert type(checked) is type(field.default) and checked == field.default


def test_the_reference_page_is_written_from_the_declarations() -> None:
    script = Path(__file__).parents[1] / "docs" / "operations.py"
    assert script.with_suffix(".md").read_text("utf-8") == runpy.run_path(str(script))["page"]()


def test_parameters_are_checked() -> None:
    from gpuops.records import dataclass

    @dataclass(frozen=True)
    class Some(Params):
        size: float = Number("How large.", 0.5, 4, "pixels").field()
        the_way: str = Choice("Where to.", ("up", "down")).field("up")

    assert Some(2) == Some(2.0, "up") == Some(np.float32(2)) and isinstance(Some(2).size, float)
    for given, text in (
        ((5,), "^size must be from 0.5 to 4 pixels, not 5$"),
        ((float("nan"),), "^size must be from 0.5 to 4 pixels, not nan$"),
        (("x",), "^size cannot be 'x': give 0.5 … 4 pixels$"),
        ((1, "left"), "^unknown the-way 'left': use one of up, down$"),
    ):
        with pytest.raises(ParameterError, match=text):
            Some(*given)
    with pytest.raises(TypeError):
        Some()
    some = Operation("some", Some, lambda _gpu, image, _params: image)
    assert not some.identity(Some(1))
    assert some.traits_of(Some(1)).kind == "opaque"  # where nothing is said, nothing is known
