"""clpix tonemap: files in, files out, stderr and exit codes. Sheets and plots are in tests/test_contact_sheet.py."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuops import files

from .choices import needs, some
from .conftest import Run, in_blocks
from .reference import colour as colour_reference
from .reference import d3d11 as d3d11_reference
from .reference import tone as tonemap_reference
from .tolerance import LUT, TONEMAP
from .tolerance import TONEMAP_COMMAND as TOLERANCE

with_plots = needs("matplotlib", "plots")


@pytest.fixture
def scene() -> np.ndarray:
    """An HDR scene (height, width, 3) that half floats hold exactly."""
    rng = np.random.default_rng(5)
    return np.exp2(rng.normal(0, 3, (40, 56, 3))).astype(np.float16).astype(np.float32)


@pytest.fixture
def exr(tmp_path, scene) -> Path:
    return write(tmp_path / "scene.exr", scene.astype(np.float16))


def write(path: Path, pixels: np.ndarray, *, alpha: bool = False, linear: bool = True) -> Path:
    files.write(path, files.Picture(pixels=pixels, alpha=alpha, linear=linear))
    return path


def read(path: Path) -> np.ndarray:
    return files.read(path).pixels


def expected(scene: np.ndarray, operator: str = "agx", scale: float | None = None) -> np.ndarray:
    """The display light (height, width, 3) with metering by log-mean unless ``scale`` is given."""
    c = np.moveaxis(scene.astype(np.float64), -1, 0)
    if scale is None:
        scale = 0.18 / 2 ** np.log2(tonemap_reference.luminance(c)).mean()
    return np.moveaxis(tonemap_reference.OPERATORS[operator](c * scale, 1.0), 0, -1)


def test_exr_to_png(clpix, exr, scene, tmp_path) -> None:
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png")
    assert (run.code, run.err) == (0, "")
    got = read(tmp_path / "out.png")
    assert got.dtype == np.uint8
    levels = colour_reference.srgb_signal(expected(scene)) * 255
    assert np.abs(got - np.rint(levels)).max() <= TOLERANCE["levels"]
    assert (got == np.rint(levels)).mean() > 0.999


def test_exr_output_stays_float_and_linear(clpix, exr, scene, tmp_path) -> None:
    run = clpix("tonemap", exr, "-o", tmp_path / "out.exr", "--dtype", "float")
    assert (run.code, run.err) == (0, "")
    got = read(tmp_path / "out.exr")
    assert got.dtype == np.float32
    off = TONEMAP["metered"]
    np.testing.assert_allclose(got, expected(scene), rtol=off, atol=off)
    clpix("tonemap", exr, "-o", tmp_path / "half.exr")
    assert read(tmp_path / "half.exr").dtype == np.float16


@pytest.mark.cases(2)
@some(
    transfer=["linear", "gamma:2.4", "pq"],
    name=["out.png", "out.exr"],
    more=["", "--no-fuse", "then flip --axis both then flip --axis both"],
)
def test_other_signals_are_stored_as_they_are(clpix, exr, scene, tmp_path, transfer, name, more) -> None:
    dtype = "float" if name.endswith("exr") else "uint16"
    options = ("-o", tmp_path / name, "--transfer", transfer, "--dtype", dtype)
    run = clpix("tonemap", exr, *options, *more.split())
    told = dtype == "float" and transfer != "linear"
    assert (run.code, "EXR cannot say what its values are" in run.err) == (0, told)
    assert run.err.count("\n") == told
    light = expected(scene)
    signal = {"linear": light, "gamma:2.4": light ** (1 / 2.4), "pq": tonemap_reference.pq(light)}[transfer]
    picture = files.read(tmp_path / name)
    assert picture.linear == (transfer == "linear" or dtype == "float")
    if not told:
        called = {"linear": "linear", "gamma:2.4": "gamma 2.4", "pq": "PQ"}[transfer]
        assert (picture.colour.transfer, picture.colour.primaries) == (called, "Rec. 709")
    got = picture.pixels / (65535.0 if dtype == "uint16" else 1.0)
    np.testing.assert_allclose(got, signal, rtol=0, atol=TOLERANCE["signal"])


def test_integer_input_is_decoded_first(clpix, tmp_path) -> None:
    codes = np.random.default_rng(2).integers(0, 256, (20, 30, 3), np.uint8)
    write(tmp_path / "in.png", codes, linear=False)
    run = clpix(
        "tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", "--operator", "linear", "--exposure", "0"
    )
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(read(tmp_path / "out.png"), codes)


def test_gray_and_alpha(clpix, tmp_path) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 65536, (20, 30, 2), np.uint16)
    write(tmp_path / "in.png", codes, alpha=True, linear=False)
    run = clpix("tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", "--dtype", "uint16")
    assert (run.code, run.err) == (0, "")
    got = read(tmp_path / "out.png")
    np.testing.assert_array_equal(got[..., 1], codes[..., 1])
    assert len(np.unique(got[..., 0])) > 100
    order = np.argsort(codes[..., 0].ravel())
    assert (np.diff(got[..., 0].ravel()[order].astype(int)) >= 0).all()


def test_clipping_is_told(clpix, exr, tmp_path) -> None:
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", "--operator", "linear", "--exposure", "3")
    assert run.code == 0 and run.err.count("\n") == 1 and "clipped" in run.err


def test_repairs_are_told_in_one_line(clpix, scene, tmp_path) -> None:
    scene[0, 0] = np.nan
    scene[0, 1, 2] = np.inf
    scene[1, :3, 0] = -1
    write(tmp_path / "in.exr", scene)
    run = clpix("tonemap", tmp_path / "in.exr", "-o", tmp_path / "out.png")
    assert run.code == 0 and run.err.count("\n") == 1 and "1 NaN, 1 infinite, 3 negative" in run.err
    assert (read(tmp_path / "out.png")[0, 0] == 0).all()


def test_the_preset_repairs_before_its_blur(clpix, scene, tmp_path) -> None:
    scene[0, 0] = np.nan
    scene[1, 1, 2] = np.inf
    write(tmp_path / "in.exr", scene)
    options = ("--preset", "d3d11", "--blur", "--no-bloom")
    run = clpix("tonemap", tmp_path / "in.exr", "-o", tmp_path / "out.png", *options)
    assert (run.code, run.err.count("\n")) == (0, 1) and "pixels repaired: 1 NaN, 1 infinite" in run.err
    luminance = d3d11_reference.metered(scene[np.isfinite(scene).all(-1)].T)
    repaired = np.moveaxis(np.nan_to_num(scene, nan=0, posinf=65504), -1, 0)
    light = d3d11_reference.mapped(d3d11_reference.blur(repaired), luminance)
    reference = colour_reference.srgb_signal(np.clip(light, 0, 1)) * 255
    assert np.abs(read(tmp_path / "out.png") - np.moveaxis(reference, 0, -1)).max() <= 1


@pytest.mark.cases(2)
@pytest.mark.parametrize(("arguments", "frame"), [
    ((), {}),
    (("--method", "local"), {}),
    (("--method", "direct", "--blur"), {"blurred": True}),
    (("--no-bloom",), {"with_bloom": False}),
    (("--blur", "--no-bloom"), {"blurred": True, "with_bloom": False}),
])  # fmt: skip
def test_effects_of_the_preset(clpix, exr, scene, tmp_path, arguments, frame) -> None:
    """Effects are on and off as in the sample; opaque alpha changes nothing."""
    planes = np.moveaxis(scene, -1, 0)
    reference = colour_reference.srgb_signal(d3d11_reference.tonemap(planes, **frame)) * 255
    opaque = write(
        tmp_path / "opaque.exr", np.dstack([scene, np.ones(scene.shape[:2], np.float32)]), alpha=True
    )
    for source in (exr, opaque):
        run = clpix(
            "tonemap", source, "-o", tmp_path / "out.png", "--preset", "d3d11", *arguments, "--overwrite"
        )
        assert (run.code, run.err) == (0, "")
        assert np.abs(read(tmp_path / "out.png")[..., :3] - np.moveaxis(reference, 0, -1)).max() <= 1


@pytest.fixture
def look(tmp_path) -> Path:
    """A table in a file: of what it is given, twice red, all of green, and half of blue."""
    table = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3, indexing="ij")[::-1], -1) * [2, 1, 0.5]
    rows = "".join("{} {} {}\n".format(*row) for row in table.reshape(-1, 3))
    (tmp_path / "look.cube").write_text("LUT_3D_SIZE 5\n" + rows)
    return tmp_path / "look.cube"


def test_a_look_on_a_picture(clpix, look, tmp_path) -> None:
    """A look is applied as editors do: from the sRGB signal to the sRGB signal, without exposure."""
    codes = np.random.default_rng(2).integers(0, 128, (20, 30, 3), np.uint8)
    write(tmp_path / "in.png", codes, linear=False)
    run = clpix("tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", "--lut", look)
    assert (run.code, run.err) == (0, "")
    assert np.abs(read(tmp_path / "out.png") - codes * [2, 1, 0.5]).max() <= 0.5 + 255 * 2 * LUT["table"]


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["out.exr", "out.png"])
def test_a_table_as_an_operator(clpix, exr, scene, look, tmp_path, name) -> None:
    """The table is one as Tony McMapface's: from c/(1 + c) to light."""
    options = ("--lut-input", "reinhard", "--lut-output", "linear", "--exposure", "auto", "--key", "0.5")
    dtype = "float" if name.endswith("exr") else "uint16"
    run = clpix("tonemap", exr, "-o", tmp_path / name, "--lut", look, *options, "--dtype", dtype)
    assert run.code == 0
    c = expected(scene, "linear") / 0.18 * 0.5
    light = c / (1 + c) * [2, 1, 0.5]
    got = read(tmp_path / name)
    if dtype == "float":
        assert run.err == ""
        off = TONEMAP["metered"]
        np.testing.assert_allclose(got, light, rtol=off, atol=off)
    else:
        assert run.err.count("\n") == 1 and "clipped" in run.err
        levels = colour_reference.srgb_signal(np.minimum(light, 1)) * 65535
        assert np.abs(got - levels).max() <= 1


