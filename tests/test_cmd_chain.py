"""Chains and recipes on the command line: files in, files out, stderr and exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from gpuops import files
from gpuops.files import operands

from .choices import each
from .conftest import in_blocks
from .tolerance import BLUR, CHAIN


@pytest.fixture
def scene(rng, tmp_path, monkeypatch) -> Path:
    """A folder with pictures; commands run in it."""
    x = rng.gamma(0.5, 2, (24, 36, 3)).astype(np.float32)
    files.write(tmp_path / "in.exr", files.Picture(x, linear=True))
    files.write(tmp_path / "in.png", files.Picture((np.clip(x, 0, 1) * 255).astype(np.uint8)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pixels(path: Path) -> np.ndarray:
    return files.read(path).pixels


STEPS = [
    "blur --sigma 1.5", "bloom --strength 0.3", "grade --exposure 0.5 --contrast 1.2", "sharpen",
    "crop --region 10%,20%,60%,70%", "flip --axis horizontal", "rotate --angle 90", "resize --scale 0.5",
    "tonemap --operator agx",
]  # fmt: skip


@pytest.mark.cases(2)
@pytest.mark.parametrize(("first", "second"), [*zip(STEPS, STEPS[2:] + STEPS[:2], strict=True)])
def test_a_chain_equals_single_commands_over_float_exr(clpix, scene, first, second) -> None:
    """Bit for bit where nothing is fused, and within rounding where something is."""
    one, *options = first.split()
    assert clpix(one, "in.exr", *options, "--no-fuse", "-o", "middle.exr").code == 0
    two, *more = second.split()
    assert clpix(two, "middle.exr", *more, "--no-fuse", "-o", "single.exr").code == 0
    for way in ("--no-fuse", "--fuse"):
        run = clpix(one, "in.exr", *options, "then", *second.split(), way, "-o", f"chain{way}.exr")
        assert run.code == 0, run.err
    expected = pixels(scene / "single.exr")
    np.testing.assert_array_equal(pixels(scene / "chain--no-fuse.exr"), expected)
    allowed = CHAIN["fused"] * np.abs(expected).max()
    np.testing.assert_allclose(
        pixels(scene / "chain--fuse.exr"), expected, rtol=CHAIN["powers"], atol=allowed
    )


def test_writing_on_the_way(clpix, scene) -> None:
    run = clpix(
        "blur", "in.exr", "--sigma", 2, "then", "write", "middle.exr", "then", "tonemap", "-o", "out.png"
    )
    assert (run.code, run.err) == (0, "")
    assert clpix("blur", "in.exr", "--sigma", 2, "--no-fuse", "-o", "blur.exr").code == 0
    np.testing.assert_array_equal(pixels(scene / "middle.exr"), pixels(scene / "blur.exr"))
    assert clpix("tonemap", "middle.exr", "-o", "single.png").code == 0
    np.testing.assert_array_equal(pixels(scene / "out.png"), pixels(scene / "single.png"))


def test_the_same_input_twice_writes_two_files_on_the_way(clpix, scene) -> None:
    run = clpix(
        "blur", "in.exr", "in.exr", "--sigma", 1, "then", "write", "m{index}.exr", "then", "flip", "--axis", "both",
        "-o", "o{index}.exr",
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    assert (scene / "m0001.exr").read_bytes() == (scene / "m0002.exr").read_bytes()


@pytest.mark.cases(1)
@each(way=["--fuse", "--no-fuse"], then=[(), ("then", "flip", "--axis", "both")])
def test_stored_values_are_multiplied_by_alpha_as_well(clpix, scene, rng, way, then) -> None:
    x = rng.integers(0, 65535, (24, 36, 4), endpoint=True).astype(np.uint16)
    files.write(scene / "rgba.png", files.Picture(x, alpha=True))
    run = clpix("blur", "rgba.png", "--sigma", 2, *then, "--space", "encoded", way, "-o", "out.png")
    assert (run.code, run.err) == (0, "")
    v = x / 65535
    v[..., :3] *= v[..., 3:]
    v = gaussian_filter(v, (2, 2, 0), truncate=8)
    v[..., :3] /= v[..., 3:]
    result = pixels(scene / "out.png")
    np.testing.assert_allclose(
        (result[::-1, ::-1] if then else result) / 65535, v, rtol=0, atol=0.5 / 65535 + BLUR["coarse"]
    )


def test_shared_options_stand_in_any_part(clpix, scene) -> None:
    run = clpix("blur", "in.exr", "--sigma", 1, "-o", "a.png", "then", "tonemap", "--dtype", "uint16")
    assert (run.code, run.err) == (0, "") and pixels(scene / "a.png").dtype == np.uint16
    several = clpix("blur", "in.exr", "in.png", "--sigma", 1, "then", "sharpen", "-o", "{stem}-{op}.{ext}")
    assert several.code == 0
    assert {"in-blur-sharpen.exr", "in-blur-sharpen.png"} <= {path.name for path in scene.iterdir()}


def test_recipes(clpix, scene) -> None:
    chain = ("blur", "in.exr", "--sigma", 2, "then", "tonemap", "--operator", "hable", "--white", 8)
    assert clpix(*chain, "-o", "a.png", "--save-recipe", "look.toml").code == 0
    assert clpix("run", "look.toml", "in.exr", "-o", "b.png").code == 0
    assert (scene / "a.png").read_bytes() == (scene / "b.png").read_bytes()
    assert clpix("run", "look.toml", "in.exr", "--set", "blur.sigma=4", "-o", "c.png").code == 0
    assert clpix("blur", "in.exr", "--sigma", 4, *chain[4:], "-o", "d.png").code == 0
    assert (scene / "c.png").read_bytes() == (scene / "d.png").read_bytes()
    run = clpix(*chain, "-o", "e.png", "--save-recipe", "look.toml")
    assert run.code == 1 and "look.toml: exists already" in run.err and not (scene / "e.png").exists()


def test_a_kernel_in_a_recipe_is_the_one_that_it_was(clpix, scene) -> None:
    (scene / "sub").mkdir()
    files.write(scene / "sub" / "k.png", files.Picture(np.uint8([[[0], [9]], [[3], [1]]])))
    run = clpix("convolve", "in.exr", "--kernel", "sub/k.png", "-o", "a.exr", "--save-recipe", "look.toml")
    assert run.code == 0 and clpix("run", "look.toml", "in.exr", "-o", "b.exr").code == 0
    assert (scene / "a.exr").read_bytes() == (scene / "b.exr").read_bytes()
    files.write(scene / "sub" / "k.png", files.Picture(np.uint8([[[5]]])), overwrite=True)
    operands.picture.cache_clear()  # as in another process
    run = clpix("run", "look.toml", "in.exr", "-o", "c.exr")
    assert run.code == 1 and "k.png: has changed" in run.err and not (scene / "c.exr").exists()


def test_explain(clpix, scene) -> None:
    run = clpix(
        "blur", "in.exr", "--sigma", 2, "then", "grade", "then", "tonemap", "--explain", "-o", "out.png"
    )
    assert (run.code, run.err) == (0, "") and not (scene / "out.png").exists()
    lines = run.out.splitlines()
    assert lines[0].startswith("input   in.exr: 36 × 24, 3 channels of float32")
    assert "halo 9 pixels" in run.out and "first measures log-mean" in run.out
    assert "1 of 3 steps change nothing" in run.out and "writes the file's pixels" in run.out


@pytest.mark.parametrize(("line", "code"), [
    ("crop in.exr --region 1,2,99,4 -o o.png", 1),
    ("grade in.exr then crop --region 0,0,9,9 then crop --region 1,2,9,4 -o o.png", 1),
    ("blur in.exr --sigma 1 --dtype half -o o.png", 2),
    ("blur in.exr --sigma 1 --dither -o o.exr", 2),
    ("blur in.exr --sigma 1 -o o.nothing", 1),
    ("tonemap in.exr --transfer srgb -o o.exr", 2),
    ("tonemap in.exr --transfer pq --colour rec2020 -o o.png", 2),
    ("tonemap in.exr --gain-map -o o.jpg", 2),
])  # fmt: skip
def test_explain_refuses_what_the_command_refuses(clpix, scene, line, code) -> None:
    """In the same line, with the same exit code."""
    run, told = clpix(*line.split()), clpix(*line.split(), "--explain")
    assert (run.code, told.code, told.out) == (code, code, "")
    assert (told.err, told.err.count("\n")) == (run.err, 1)


GRADE = ("grade", "--exposure", 1)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("steps", "said"), [
    ((GRADE,), ["reads and writes"]),
    ((GRADE, GRADE), ["at once with 2 grade", "reads and writes"]),
    ((GRADE, ("tonemap",)), ["at once with tonemap", "reads and writes"]),
    ((GRADE, ("tonemap",), ("sharpen",)), ["reads the file", "", ""]),
    ((("blur", "--sigma", 1), GRADE, ("tonemap",), GRADE), ["", "at once with tonemap", "", "writes the file"]),
    ((("blur", "--sigma", 1), GRADE, ("sharpen",)), ["", "", ""]),
    ((GRADE, ("tonemap", "--preset", "d3d11")), ["reads the file", "writes the file"]),
])  # fmt: skip
def test_explain_what_is_fused(clpix, scene, steps, said) -> None:
    """As the report of the launches has it: a launch's label begins with the steps that it does."""
    (name, *options), *later = steps
    line = [name, "in.exr", *options]
    for step in later:
        line += ["then", *step]
    told = clpix(*line, "--explain", "-o", "out.png").out.splitlines()[2 : 2 + len(steps)]
    for text, expected in zip(told, said, strict=True):
        assert expected in text and (expected or "; " not in text)
    if len(steps) > 1:
        run = clpix(*line, "-o", "out.png", "--timing-file", "t.json")
        assert run.code == 0, run.err
        labels = [launch["name"] for launch in json.loads((scene / "t.json").read_text())["kernels"]]
        together = [text.split("; at once")[0].split("  ")[0] for text in told if "at once" in text]
        assert all(any(label.startswith(f"{name} + ") for label in labels) for name in together)


