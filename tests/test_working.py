"""--working: light of other primaries, and what steps make of it."""

from pathlib import Path

import numpy as np
import pytest

from gpuops import Gpu, files, notes
from gpuops.batch.job import Job, Options, run_job
from gpuops.chain import Chain
from gpuops.files import Picture
from gpuops.ops import OPERATIONS
from gpuops.ops.blur import BlurParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.colours import WORKING
from gpuops.params.operators import OPERATORS

from .choices import pairs
from .operation_cases import CASES
from .reference import colour as reference
from .test_operations import skip_without_package

SPACES = {"rec709": "linear", "rec2020": "linear-rec2020", "acescg": "acescg"}


def luminance(working: str) -> np.ndarray:
    """The shares of red, green and blue, by the Y of the primaries that are adapted to D65."""
    if working == "rec709":
        return np.array([0.2126, 0.7152, 0.0722])
    space = reference.OUTPUTS[SPACES[working]][0]
    to_709 = np.linalg.inv(reference.d50_columns("Rec. 709")) @ reference.d50_columns(space)
    return np.array([0.2126390, 0.7151687, 0.0721923]) @ to_709


def back(values: np.ndarray, working: str) -> np.ndarray:
    """Light of other primaries as that of Rec. 709."""
    space = reference.OUTPUTS[SPACES[working]][0]
    return values @ (np.linalg.inv(reference.d50_columns("Rec. 709")) @ reference.d50_columns(space)).T


@pytest.fixture
def scene(tmp_path: Path, rng: np.random.Generator) -> np.ndarray:
    """Light of ACEScg, none of it negative there, in a file that says so; and as light of Rec. 709."""
    values = rng.uniform(0, 3, (40, 44, 3)).astype(np.float32)
    values[:20] *= 0.1
    files.write(tmp_path / "plain.exr", Picture(np.asarray(back(values, "acescg"), np.float32), linear=True))
    return back(values.astype(np.float64), "acescg")


def result(
    gpu: Gpu, folder: Path, chain: Chain, working: str, colour: str = "linear", name: str = "plain.exr"
) -> np.ndarray:
    path = str(folder / "out.exr")
    options = Options(working=working, colour=colour, dtype="float32", overwrite=True)
    with notes.to(lambda _text: None):  # light that is negative in some primaries
        run_job(gpu, Job(str(folder / name), chain, path, options=options))
    return np.asarray(files.read(path).pixels, np.float64)


@pytest.mark.parametrize(("working", "colour"), pairs(WORKING, [*SPACES.values(), "auto"]))
def test_light_comes_back(gpu, tmp_path, scene, working, colour) -> None:
    """A step that changes nothing but has to see light, and one whose sums are the same in all primaries."""
    chain = Chain(GradeParams(exposure=1.0))
    expected = 2 * reference.output(scene, "linear" if colour == "auto" else colour)
    assert np.abs(result(gpu, tmp_path, chain, working, colour) - expected).max() < 2e-5
    blurred = [result(gpu, tmp_path, Chain(BlurParams((2, 2))), name, colour) for name in (working, "rec709")]
    assert np.abs(blurred[0] - blurred[1]).max() < 1e-5


@pytest.mark.parametrize("working", WORKING)
def test_grading(gpu, tmp_path, scene, working) -> None:
    """Saturation is about the luminance of the primaries, and contrast is theirs."""
    found = result(gpu, tmp_path, Chain(GradeParams(saturation=1.6)), working)
    values = reference.output(scene, SPACES[working])
    y = values @ luminance(working)
    expected = back(y[..., None] + 1.6 * (values - y[..., None]), working)
    assert np.abs(found - expected).max() < 3e-5
    found = result(gpu, tmp_path, Chain(GradeParams(contrast=1.3)), working)
    curved = np.sign(values) * 0.18 * (np.abs(values) / 0.18) ** 1.3
    assert np.abs(found - back(curved, working)).max() < 1e-4