@pytest.mark.exhaustive
@with_plots
def test_a_table_on_a_contact_sheet_and_a_plot(clpix, exr, look, tmp_path) -> None:
    plot = tmp_path / "curve.svg"
    options = ("--lut", look, "--contact-sheet", "--stops", "-1,+1", "--plot-curve", plot)
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", *options)
    assert (run.code, run.err) == (0, "") and read(tmp_path / "out.png").shape[1] > 2 * 56 and plot.exists()


def test_a_table_that_is_none(clpix, exr, look, tmp_path) -> None:
    look.write_text("LUT_3D_SIZE 2\n0 0 0\n")
    for path, message in (
        (look, f"{look}: has 1 entries, and needs 8"),
        (exr, f"{exr}: is no text"),
        (tmp_path / "x.cube", "no such file"),
    ):
        run = clpix("tonemap", exr, "-o", tmp_path / "out.png", "--lut", path)
        assert run.code == 1 and message in run.err and run.err.count("\n") == 1
        assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(("options", "message"), [
    (("--lut", "{}", "--operator", "agx"), "leave out --operator"),
    (("--lut", "{}", "--contact-sheet", "--operators", "agx"), "leave out --operators"),
    (("--lut", "{}", "--meter", "mean"), "leave out --meter"),
    (("--lut", "{}", "--lut-input", "log2:3"), "log2:LOW:HIGH"),
    (("--lut", "{}", "--preset", "d3d11"), "leave out --lut"),
    (("--lut-input", "linear"), "leave out --lut-input"),
    (("--exposure", "bright"), "exposure must be EV or auto or shared or smooth:N, with numbers"),
    (("--exposure", "1", "--key", "0.3"), "--exposure auto"),
    (("--transfer", "gamma:x"), "gamma:2.2"),
    (("--white", "2"), "no white point"),
    (("--preset", "d3d11", "--operator", "agx"), "leave out --operator"),
    (("--blur",), "leave out --blur"),
    (("--preset", "d3d11", "--meter-region", "0,0,1,1"), "leave out --meter-region"),
    (("--percentiles", "10,90", "--meter", "mean"), "leave out --percentiles"),
    (("--percentiles", "90,10", "--meter", "histogram"), "the lower one first"),
    (("--meter-region", "0,0,5"), "X,Y,W,H"),
    (("--meter-region", "60%,0%,50%,50%"), "beyond 100 %"),
    (("--meter-region", "0,0,5,5", "--exposure", "0"), "leave out --meter-region"),
    (("--white-balance", "1,1"), "from 1667 to 25000 K"),
    (("--white-balance", "1700K,0.03"), "too coloured"),
    (("--white-balance", "1,0,1"), "a gain must be"),
])  # fmt: skip
def test_usage_errors(clpix, exr, look, tmp_path, options, message) -> None:
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", *(option.format(look) for option in options))
    assert run.code == 2 and message in run.err and not (tmp_path / "out.png").exists()


