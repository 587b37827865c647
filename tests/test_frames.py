"""Frames of animations and pages of TIFF, each to a file of its own."""

from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

from gpuops import FileError, GpuopsWarning
from gpuops.files import read

from .choices import each

RED, GREEN, BLUE = (192, 0, 0, 255), (0, 192, 0, 255), (0, 0, 192, 255)


def frames() -> list[np.ndarray]:
    """A red ground on which a square moves: encoders store only what changes, which readers compose."""
    found = []
    for at, colour in ((2, GREEN), (6, BLUE), (10, GREEN)):
        frame = np.full((16, 20, 4), RED, np.uint8)
        frame[4:8, at : at + 4] = colour
        found.append(frame)
    return found


def animation(path: Path) -> list[np.ndarray]:
    first, *others = map(Image.fromarray, frames())
    options = {"lossless": True} if path.suffix == ".webp" else {}
    first.save(path, save_all=True, append_images=others, duration=[40, 80, 120], loop=0, **options)
    return frames()


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.png", "a.apng"])
def test_every_frame_is_composed(name, clpix, tmp_path) -> None:
    expected = animation(tmp_path / name)
    run = clpix("convert", tmp_path / name, "--frames", "all", "-o", tmp_path / "out.png")
    assert (run.code, run.err) == (0, "")
    assert sorted(path.name for path in tmp_path.glob("out*")) == [
        "out-0000.png",
        "out-0001.png",
        "out-0002.png",
    ]
    for i, frame in enumerate(expected):
        found = read(tmp_path / f"out-{i:04d}.png").pixels
        assert np.array_equal(found[:, :, :3], frame[:, :, :3]) and np.all(found[:, :, 3:] == 255)


def test_layers_are_frames(tmp_path) -> None:
    expected = animation(tmp_path / "a.gif")
    picture = read(tmp_path / "a.gif", layer=2)
    assert np.array_equal(picture.pixels[:, :, :3], expected[2][:, :, :3])
    assert (picture.layer, picture.layers) == ("2", ("0", "1", "2"))
    with pytest.raises(FileError, match="has no frame 3; it has frames 0 to 2"):
        read(tmp_path / "a.gif", layer=3)


@each(wanted__numbers=[("1", [1]), ("1:3", [1, 2]), (":2", [0, 1]), ("2:", [2]), ("1:99", [1, 2])])
def test_some_frames(wanted, numbers, clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    out = tmp_path / "out" / "{stem}_{frame}.png"
    assert clpix("convert", tmp_path / "a.gif", "--frames", wanted, "-o", out).code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"a_{i:04d}.png" for i in numbers]