BAD = [
    ("then blur in.exr --sigma 1 -o o.png", "'then' stands between two operations"),
    ("blur in.exr --sigma 1 -o o.png then", "an operation follows 'then'"),
    ("blur in.exr --sigma 1 then write -o o.png", "write is followed by its file: leave out -o"),
    ("blur in.exr --sigma 1", "name the output, such as -o out.png"),
    ("blur in.exr --sigma 1 then fft then sharpen -o o.png", "fft does not make a picture of a picture"),
    ("fft in.exr -o o.png then blur --sigma 1", "fft cannot stand in a chain"),
    (
        "blur in.exr --sigma 1 then sharpen in.png -o o.png",
        "inputs stand before the first 'then': move in.png",
    ),
    ("blur in.exr --sigma 1 then shapen -o o.png", "no operation 'shapen': did you mean 'sharpen'?"),
    ("blur in.exr --sigma 1 then sharpen --amont 2 -o o.png", "no option --amont: did you mean --amount?"),
    ("blur in.exr --sigma 1 -o o.png then sharpen -o p.png", "--output is given in two parts: give it once"),
    ("blur --sigma 1 then sharpen -o o.png", "Missing argument 'INPUT...'"),
    ("tonemap in.exr --contact-sheet then blur --sigma 1 -o o.png", "stand alone"),
    ("blur in.exr --sigma 1 then tonemap --plot-curve c.png -o o.png", "--plot-curve stands alone"),
    ("blur in.exr --sigma 1 then write then sharpen -o o.png", "Missing argument 'FILE'"),
    ("blur in.exr --sigma 1 --repeat 2 then write a.exr then sharpen -o o.png", "leave out --repeat"),
    ("blur in.exr --sigma 1 then write o.png then sharpen -o o.png", "o.png would be written twice"),
    ("run none.toml in.exr -o o.png", "none.toml: there is no such file"),
    ("run in.png in.exr -o o.png", "in.png: is no recipe"),
    ("run look.toml in.exr --set blur.sigma=x -o o.png", "'x' is no number"),
    ("tonemap in.exr --dither then blur --sigma 1 -o o.png", "dither in the last step"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_what_is_wrong_is_one_line_and_nothing_is_written(clpix, scene, line, message) -> None:
    (scene / "look.toml").write_text('schema = 1\n[[step]]\nop = "blur"\nsigma = 2.0\n')
    before = sorted(scene.iterdir())
    run = clpix(*line.split())
    assert run.code in ((1, 2) if "none.toml" in line or "dither" in line else (2,)), run.err
    assert message in run.err and len(run.err.splitlines()) == 1 and sorted(scene.iterdir()) == before


# The ways that the steps of a chain go.
WAYS = ("", "--no-fuse", "rows")


@each(
    way=WAYS,
    step__factor=[
        ("grade --exposure -1", 0.5), ("blur --sigma 2", 1.0), ("bloom", 1.0), ("sharpen", 1.0),
        ("convolve --kernel k.exr", 1),
    ],
    name=["out.png", "out.tif"],
)  # fmt: skip
def test_a_signal_stays_what_it_is_where_values_are_stored(
    clpix, scene, monkeypatch, way, step, factor, name
) -> None:
    """It is not encoded once more, and the file says its gamma: a constant is the formula's."""
    light = np.float32([0.2, 0.4, 0.1])
    files.write("even.png", files.Picture(np.full((9, 11, 3), light * 65535 + 0.5).astype(np.uint16)))
    files.write("k.exr", files.Picture(np.ones((3, 3, 1), np.float32), linear=True))
    shown = ("tonemap", "even.png", "--operator", "linear", "--exposure", "0", "--transfer", "gamma:2.2")
    if way == "rows":
        in_blocks(monkeypatch, 1)
    options = ("--space", "encoded", "--dtype", "uint16", "-o", name, *(way.split() if way != "rows" else ()))
    run = clpix(*shown, "then", *step.split(), *options)
    assert (run.code, run.err) == (0, "")
    found = files.read(name)
    assert found.colour.transfer == "gamma 2.2"
    # Of --space encoded the values are taken for light.
    expected = np.broadcast_to(factor * light.astype(float) ** (1 / 2.2) * 65535, found.pixels.shape)
    np.testing.assert_allclose(found.pixels, expected, rtol=0, atol=3)


@each(
    way=WAYS,
    last=["bloom", "blur --sigma 2", "grade --exposure 1", "flip --axis both"],
    name=["out.png", "out.webp", "out.exr"],
)
def test_a_picture_for_a_display_has_the_depth_of_one(clpix, scene, monkeypatch, way, last, name) -> None:
    """Whatever follows the step that made it: 8 bits, and floats where files hold numbers."""
    if way == "rows":
        in_blocks(monkeypatch, 1)
    options = ("-o", name, *(way.split() if way != "rows" else ()))
    run = clpix("bloom", "in.exr", "--tonemap", "agx", "then", *last.split(), *options)
    assert run.code == 0 and "holds no floats" not in run.err, run.err
    assert pixels(Path(name)).dtype == ("float32" if name == "out.exr" else "uint8")