def failed(run: Run, message: str) -> None:
    assert run.code == 1 and run.err.count("\n") == 1 and message in run.err


def test_a_region_is_of_the_stored_pixels(clpix, exr, scene, tmp_path) -> None:
    log = np.log2(tonemap_reference.luminance(np.moveaxis(scene, -1, 0).astype(np.float64)))
    light = expected(scene, scale=0.18 / 2 ** log[20:, 14:42].mean())
    for region in ("14,20,28,20", "25%,50%,50%,50%"):
        out = tmp_path / "out.exr"
        run = clpix("tonemap", exr, "-o", out, "--meter-region", region, "--dtype", "float", "--overwrite")
        assert (run.code, run.err) == (0, "")
        off = TONEMAP["metered"]
        np.testing.assert_allclose(read(out), light, rtol=off, atol=off)
    run = clpix("tonemap", exr, "-o", tmp_path / "no.exr", "--meter-region", "50,0,10,10")
    failed(run, "scene.exr: the region 50,0,10,10 is not inside the image of 56 × 40 pixels")
    assert not (tmp_path / "no.exr").exists()


@pytest.mark.exhaustive
def test_white_balance_of_codes_and_of_none(clpix, tmp_path) -> None:
    codes = np.full((20, 30, 3), (200, 150, 90), np.uint8)
    write(tmp_path / "in.png", codes, linear=False)
    options = ("--operator", "linear", "--exposure", "0", "--white-balance")
    assert clpix("tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", *options, "gray-world").code == 0
    got = read(tmp_path / "out.png")
    assert (got == got[0, 0, 0]).all() and 150 < got[0, 0, 0] < 200
    assert clpix("tonemap", tmp_path / "in.png", "-o", tmp_path / "same.png", *options, "none").code == 0
    np.testing.assert_array_equal(read(tmp_path / "same.png"), codes)