@pytest.mark.parametrize(("working", "colour"), pairs(WORKING, ["srgb", "display-p3", "rec2020"]))
def test_tone_mapping(gpu, tmp_path, scene, working, colour) -> None:
    """Reinhard's operator on luminance, and metering; negative light is cut in the primaries that it is negative in."""
    path = str(tmp_path / "out.png")
    options = Options(working=working, colour=colour, dtype="uint16", overwrite=True)
    with notes.to(lambda _text: None):
        # The meter reads negative light as it is, of which Rec. 709 has much here.
        chain = Chain(TonemapParams("reinhard", 0.5 if working == "rec709" else None))
        run_job(gpu, Job(str(tmp_path / "plain.exr"), chain, path, options=options))
    values = np.maximum(reference.output(scene, SPACES[working]), 0)
    y = values @ luminance(working)
    scale = 2**0.5 if working == "rec709" else 0.18 / np.exp(np.log(y[y > 0]).mean())
    shown = back(values * scale / (1 + y * scale)[..., None], working)
    expected = np.clip(reference.output(shown, colour), 0, 1)
    assert np.abs(files.read(path).pixels / 65535 - expected).max() < 2e-4


@pytest.mark.cases(1)
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator(gpu, tmp_path, scene, operator) -> None:
    """Gray is gray in all primaries, and operators for Rec. 709 give the same in all."""
    gray = np.repeat(np.linspace(0, 8, 40 * 44, dtype=np.float32).reshape(40, 44, 1), 3, 2)
    files.write(tmp_path / "gray.exr", Picture(gray, linear=True))
    chain = Chain(TonemapParams(operator, 0.5))
    found = [result(gpu, tmp_path, chain, working, name="gray.exr") for working in WORKING]
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 2e-3 if operator == "durand" else 2e-5
    if operator in ("aces-hill", "agx", "agx-punchy", "agx-golden", "durand", "reinhard-local"):
        found = [result(gpu, tmp_path, chain, working) for working in WORKING]
        for other in found[1:]:
            assert np.abs(other - found[0]).max() < 2e-3 if operator == "durand" else 1e-4


@pytest.mark.parametrize(("name", "working", "suffix"), pairs(OPERATIONS, WORKING[1:], ["exr", "png"]))
def test_every_operation(gpu, tmp_path, rng, name, working, suffix) -> None:
    """Gray light with alpha stays gray and is what it is in Rec. 709, by every operation and its first case."""
    skip_without_package(name)
    cases = [case for case in CASES.get(name, ()) if getattr(case, "preset", None) is None]
    if not cases:
        pytest.skip("its cases need files")
    values = rng.uniform(0.05, 0.9, (48, 52, 1)).astype(np.float32).repeat(3, 2)
    pixels = np.concatenate([values, rng.uniform(0.3, 1, (48, 52, 1)).astype(np.float32)], 2)
    if suffix == "png":
        pixels = (pixels * 65535).astype(np.uint16)
    files.write(tmp_path / f"in.{suffix}", Picture(pixels, linear=suffix == "exr", alpha=True))
    chain = Chain(cases[0])
    found = [result(gpu, tmp_path, chain, one, "linear", f"in.{suffix}") for one in ("rec709", working)]
    assert np.abs(found[0] - found[1]).max() <= 2e-4 * max(1, np.abs(found[0]).max())


def test_mixing_pictures_of_two_spaces(clpix, tmp_path, rng) -> None:
    """The other picture is light of the same primaries."""
    a, b = (rng.uniform(0, 2, (9, 8, 3)).astype(np.float32) for _ in range(2))
    files.write(tmp_path / "a.exr", Picture(a, linear=True))
    files.write(tmp_path / "b.exr", Picture(b, linear=True))
    for working in WORKING:
        run = clpix(
            "mix", tmp_path / "a.exr", "--picture", tmp_path / "b.exr", "--amount", 0.25,
            "-o", tmp_path / "o.exr", "--working", working, "--dtype", "float", "--overwrite",
        )  # fmt: skip
        assert (run.code, run.err) == (0, "")
        assert np.abs(files.read(tmp_path / "o.exr").pixels - (0.75 * a + 0.25 * b)).max() < 1e-5


def test_where_it_says_nothing(clpix, tmp_path) -> None:
    files.write(tmp_path / "a.png", Picture(np.zeros((9, 8, 3), np.uint8)))
    for command, options, why in (
        ("fft", (), "the spectrum is of stored values"),
        ("dwt", (), "wavelets work on stored values"),
        ("info", (), "nothing is written"),
        ("blur", ("--sigma", 1, "--space", "encoded"), "stored values have their own primaries"),
        ("tonemap", ("--contact-sheet",), "a contact sheet is of Rec. 709's light"),
    ):
        out = () if command == "info" else ("-o", tmp_path / "o.png")
        run = clpix(command, tmp_path / "a.png", *options, *out, "--working", "acescg")
        assert run.code == 2 and f"{why}: leave out --working" in run.err
        assert not (tmp_path / "o.png").exists()
