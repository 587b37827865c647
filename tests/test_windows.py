"""Where pixels are: data and display windows, GeoTIFF, resolution and EXIF's subject follow every move.

A picture of coordinates says in its values where each pixel was. It shares nothing with what moves windows.
"""

import json
import math

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage
import tifffile
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuops import files
from gpuops.files import Metadata, Picture
from gpuops.params.moves import Frame

from .choices import each
from .conftest import in_blocks

#: Data windows in a display window of 48 × 36: inside, beyond it, partly outside, and outside altogether.
INSIDE, OVERSCAN = Frame(10, 5, 30, 20, 48, 36), Frame(-4, -3, 60, 44, 48, 36)
PARTLY, ORIGIN = Frame(-6, 20, 30, 28, 48, 36), Frame(8, 6, 26, 24, 48, 36, 100, -20)
WINDOWS = [INSIDE, OVERSCAN, PARTLY, ORIGIN, Frame(60, 5, 20, 20, 48, 36)]


def coordinates(frame: Frame) -> np.ndarray:
    """The middle of each pixel, seen from the display window, and 1."""
    y, x = np.mgrid[frame.y : frame.y + frame.rows, frame.x : frame.x + frame.columns] + 0.5
    return np.stack([x, y, np.ones_like(x)], -1).astype(np.float32)


def write(path, frame: Frame, pixels: np.ndarray | None = None, **more) -> None:  # type: ignore[no-untyped-def]
    pixels = coordinates(frame) if pixels is None else pixels
    alpha = pixels.shape[2] in (2, 4)
    files.write(path, Picture(pixels, alpha, True, Metadata(frame=frame, **more), alpha), overwrite=True)


def forward(step: tuple[str, ...], x, y, width: int, height: int):  # type: ignore[no-untyped-def]
    """Where a point of a window comes to by a step, and the new window's size: by the definitions of the steps."""
    name, _, value = step[:3]
    if name == "flip":
        across, down = value in ("horizontal", "both"), value in ("vertical", "both")
        return width - x if across else x, height - y if down else y, width, height
    if name == "crop":
        left, top, columns, rows = map(int, value.split(","))
        return x - left, y - top, columns, rows
    if name == "resize":
        columns, rows = map(int, value.split("x"))
        if "cover" in step:
            scale = max(columns / width, rows / height)
            return (x - width / 2) * scale + columns / 2, (y - height / 2) * scale + rows / 2, columns, rows
        return x * columns / width, y * rows / height, columns, rows
    angle = math.radians(float(value))
    c, s = math.cos(angle), math.sin(angle)
    columns, rows = width, height
    if "--no-expand" not in step:
        columns = math.ceil(width * abs(c) + height * abs(s) - 1e-6)
        rows = math.ceil(width * abs(s) + height * abs(c) - 1e-6)
    x, y = x - width / 2, y - height / 2
    return c * x - s * y + columns / 2, s * x + c * y + rows / 2, columns, rows