def test_balances_that_an_image_does_not_have(clpix, tmp_path) -> None:
    write(tmp_path / "gray.png", np.full((9, 7, 1), 99, np.uint8), linear=False)
    write(tmp_path / "red.png", np.full((9, 7, 3), (99, 0, 0), np.uint8), linear=False)
    run = clpix("tonemap", tmp_path / "gray.png", "-o", tmp_path / "out.png", "--white-balance", "5600K")
    failed(run, "gray.png: a gray image has no colour to balance")
    run = clpix("tonemap", tmp_path / "red.png", "-o", tmp_path / "out.png", "--white-balance", "gray-world")
    failed(run, "red.png: gray-world needs light in every channel")
    assert not (tmp_path / "out.png").exists()


@with_plots
@pytest.mark.exhaustive
def test_a_balanced_contact_sheet_and_its_curve(clpix, tmp_path) -> None:
    flat = np.full((40, 56, 3), (0.5, 0.25, 0.125), np.float32)
    flat[:, 28:] = 7  # these pixels are outside the region
    write(tmp_path / "in.exr", flat)
    options = ("--contact-sheet", "--operators", "linear", "--stops", "0", "--exposure", "0")
    balance = ("--white-balance", "gray-world", "--meter-region", "0%,0%,50%,100%")
    plot = ("--plot-curve", tmp_path / "curve.svg")
    run = clpix("tonemap", tmp_path / "in.exr", "-o", tmp_path / "sheet.png", *options, *balance, *plot)
    assert (run.code, run.err) == (0, "")
    tile = read(tmp_path / "sheet.png")[12:52, 12:40]
    luminance = tonemap_reference.REC709 @ [0.5, 0.25, 0.125]
    assert (tile == np.rint(255 * colour_reference.srgb_signal(np.array(luminance)))).all()
    assert b"<svg" in (tmp_path / "curve.svg").read_bytes()