def test_pages(clpix, tmp_path) -> None:
    pages = np.random.default_rng(3).integers(0, 65536, (3, 11, 13), dtype=np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", pages, photometric="minisblack")
    (tmp_path / "out").mkdir()
    assert (
        clpix(
            "flip", tmp_path / "a.tif", "--frames", "all", "--axis", "horizontal", "-o", f"{tmp_path}/out/"
        ).code
        == 0
    )
    for i, page in enumerate(pages):
        assert np.array_equal(read(tmp_path / "out" / f"a-{i:04d}.tif").pixels[:, :, 0], page[:, ::-1])


def test_one_picture_is_one_frame(clpix, tmp_path) -> None:
    Image.fromarray(frames()[0][:, :, :3]).save(tmp_path / "a.bmp")
    assert clpix("convert", tmp_path / "a.bmp", "--frames", "all", "-o", tmp_path / "b.png").code == 0
    assert (tmp_path / "b-0000.png").exists()


def test_frames_of_avif(clpix, tmp_path) -> None:
    first, *others = [Image.fromarray(frame[:, :, :3]) for frame in frames()]
    first.save(tmp_path / "a.avif", save_all=True, append_images=others, quality=100, subsampling="4:4:4")
    assert clpix("convert", tmp_path / "a.avif", "--frames", "1:", "-o", tmp_path / "b.png").code == 0
    for i in (1, 2):
        off = np.abs(read(tmp_path / f"b-{i:04d}.png").pixels.astype(int) - frames()[i][:, :, :3])
        assert off.max() <= 4


@pytest.mark.parametrize("bits", [10, 12])
def test_frames_of_deep_avif(bits, tmp_path, rng) -> None:
    values = rng.integers(0, 2**bits, (3, 16, 20, 3), np.uint16)
    (tmp_path / "a.avif").write_bytes(imagecodecs.avif_encode(values, level=100, bitspersample=bits))
    for i, frame in enumerate(values):
        found = read(tmp_path / "a.avif", layer=i).pixels
        assert np.array_equal(found, np.rint(frame * (65535 / (2**bits - 1))))


@pytest.mark.parametrize(("options", "code", "words"), [
    (("--frames", "7"), 1, "a.gif: has no frame 7; it has frames 0 to 2"),
    (("--frames", "5:"), 1, "a.gif: has no frames 5:; it has 3, counted from 0"),
    (("--frames", "x"), 2, "give all, a number from 0 on, or N:M"),
    (("--frames", "all", "--layer", "1"), 2, "leave out one"),
])  # fmt: skip
def test_what_is_refused(options, code, words, clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    run = clpix("convert", tmp_path / "a.gif", *options, "-o", tmp_path / "out.png")
    assert run.code == code and words in run.err.replace("\n", " ") and not list(tmp_path.glob("out*"))


def test_what_frames_lose_is_said_of_the_animation(clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    out = tmp_path / "b.gif"
    run = clpix("grade", tmp_path / "a.gif", "--exposure", 3, "--frames", "all", "-o", out)
    assert run.code == 0 and run.err.startswith(f"clpix: warning: {out}: frame 0: ")
    assert run.err.endswith("; so it is in 2 more files\n") and run.err.count("\n") == 1


def test_each_input_is_tried(clpix, tmp_path) -> None:
    for name in "ac":
        animation(tmp_path / f"{name}.gif")
    (tmp_path / "b.gif").write_bytes(b"GIF89a")
    Image.fromarray(frames()[0][:, :, :3]).save(tmp_path / "d.bmp")
    inputs = [tmp_path / name for name in ("a.gif", "b.gif", "missing.gif", "c.gif", "d.bmp")]
    run = clpix("convert", *inputs, "--frames", "2", "-o", tmp_path / "out/{stem}.png")
    assert run.code == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a-0002.png", "c-0002.png"]
    lines = run.err.splitlines()
    assert [any(name in line for line in lines) for name in ("b.gif", "missing.gif", "d.bmp")] == [True] * 3
    assert lines[-1] == "clpix: error: 3 of 5 inputs failed"


def test_a_damaged_animation_is_one_line(clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    (tmp_path / "b.gif").write_bytes((tmp_path / "a.gif").read_bytes()[:-40])
    run = clpix("convert", tmp_path / "b.gif", "--frames", "2", "-o", tmp_path / "out.png")
    assert run.code == 1 and run.err.count("\n") == 1


def test_the_field_needs_frames(clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    run = clpix("convert", tmp_path / "a.gif", "-o", tmp_path / "{frame}.png")
    assert run.code == 2 and "add --frames all" in run.err


@each(source=["a.gif", "a.webp", "a.png"], name=["out.gif", "out.webp", "out.apng"])
def test_animations_keep_their_times(source, name, clpix, tmp_path) -> None:
    expected = animation(tmp_path / source)
    run = clpix("convert", tmp_path / source, "--frames", "all", "-o", tmp_path / name)
    assert (run.code, run.err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((source, name))
    with Image.open(tmp_path / name) as image:
        assert (image.n_frames, image.info["loop"]) == (3, 0)
        for i, frame in enumerate(expected):
            image.seek(i)
            image.load()
            assert image.info["duration"] == (40, 80, 120)[i]
            found = np.asarray(image.convert("RGB")).astype(int)
            off = np.abs(found - frame[:, :, :3])
            assert off.mean() < 12 if name == "out.webp" else off.max() == 0


@pytest.mark.parametrize("name", ["out.gif", "out.apng", "out.webp"])
def test_frames_of_unequal_size_are_no_animation(name, clpix, tmp_path) -> None:
    for page in frames()[0], frames()[1][:9, :7]:
        tifffile.imwrite(tmp_path / "a.tif", page[:, :, :3], append=True, photometric="rgb")
    run = clpix("convert", tmp_path / "a.tif", "--frames", "all", "-o", tmp_path / name)
    assert (run.code, run.err.count("\n"), (tmp_path / name).exists()) == (1, 1, False)
    assert "frames of one size, and these have 7 x 9 and 20 x 16 pixels" in run.err
    options = ("--frames", "all", "--size", "20x16", "--fit", "cover", "--quiet")
    assert clpix("resize", tmp_path / "a.tif", *options, "-o", tmp_path / name).code == 0


def test_a_gif_is_shown_on_its_screen(tmp_path) -> None:
    """GIF89a, section 20: an image has to fit within the logical screen, whose size is in the header."""
    animation(tmp_path / "a.gif")
    data = (tmp_path / "a.gif").read_bytes()
    (tmp_path / "b.gif").write_bytes(data[:6] + bytes([12, 0, 7, 0]) + data[10:])
    for i, frame in enumerate(frames()):
        with pytest.warns(GpuopsWarning, match="has a frame beyond its screen of 12 x 7 pixels"):
            found = read(tmp_path / "b.gif", layer=i).pixels
        assert np.array_equal(found[:, :, :3], frame[:7, :12, :3])


@pytest.mark.parametrize("name", ["out.gif", "out.apng"])
def test_animations_with_transparency(name, clpix, tmp_path) -> None:
    first, *others = frames()
    for frame in (first, *others):
        frame[:, :, 3] = np.where((frame[:, :, :3] == RED[:3]).all(axis=2), 0, 255)
    images = [Image.fromarray(frame) for frame in (first, *others)]
    images[0].save(tmp_path / "a.webp", save_all=True, append_images=images[1:], lossless=True, duration=50)
    assert clpix("convert", tmp_path / "a.webp", "--frames", "1:", "-o", tmp_path / name).code == 0
    with Image.open(tmp_path / name) as image:
        assert image.n_frames == 2
        for i, frame in enumerate(others):
            image.seek(i)
            found = np.asarray(image.convert("RGBA"))
            assert np.array_equal(found[:, :, 3], frame[:, :, 3])
            shown = frame[:, :, 3] > 0
            assert np.array_equal(found[shown], frame[shown])


def test_an_animation_that_is_there_stays(clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    (tmp_path / "b.gif").write_bytes(b"precious")
    run = clpix("convert", tmp_path / "a.gif", "--frames", "all", "-o", tmp_path / "b.gif")
    assert run.code == 1 and "exists already" in run.err and (tmp_path / "b.gif").read_bytes() == b"precious"
    assert (
        clpix("convert", tmp_path / "a.gif", "--frames", "all", "-o", tmp_path / "b.gif", "--overwrite").code
        == 0
    )
    run = clpix(
        "convert", tmp_path / "a.gif", "--frames", "all", "-o", tmp_path / "c.gif", "--dtype", "float"
    )
    assert (run.code, run.err.count("\n")) == (2, 1)


def test_an_animated_png_has_8_bits_and_a_compression(clpix, tmp_path) -> None:
    animation(tmp_path / "a.gif")
    run = clpix(
        "convert", tmp_path / "a.gif", "--frames", "all", "-o", tmp_path / "b.apng", "--dtype", "uint16"
    )
    assert (run.code, "animated PNG holds no 16-bit integers" in run.err) == (2, True)
    assert not (tmp_path / "b.apng").exists()
    sizes = []
    for compression in ("none", "9"):
        path = tmp_path / f"{compression}.apng"
        options = ("--frames", "all", "--compression", compression)
        assert clpix("convert", tmp_path / "a.gif", *options, "-o", path).code == 0
        sizes.append(path.stat().st_size)
        with Image.open(path) as image:
            assert (image.format, image.n_frames) == ("PNG", 3)
    assert sizes[0] > 2 * sizes[1]