@st.composite
def chains(draw) -> list[tuple[str, ...]]:  # type: ignore[no-untyped-def]
    steps: list[tuple[str, ...]] = []
    width, height = 48, 36
    for _ in range(draw(st.integers(1, 4))):
        size = f"{draw(st.integers(34, 70))}x{draw(st.integers(30, 70))}"
        left, top = draw(st.integers(0, width // 3)), draw(st.integers(0, height // 3))
        region = f"{left},{top},{draw(st.integers(width // 2, width - left))},{height - top - draw(st.integers(0, 3))}"
        angle = str(draw(st.integers(-180, 180)))
        step = draw(st.sampled_from([
            ("flip", "--axis", "horizontal"), ("flip", "--axis", "vertical"), ("flip", "--axis", "both"),
            ("rotate", "--angle", "90"), ("rotate", "--angle", "180"), ("rotate", "--angle", "270"),
            ("rotate", "--angle", angle), ("rotate", "--angle", angle, "--no-expand"), ("crop", "--region", region),
            ("resize", "--size", size, "--fit", "stretch", "--filter", "catmull-rom"),
            ("resize", "--size", size, "--fit", "cover", "--filter", "catmull-rom"),
        ]))  # fmt: skip
        steps.append(step)
        _, _, width, height = forward(step, 0, 0, width, height)
    return steps


@pytest.mark.exhaustive
@settings(max_examples=120)
@given(chains(), st.sampled_from(WINDOWS[:4]), st.booleans())
@example([("rotate", "--angle", "30"), ("resize", "--size", "31x50", "--fit", "cover")], ORIGIN, True)
@example([("rotate", "--angle", "-131", "--no-expand"), ("crop", "--region", "0,0,27,36")], PARTLY, False)
def test_pixels_are_where_windows_say(clpix, tmp_path, steps, frame, by_rows) -> None:
    check_chain(clpix, tmp_path, steps, frame, by_rows)


@each(frame=WINDOWS[:4], by_rows=[False, True])
def test_pixels_of_a_chain_are_where_windows_say(clpix, tmp_path, frame, by_rows) -> None:
    turn, crop = ("rotate", "--angle", "-30"), ("crop", "--region", "10,8,40,41")
    resize = ("resize", "--size", "50x31", "--fit", "stretch", "--filter", "catmull-rom")
    check_chain(clpix, tmp_path, [turn, crop, ("flip", "--axis", "vertical"), resize], frame, by_rows)


def check_chain(clpix, tmp_path, steps, frame: Frame, by_rows: bool) -> None:  # type: ignore[no-untyped-def]
    write(tmp_path / "in.exr", frame)
    words: list[object] = []
    for name, *options in steps:
        words += ["then", name, *options] if words else [name, tmp_path / "in.exr", *options]
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix(*words, "-o", tmp_path / "out.exr", "--overwrite")
    assert run.code == 0, run.err
    picture = files.read(tmp_path / "out.exr")
    x, y, there = np.moveaxis(picture.pixels.astype(float), -1, 0)
    width, height = 48, 36
    for step in steps:
        x, y, width, height = forward(step, x, y, width, height)
    assert (picture.frame.width, picture.frame.height) == (width, height)
    mid = coordinates(picture.frame).astype(float)
    # A pixel counts whose neighbours are there too: at an edge, a filter may reach 1 by values that are not its own.
    inside = scipy.ndimage.binary_erosion(np.abs(there - 1) < 1e-4, np.ones((3, 3)))
    error = np.hypot(x - mid[..., 0], y - mid[..., 1])[inside]
    assert not error.size or np.median(error) < 0.06


@each(frame=WINDOWS, move=["flip", "flop", "rotate90", "rotate180", "rotate270"])
def test_windows_and_pixels_are_those_of_openimageio(clpix, tmp_path, rng, frame, move) -> None:
    oiio = pytest.importorskip("OpenImageIO")
    frame = frame._replace(left=0, top=0)  # to which OpenImageIO's quarter turns add nothing
    write(tmp_path / "in.exr", frame, rng.random((frame.rows, frame.columns, 3), np.float32))
    options = {
        "flip": ("flip", "--axis", "vertical"), "flop": ("flip", "--axis", "horizontal"),
        "rotate180": ("flip", "--axis", "both"),
    }.get(move, ("rotate", "--angle", move[6:]))  # fmt: skip
    run = clpix(options[0], tmp_path / "in.exr", *options[1:], "-o", tmp_path / "out.exr")
    assert (run.code, run.err) == (0, "")
    peer = getattr(oiio.ImageBufAlgo, move)(oiio.ImageBuf(str(tmp_path / "in.exr")))
    spec, picture = peer.spec(), files.read(tmp_path / "out.exr")
    assert picture.frame.window == (
        spec.x,
        spec.y,
        spec.full_x,
        spec.full_y,
        spec.full_width,
        spec.full_height,
    )
    np.testing.assert_array_equal(picture.pixels, peer.get_pixels(oiio.FLOAT))


@each(
    frame=[INSIDE, OVERSCAN, PARTLY], filter=["lanczos3", "mitchell", "catmull-rom"], size=["24x18", "37x31"]
)
def test_resized_windows_are_those_of_the_whole_window(clpix, tmp_path, rng, frame, filter, size) -> None:
    """Away from edges, values are those of the picture with everything that is displayed, cut or padded."""
    everything = Frame(-30, -30, 108, 96, 48, 36)
    pixels = rng.random((96, 108, 3), np.float32)
    write(tmp_path / "all.exr", everything, pixels)
    at = frame.y + 30, frame.x + 30
    write(tmp_path / "in.exr", frame, pixels[at[0] : at[0] + frame.rows, at[1] : at[1] + frame.columns])
    made = []
    for name in ("all", "in"):
        command = ("resize", tmp_path / f"{name}.exr", "--size", size, "--fit", "stretch", "--filter", filter)
        assert clpix(*command, "-o", tmp_path / f"{name}-out.exr").code == 0
        made.append(files.read(tmp_path / f"{name}-out.exr"))
    one, other = made
    y, x = other.frame.y - one.frame.y, other.frame.x - one.frame.x
    expected = one.pixels[y : y + other.height, x : x + other.width]
    np.testing.assert_allclose(other.pixels[4:-4, 4:-4], expected[4:-4, 4:-4], atol=1e-5)
    scale_x, scale_y = (int(n) / m for n, m in zip(size.split("x"), (48, 36), strict=True))
    box = (
        frame.x * scale_x,
        frame.y * scale_y,
        (frame.x + frame.columns) * scale_x,
        (frame.y + frame.rows) * scale_y,
    )
    left, top, right, bottom = math.floor(box[0]), math.floor(box[1]), math.ceil(box[2]), math.ceil(box[3])
    assert other.frame.data == (left, top, right - left, bottom - top)


@each(filter=["area", "nearest"])
def test_a_part_of_a_pixel_is_of_what_there_is(clpix, tmp_path, filter) -> None:
    write(tmp_path / "in.exr", Frame(3, 3, 3, 3, 9, 9), np.full((3, 3, 3), 0.25, np.float32))
    run = clpix(
        "resize", tmp_path / "in.exr", "--size", "4x4", "--filter", filter, "-o", tmp_path / "out.exr"
    )
    assert run.code == 0
    out = files.read(tmp_path / "out.exr")
    assert out.frame == Frame(1, 1, 2, 2, 4, 4) and np.array_equal(out.pixels, np.full((2, 2, 3), 0.25))


def test_a_crop_without_pixels_keeps_one_outside(clpix, tmp_path) -> None:
    write(tmp_path / "in.exr", INSIDE)
    run = clpix("crop", tmp_path / "in.exr", "--region", "42,6,5,8", "-o", tmp_path / "out.exr")
    assert (run.code, run.err) == (0, "")
    assert files.read(tmp_path / "out.exr").frame == Frame(-3, 0, 1, 8, 5, 8)
    run = clpix("crop", tmp_path / "in.exr", "--region", "42,6,9,8", "-o", tmp_path / "no.exr")
    assert run.code == 1 and "not inside the image of 48 × 36" in run.err


@each(frame=WINDOWS, by_rows=[False, True], channels=[1, 2, 3, 4])
def test_other_formats_get_the_display_window(clpix, tmp_path, rng, frame, by_rows, channels) -> None:
    pixels = rng.random((frame.rows, frame.columns, channels), np.float32).round(3)
    write(tmp_path / "in.exr", frame, pixels)
    pixels = files.read(tmp_path / "in.exr").pixels
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix("convert", tmp_path / "in.exr", "-o", tmp_path / "out.tif")
    assert run.code == 0 and run.err.count("\n") == 1
    assert "TIFF has no data window: it gets the display window of 48 × 36 pixels" in run.err
    assert ("beyond" in run.err) == (frame.data != INSIDE.data and frame is not ORIGIN)
    expected = np.zeros((200, 200, channels), np.float32)  # from -50, -50 on
    expected[50 + frame.y : 50 + frame.y + frame.rows, 50 + frame.x : 50 + frame.x + frame.columns] = pixels
    got = files.read(tmp_path / "out.tif")
    if channels in (2, 4):  # what associated alpha becomes on its way to floats is another test's
        np.testing.assert_allclose(got.pixels, expected[50:86, 50:98], atol=1e-6)
    else:
        np.testing.assert_array_equal(got.pixels, expected[50:86, 50:98])


def test_a_huge_window_is_refused(clpix, tmp_path) -> None:
    write(tmp_path / "in.exr", Frame(0, 0, 4, 4, 1 << 20, 1 << 20))
    write(tmp_path / "far.exr", Frame(1 << 20, 1 << 20, 4, 4, 1 << 20, 1 << 20))
    run = clpix("convert", tmp_path / "in.exr", "-o", tmp_path / "out.pfm")
    assert run.code == 1 and run.err.count("\n") == 1 and "crop it first" in run.err
    assert not (tmp_path / "out.pfm").exists()
    run = clpix("compare", tmp_path / "in.exr", tmp_path / "far.exr")
    assert run.code == 2 and run.err.count("\n") == 1 and "crop it first" in run.err


@each(by_rows=[False, True])
def test_pictures_are_compared_where_they_are(clpix, tmp_path, rng, by_rows) -> None:
    pixels = rng.random((20, 30, 3), np.float32)
    for name, frame in (
        ("a", INSIDE),
        ("b", INSIDE._replace(x=15)),
        ("c", ORIGIN._replace(columns=30, rows=20)),
    ):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "x.exr", frame, pixels)
    a, b, c = (tmp_path / name / "x.exr" for name in "abc")
    shown = np.zeros((36, 48, 3), np.float32)
    shown[5:25, 10:40] = pixels
    files.write(tmp_path / "all.tif", Picture(shown, linear=True))
    moved = np.zeros_like(shown)
    moved[5:25, 15:45] = pixels
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
            patch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
        assert clpix("compare", a, tmp_path / "all.tif").code == 0
        run = clpix("compare", a, b, "--json")
        assert run.code == 1
        union = (moved - shown)[5:25, 10:45]
        assert json.loads(run.out)["rmse"] == pytest.approx(np.sqrt((union**2).mean()), rel=1e-6)
        files.write(tmp_path / "mask.png", Picture(np.zeros((36, 48, 1), np.uint8)))
        run = clpix("compare", a, b, "--mask", tmp_path / "mask.png")
        assert run.code == 2 and "no pixel" in run.err
        run = clpix("compare", a, c)
        assert run.code == 2 and "windows differ: pixels at 108,-14 of the window 48×36 at 100,-20" in run.err
        run = clpix("regress", a.parent, b.parent)
        assert run.code == 1 and "x.exr" in run.out


@each(by_rows=[False, True], frame=[INSIDE, OVERSCAN, PARTLY])
def test_pictures_are_laid_where_they_are(clpix, tmp_path, rng, by_rows, frame) -> None:
    one, other = rng.random((36, 48, 3), np.float32), rng.random((frame.rows, frame.columns, 3), np.float32)
    write(tmp_path / "one.exr", Frame.of(36, 48), one)
    write(tmp_path / "other.exr", frame, other)
    large = np.zeros((200, 200, 3), np.float32)
    large[50 + frame.y : 50 + frame.y + frame.rows, 50 + frame.x : 50 + frame.x + frame.columns] = other
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        command = ("mix", tmp_path / "one.exr", "--picture", tmp_path / "other.exr", "--amount", "0.25")
        assert clpix(*command, "-o", tmp_path / "mixed.exr").code == 0
        flip = ("flip", tmp_path / "other.exr", "--axis", "both", "then", "flip", "--axis", "both")
        mixed = (
            "then",
            "mix",
            "--picture",
            tmp_path / "one.exr",
            "--amount",
            "1",
            "-o",
            tmp_path / "back.exr",
        )
        assert clpix(*flip, *mixed).code == 0
    mixed_pixels = files.read(tmp_path / "mixed.exr").pixels
    np.testing.assert_allclose(mixed_pixels, 0.75 * one + 0.25 * large[50:86, 50:98], atol=1e-6)
    back, padded = files.read(tmp_path / "back.exr"), np.zeros_like(large)
    padded[50:86, 50:98] = one
    assert back.frame == frame
    at = 50 + frame.y, 50 + frame.x
    expected = padded[at[0] : at[0] + frame.rows, at[1] : at[1] + frame.columns]
    np.testing.assert_allclose(back.pixels, expected, atol=1e-6)


def test_other_windows_are_not_laid_on_each_other(clpix, tmp_path) -> None:
    write(tmp_path / "a.exr", INSIDE)
    write(tmp_path / "b.exr", ORIGIN)
    write(tmp_path / "c.exr", INSIDE._replace(width=50))
    for name, words in (("b", "their windows differ"), ("c", "50 × 36 pixels and the image 48 × 36")):
        for command in (("mix", "--picture"), ("register", "--reference"), ("merge", "--align", "none")):
            other = tmp_path / f"{name}.exr"
            run = clpix(command[0], tmp_path / "a.exr", *command[1:], other, "-o", tmp_path / "out.exr")
            assert run.code == 1 and run.err.count("\n") == 1 and words in run.err


def test_info_says_the_windows(clpix, tmp_path) -> None:
    write(tmp_path / "in.exr", ORIGIN)
    assert "pixels at 108,-14 of the window 48×36 at 100,-20" in clpix("info", tmp_path / "in.exr").out
    told = json.loads(clpix("info", tmp_path / "in.exr", "--json").out)
    assert [108, -14, 100, -20, 48, 36] in [
        one["metadata"]["windows"] for one in (told if isinstance(told, list) else [told])
    ]


def test_a_spectrum_keeps_the_windows(clpix, tmp_path, rng) -> None:
    write(tmp_path / "in.exr", ORIGIN, rng.random((24, 26, 3), np.float32))
    for there, back, name in (("fft", "ifft", "a.npz"), ("dwt", "idwt", "b.exr")):
        assert clpix(there, tmp_path / "in.exr", "-o", tmp_path / name).code == 0
        assert clpix(back, tmp_path / name, "-o", tmp_path / "out.exr", "--overwrite").code == 0
        assert files.read(tmp_path / "out.exr").frame == ORIGIN


MOVES = [
    ("flip", "--axis", "horizontal"), ("flip", "--axis", "vertical"), ("rotate", "--angle", "90"),
    ("rotate", "--angle", "270"), ("rotate", "--angle", "20"), ("crop", "--region", "7,3,20,11"),
    ("resize", "--size", "17x31", "--fit", "stretch"), ("resize", "--size", "20x20", "--fit", "cover"),
]  # fmt: skip


@each(kind=["scale", "affine"], point=[1, 2], move=MOVES)
def test_geotiff_follows(clpix, tmp_path, kind, point, move) -> None:
    """Corners of pixels are at the same places of the world as before; read by tifffile."""
    keys = (1, 1, 0, 1, 1025, 0, 1, point)
    if kind == "scale":
        tags = [(33550, 12, 3, (2.5, 1.25, 0.5)), (33922, 12, 6, (3.0, 2.0, 0.0, 5e5, 4.2e6, 7.0))]
    else:
        tags = [(34264, 12, 16, (2.0, 0.5, 0, 1e5, 0.25, -3.0, 0, 2e6, 0, 0, 1, 4, 0, 0, 0, 1))]
    tags = [(*tag, True) for tag in (*tags, (34735, 3, 8, keys))]
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((30, 40, 3), np.uint8), photometric="rgb", extratags=tags)
    run = clpix(move[0], tmp_path / "in.tif", *move[1:], "-o", tmp_path / "out.tif")
    assert (run.code, run.err) == (0, "")
    before, after = (_world(tmp_path / name, point) for name in ("in.tif", "out.tif"))
    for x, y in ((0, 0), (40, 0), (0, 30), (40, 30), (13.5, 7.25)):
        x_, y_, _, _ = forward(move, x, y, 40, 30)
        np.testing.assert_allclose(after(x_, y_), before(x, y), rtol=0, atol=1e-9 * 5e6)