def test_contact_sheet(clpix, exr, scene, tmp_path) -> None:
    options = ("--contact-sheet", "--operators", "agx,khronos-neutral", "--stops", "-1,0,+1")
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", *options)
    assert (run.code, run.err) == (0, "")
    sheet = read(tmp_path / "out.png")
    assert sheet.dtype == np.uint8
    # The image is smaller than a tile, so it is not made smaller: tiles are the results themselves.
    metered = 0.18 / 2 ** np.log2(tonemap_reference.luminance(np.moveaxis(scene, -1, 0))).mean()
    gap = 12
    down, across = (sheet.shape[0] - gap) // 2, (sheet.shape[1] - gap) // 3
    for i, operator in enumerate(("agx", "khronos-neutral")):
        for j, stops in enumerate((-1, 0, 1)):
            tile = sheet[gap + i * down :, gap + j * across :][: scene.shape[0], : scene.shape[1]]
            light = np.minimum(expected(scene, operator, metered * 2.0**stops), 1)
            assert (
                np.abs(tile - np.rint(colour_reference.srgb_signal(light) * 255)).max() <= TOLERANCE["levels"]
            )


def test_a_contact_sheet_of_each_input(clpix, exr, tmp_path) -> None:
    write(tmp_path / "gray.png", np.full((9, 7, 2), 200, np.uint8), alpha=True, linear=False)
    template = tmp_path / "sheets" / "{stem}-sheet.png"
    options = ("--contact-sheet", "--operators", "agx", "--tile-width", "16")
    run = clpix("tonemap", exr, tmp_path / "gray.png", "-o", template, *options)
    assert (run.code, run.err) == (0, "")
    sheets = [read(tmp_path / "sheets" / f"{name}-sheet.png") for name in ("scene", "gray")]
    assert [sheet.shape[2] for sheet in sheets] == [3, 1]


def test_a_white_point_on_a_contact_sheet_is_of_those_that_have_one(clpix, exr, tmp_path) -> None:
    options = ("--contact-sheet", "--operators", "agx,hable", "--stops", "0", "--white")
    for white in ("2", "200"):
        assert clpix("tonemap", exr, "-o", tmp_path / f"{white}.png", *options, white).code == 0
    a, b = read(tmp_path / "2.png"), read(tmp_path / "200.png")
    half = (len(a) - 12) // 2 + 12
    assert (a[:half] == b[:half]).all() and (a[half:] != b[half:]).any()


def test_a_contact_sheet_keeps_the_profile_and_is_upright(clpix, tmp_path) -> None:
    from PIL import Image, ImageCms

    codes = np.zeros((20, 40, 3), np.uint8)
    codes[:, 30:] = 255  # the right quarter; turned by 90 degrees, as orientation 6 asks for, the lowest one
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(codes).save(tmp_path / "in.png", exif=exif.tobytes(), icc_profile=profile)
    options = ("--contact-sheet", "--operators", "linear", "--stops", "0", "--exposure", "0")
    run = clpix("tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", *options)
    assert (run.code, run.err) == (0, "")
    sheet = files.read(tmp_path / "out.png")
    assert (sheet.metadata.icc, sheet.metadata.exif) == (profile, None)
    tile = sheet.pixels[12:52, 12:32]
    assert (tile[:30] == 0).all() and (tile[30:] == 255).all()


def test_repairs_of_a_contact_sheet_are_told_once(clpix, scene, tmp_path) -> None:
    scene[0, 0] = np.nan
    write(tmp_path / "in.exr", scene)
    options = ("--contact-sheet", "--operators", "agx,linear", "--repeat", "2")
    run = clpix("tonemap", tmp_path / "in.exr", "-o", tmp_path / "out.png", *options)
    assert run.code == 0 and run.err.count("\n") == 1 and "1 NaN" in run.err


@pytest.mark.parametrize(("options", "message"), [
    ("--stops 1", "leave out --stops"),
    ("--contact-sheet --operator agx --operators hable", "leave out --operator"),
    ("--contact-sheet --operators agx,aces", "aces-narkowicz or aces-hill"),
    ("--contact-sheet --stops 1,", "-1,0,+1"),
    ("--contact-sheet --stops 59 --exposure 2", "not 61"),
    ("--contact-sheet --dither", "leave out --dither"),
    ("--contact-sheet --white 2 --operator agx", "no white point"),
    ("--contact-sheet --operator hable --exposure 0 --method direct", "leave out --method"),
    ("--contact-sheet --preset d3d11", "leave out --contact-sheet"),
    ("--plot-curve curve.png --preset d3d11", "leave out --plot-curve"),
    ("--plot-curve curve.png --operator durand", "durand has no curve"),
    pytest.param("--plot-curve out.png", "is also written as another output", marks=with_plots),
])  # fmt: skip
def test_refused_looks(clpix, exr, tmp_path, monkeypatch, options, message) -> None:
    monkeypatch.chdir(tmp_path)
    run = clpix("tonemap", exr.name, "-o", "out.png", *options.split())
    assert run.code == 2 and run.err.count("\n") == 1 and message in run.err
    assert list(tmp_path.iterdir()) == [exr]


@pytest.mark.parametrize("output", ["out.exr", "out.npy", "out.pfm", "sheets/", "-"])
def test_contact_sheets_are_for_displays(clpix, exr, tmp_path, monkeypatch, output) -> None:
    monkeypatch.chdir(tmp_path)
    stream = ("--format", "hdr") if output == "-" else ()
    run = clpix("tonemap", exr.name, "-o", output, "--contact-sheet", *stream)
    assert (run.code, run.out) == (2, "")
    assert run.err.count("\n") == 1 and "8 bits" in run.err and "sheet.png" in run.err
    assert list(tmp_path.iterdir()) == [exr]