def _world(path, point: int):  # type: ignore[no-untyped-def]
    with tifffile.TiffFile(path) as file:
        tags = {tag.code: tag.value for tag in file.pages[0].tags}
    half = 0.5 if point == 2 else 0
    if 34264 in tags:
        matrix = np.reshape(tags[34264], (4, 4))
        return lambda x, y: (matrix @ [x - half, y - half, 0, 1])[:2]
    scale, tie = tags[33550], tags[33922]
    return lambda x, y: (tie[3] + (x - half - tie[0]) * scale[0], tie[4] - (y - half - tie[1]) * scale[1])


def test_what_cannot_follow_is_named(clpix, tmp_path) -> None:
    tags = [(33922, 12, 12, tuple(map(float, range(12))), True), (50844, 12, 92, (1.0,) * 92, True)]
    tifffile.imwrite(
        tmp_path / "in.tif",
        np.zeros((30, 40, 3), np.uint8),
        extratags=tags,
        resolution=(100, 50),
        resolutionunit="INCH",
    )
    run = clpix("rotate", tmp_path / "in.tif", "--angle", "20", "-o", tmp_path / "out.tif")
    named = "rational polynomial coefficients and the GeoTIFF's tie points and the resolution, which is not the same"
    assert run.code == 0 and run.err.count("\n") == 1 and named in run.err
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert not {33922, 50844} & {tag.code for tag in file.pages[0].tags}
    run = clpix("blur", tmp_path / "in.tif", "--sigma", "1", "-o", tmp_path / "blurred.tif")
    assert (run.code, run.err) == (0, "")
    with tifffile.TiffFile(tmp_path / "blurred.tif") as file:
        assert {33922, 50844} <= {tag.code for tag in file.pages[0].tags}


@each(move=MOVES)
def test_resolution_and_the_shape_of_pixels_follow(clpix, tmp_path, move) -> None:
    PIL.Image.new("RGB", (40, 30)).save(tmp_path / "in.png", dpi=(300, 150))
    files.write(
        tmp_path / "in.exr",
        Picture(np.zeros((30, 40, 3), np.float32), linear=True,
                metadata=Metadata(attributes={"PixelAspectRatio": ("float", 2.0)})),
    )  # fmt: skip
    for name in ("png", "exr"):
        clpix(move[0], tmp_path / f"in.{name}", *move[1:], "-o", tmp_path / f"out.{name}")
    dpi = PIL.Image.open(tmp_path / "out.png").info.get("dpi")
    aspect = files.read(tmp_path / "out.exr").metadata.attributes.get("PixelAspectRatio", (None, 1.0))[1]
    if move[-1] == "20" and move[0] == "rotate":
        assert dpi is None and aspect == 1
        return
    turned = move[0] == "rotate"
    wider = 40 / 17 / (30 / 31) if "17x31" in move else 1  # how many times as wide a pixel is
    assert aspect == pytest.approx(0.5 if turned else 2 * wider)
    assert dpi == pytest.approx((150, 300) if turned else (300, 150 * wider), rel=1e-3)


@each(move=MOVES)
def test_the_subject_of_a_photograph_follows(clpix, tmp_path, move) -> None:
    tags = PIL.Image.Exif()
    tags.get_ifd(0x8769).update({0x9214: (15, 9, 8, 4), 0xA214: (15, 9)})
    PIL.Image.new("RGB", (40, 30)).save(tmp_path / "in.jpg", exif=tags.tobytes())
    run = clpix(move[0], tmp_path / "in.jpg", *move[1:], "-o", tmp_path / "out.jpg")
    with PIL.Image.open(tmp_path / "out.jpg") as image:
        found = image.getexif().get_ifd(0x8769)
    x, y, _, _ = forward(move, 15.5, 9.5, 40, 30)
    assert found[0xA214] == (int(x + 1e-9), int(y + 1e-9))
    if "20" in move:
        assert "place of the subject" in run.err and 0x9214 not in found
    else:
        right, bottom, _, _ = forward(move, 19.5, 11.5, 40, 30)
        size = round(2 * abs(right - x)), round(2 * abs(bottom - y))
        assert run.err == "" and found[0x9214] == (int(x + 1e-9), int(y + 1e-9), *size)