@pytest.mark.cases(1)
@with_plots
@pytest.mark.parametrize(("options", "names"), [
    ((), ["agx"]),
    (("--operator", "drago"), ["drago"]),
    (("--operators", "agx,reinhard-extended"), ["agx", "reinhard-extended"]),
    (("--contact-sheet", "--operators", "hable,durand,linear"), ["hable", "linear"]),
])  # fmt: skip
def test_plot_curve(clpix, exr, scene, tmp_path, monkeypatch, options, names) -> None:
    from gpuops.tone import curves as tone_curve

    seen: list[tone_curve.Curve] = []
    plot = tone_curve.plot

    def noted(drawn: list[tone_curve.Curve], *args: object, **more: bool) -> None:
        seen.extend(drawn)
        plot(drawn, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(tone_curve, "plot", noted)
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", "--plot-curve", tmp_path / "curve.SVG", *options)
    assert run.code == 0 and (not run.err or "clipped" in run.err), run.err
    assert b"<svg" in (tmp_path / "curve.SVG").read_bytes() and (tmp_path / "out.png").exists()
    assert [curve.params.operator for curve in seen] == names
    y = tonemap_reference.luminance(np.moveaxis(scene, -1, 0).astype(np.float64))
    scale = 0.18 / 2 ** np.log2(y).mean()
    for curve in seen:
        assert curve.params.exposure == pytest.approx(np.log2(scale), abs=TONEMAP["exposure"])
        if curve.params.operator in ("drago", "reinhard-extended"):
            assert curve.params.value("white") == pytest.approx(y.max() * scale, rel=TONEMAP["metered"])


def test_plots_are_of_one_input(clpix, exr, tmp_path) -> None:
    options = ("-o", tmp_path / "{index}.png", "--plot-curve", tmp_path / "curve.png")
    run = clpix("tonemap", exr, exr, *options)
    assert run.code == 2 and "one input" in run.err and list(tmp_path.iterdir()) == [exr]


@with_plots
def test_an_existing_plot_is_kept_unless_overwrite(clpix, exr, tmp_path) -> None:
    curve = tmp_path / "curve.png"
    curve.write_bytes(b"mine")
    command = ("tonemap", exr, "-o", tmp_path / "out.png", "--plot-curve", curve)
    run = clpix(*command)
    assert run.code == 1 and "--overwrite" in run.err and run.err.count("\n") == 1
    assert curve.read_bytes() == b"mine" and not (tmp_path / "out.png").exists()
    assert clpix(*command, "--overwrite").code == 0 and curve.read_bytes().startswith(b"\x89PNG")


@with_plots
def test_a_plot_never_overwrites_the_input(clpix, tmp_path) -> None:
    write(tmp_path / "in.png", np.full((4, 4, 3), 99, np.uint8), linear=False)
    before = (tmp_path / "in.png").read_bytes()
    options = ("-o", tmp_path / "out.png", "--plot-curve", tmp_path / "in.png", "--overwrite")
    run = clpix("tonemap", tmp_path / "in.png", *options)
    assert run.code == 1 and "never overwritten" in run.err and (tmp_path / "in.png").read_bytes() == before


def test_a_plot_without_matplotlib(clpix, exr, tmp_path, monkeypatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = clpix("tonemap", exr, "-o", tmp_path / "out.png", "--plot-curve", tmp_path / "curve.png")
    assert run.code == 2 and run.err == "clpix: error: a chart needs matplotlib: pip install 'clpix[plots]'\n"
    assert list(tmp_path.iterdir()) == [exr]


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["--fuse", "--no-fuse", "rows"])
@pytest.mark.parametrize("balance", ["none", "gray-world"])
def test_a_region_is_metered_straight_behind_a_step_of_alpha(
    clpix, tmp_path, monkeypatch, way, balance
) -> None:
    """A constant under a constant alpha, which a blur leaves: the exposure is that of the colour alone."""
    light = np.float32([0.25, 0.5, 0.125])
    pixels = np.zeros((24, 20, 4), np.float32)
    pixels[:12] = 30, 20, 10, 1
    pixels[12:] = *light, 0.25
    files.write(tmp_path / "in.tif", files.Picture(pixels, alpha=True, linear=True))
    if way == "rows":
        in_blocks(monkeypatch, 1)
    metering = ("--meter-region", "2,15,9,7", "--white-balance", balance, "--operator", "linear", "-v")
    run = clpix(
        *("blur", tmp_path / "in.tif", "--kind", "box", "--radius", "1", "then", "tonemap", *metering),
        *("-o", tmp_path / "out.exr", *((way,) if way != "rows" else ())),
    )
    (stops,) = re.findall(r"exposure ([-+.\d]+) stops", run.err)
    got = read(tmp_path / "out.exr")[18, 5, :3]
    if balance == "none":
        assert float(stops) == pytest.approx(np.log2(0.18 / (light @ (0.2126, 0.7152, 0.0722))), abs=1e-3)
        np.testing.assert_allclose(got, light * 2 ** float(stops), rtol=1e-3)
    else:
        np.testing.assert_allclose(got, np.full(3, 0.18), rtol=1e-3)
