"""What values stand for: data stay data, and colours keep their space, without any option."""

import json
import struct
import zlib
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage
import tifffile
from PIL.PngImagePlugin import PngInfo

from gpuops import GpuopsWarning, files
from gpuops.files import Metadata, Picture
from gpuops.files.hdr_light import HdrLight
from gpuops.pixels.colour import SRGB
from gpuops.pixels.spaces import named

from .choices import each, pairs
from .conftest import in_blocks


@pytest.fixture
def counts(rng) -> np.ndarray:
    return rng.integers(0, 4001, (24, 36)).astype(np.uint16)


def written(path, counts: np.ndarray, kind: str):  # type: ignore[no-untyped-def]
    """A file of counts, written by other programs but for NPZ."""
    path = path / f"{kind}.{kind if kind in ('npy', 'npz', 'png', 'tif') else 'tif'}"
    if kind == "npy":
        np.save(path, counts)
    elif kind == "npz":
        np.savez(path, pixels=counts, linear=True, data=True)
    elif kind == "png":
        PIL.Image.fromarray(counts).save(path)
    else:
        text = {
            "ome": "<?xml version='1.0'?><OME xmlns='http://www.openmicroscopy.org/Schemas/OME/2016-06'/>"
        }
        geo = [(34735, 3, 4, (1, 1, 0, 0), True)] if kind == "geo" else []
        tifffile.imwrite(path, counts, imagej=kind == "imagej", description=text.get(kind), extratags=geo)
    return path


def means(counts: np.ndarray) -> np.ndarray:
    rows, columns = counts.shape
    return counts.reshape(rows // 2, 2, columns // 2, 2).mean((1, 3))


HALF = ("--scale", "50%", "--filter", "area")


@each(
    kind=["npy", "npz", "imagej", "ome", "geo", "png", "tif"],
    by_rows=[False, True],
    name=["out.npy", "out.tif"],
)
def test_a_mean_of_counts_is_the_mean_of_counts(clpix, tmp_path, counts, kind, by_rows, name) -> None:
    """Ties go to even numbers, as numpy has them: not one value is off."""
    path = written(tmp_path, counts, kind)
    said = ["--input-colour", "data"] if kind in ("png", "tif") else []
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        assert clpix("resize", path, *HALF, *said, "-o", tmp_path / name).code == 0
    np.testing.assert_array_equal(files.read(tmp_path / name).pixels[..., 0], np.rint(means(counts)))


def test_data_of_other_types(clpix, tmp_path, counts) -> None:
    """Floats get the numbers, and other integers the same part of their range."""
    path = written(tmp_path, counts, "npy")
    assert clpix("resize", path, *HALF, "-o", tmp_path / "out.exr").err == ""
    np.testing.assert_array_equal(files.read(tmp_path / "out.exr").pixels[..., 0], means(counts))
    run = clpix("resize", path, *HALF, "--dtype", "uint8", "-o", tmp_path / "out.png")
    assert "PNG cannot say that its values are data; they are taken for sRGB" in run.err
    expected = means(counts) * 255 / 65535
    assert np.abs(np.asarray(PIL.Image.open(tmp_path / "out.png")) - expected).max() <= 0.5 + 1e-5
    assert b"sRGB" not in (tmp_path / "out.png").read_bytes()[:200]


def test_work_on_data(clpix, tmp_path, counts) -> None:
    path, other = written(tmp_path, counts, "npy"), tmp_path / "other.npy"
    np.save(other, counts[::-1])
    blur = scipy.ndimage.gaussian_filter(counts.astype(float), 1.5, mode="reflect", truncate=4)
    for command, expected in (
        (("blur", "--sigma", "1.5"), blur),
        (("mix", "--picture", other, "--amount", "0.25"), 0.75 * counts + 0.25 * counts[::-1]),
        (("flip", "--axis", "both", "then", "blur", "--sigma", "1.5"), blur[::-1, ::-1]),
    ):
        run = clpix(command[0], path, *command[1:], "-o", tmp_path / "out.npy", "--overwrite")
        assert (run.code, run.err) == (0, "")
        assert np.abs(np.load(tmp_path / "out.npy")[..., 0] - expected).max() < 0.51
    for there, back in (("fft", "ifft"), ("dwt", "idwt")):
        assert clpix(there, path, "-o", tmp_path / f"{there}.npz").code == 0
        assert clpix(back, tmp_path / f"{there}.npz", "-o", tmp_path / f"{back}.npy").code == 0
        np.testing.assert_array_equal(np.load(tmp_path / f"{back}.npy")[..., 0], counts)
    written(tmp_path, counts, "png")
    assert clpix("compare", path, tmp_path / "png.png").out.endswith("equal\n")


def test_data_are_not_converted(clpix, tmp_path, counts) -> None:
    path = written(tmp_path, counts, "npy")
    for option, words in (
        (("--colour", "srgb"), "data, which have no colour"),
        (("--dither",), "data, which are"),
    ):
        run = clpix("blur", path, "--sigma", "1", *option, "-o", tmp_path / "out.png")
        assert run.code in (1, 2) and run.err.count("\n") == 1 and words in run.err
    assert "16 bits, data" in clpix("info", path).out
    told = json.loads(clpix("info", path, "--json").out)[0]
    assert told["colour"]["transfer"] == "data"


def test_an_option_overrules_files_and_a_variable_what_they_leave_open(
    clpix, tmp_path, monkeypatch, rng
) -> None:
    pixels = rng.integers(0, 256, (12, 16, 3)).astype(np.uint8)
    files.write(tmp_path / "p3.png", Picture(pixels).meant(named("display-p3")))
    files.write(tmp_path / "srgb.png", Picture(pixels))
    PIL.Image.fromarray(pixels).save(tmp_path / "open.tif")

    def made(name: str, *options: str) -> np.ndarray:
        run = clpix("resize", tmp_path / name, *HALF, *options, "-o", tmp_path / "out.png", "--overwrite")
        assert run.code == 0, run.err
        picture = files.read(tmp_path / "out.png")
        assert picture.colour == (named("display-p3") if name == "p3.png" and not options else SRGB)
        return picture.pixels

    light, numbers = made("srgb.png"), np.rint(pixels.reshape(6, 2, 8, 2, 3).mean((1, 3)))
    np.testing.assert_array_equal(made("p3.png", "--input-colour", "srgb"), light)
    np.testing.assert_array_equal(made("p3.png", "--input-color", "data"), numbers)
    np.testing.assert_array_equal(made("open.tif"), light)
    monkeypatch.setenv("CLPIX_INPUT_COLOUR", "data")
    np.testing.assert_array_equal(made("open.tif"), numbers)
    np.testing.assert_array_equal(made("srgb.png"), light)
    np.testing.assert_array_equal(made("open.tif", "--input-colour", "srgb"), light)
    monkeypatch.setenv("CLPIX_INPUT_COLOUR", "dada")
    run = clpix("flip", tmp_path / "open.tif", "--axis", "both", "-o", tmp_path / "no.png")
    assert run.code == 2 and "CLPIX_INPUT_COLOUR" in run.err


def test_a_guess_is_said_once(clpix, tmp_path, counts) -> None:
    for name in ("a", "b"):
        tifffile.imwrite(tmp_path / f"{name}.tif", counts)
    inputs = [tmp_path / "a.tif", tmp_path / "b.tif"]
    (tmp_path / "out").mkdir()
    (tmp_path / "flipped").mkdir()
    run = clpix("blur", *inputs, "--sigma", "1", "-o", tmp_path / "out/")
    assert run.code == 0 and run.err.count("--input-colour data") == 1
    assert clpix("flip", *inputs, "--axis", "both", "-o", tmp_path / "flipped/").err == ""


SPACES = ("display-p3", "adobe-rgb", "rec2100-pq", "rec2100-hlg")
LABELLED = {"png": 16, "tif": 16, "avif": 10, "heic": 10, "jxl": 16}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):  # type: ignore[no-untyped-def]
    """Pictures of a smooth light in each space and format, as far as the format can say the space."""
    folder = tmp_path_factory.mktemp("labelled")
    y, x = np.mgrid[:40, :60] / 60
    for space in SPACES:
        shades = 0.25 + 0.5 * np.stack([x, y, (x + y) / 2], -1)
        for ending, _ in LABELLED.items():
            colour = named(space)
            fmt = files.format_of(f"x.{ending}")
            if ending == "heic" and find_spec("pillow_heif") is None:
                continue
            if files.can_say(fmt, colour, np.dtype(np.uint16), gray=False):
                pixels = np.round(shades * 65535).astype(np.uint16)
                files.write(folder / f"{space}.{ending}", Picture(pixels).meant(colour))
    np.save(folder / "one.npy", np.ones((1, 1), np.float32))
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", LABELLED)
@pytest.mark.parametrize("space", SPACES)
def test_colours_keep_their_space(clpix, tmp_path, labelled, space, ending) -> None:
    source = labelled / f"{space}.{ending}"
    if ending == "heic":
        pytest.importorskip("pillow_heif", reason="needs the extra formats")
    if not source.exists():
        assert (space, ending) in {("adobe-rgb", "avif"), ("adobe-rgb", "heic"), ("adobe-rgb", "jxl")}
        return
    before = files.read(source)
    for command in (
        ("blur", "--sigma", "2"), ("resize", "--scale", "50%"), ("rotate", "--angle", "30"),
        ("convolve", "--kernel", labelled / "one.npy"),
    ):  # fmt: skip
        target = tmp_path / f"{command[0]}.{ending}"
        run = clpix(command[0], source, *command[1:], "-o", target)
        assert (run.code, run.err) == (0, ""), run.err
        after = files.read(target)
        assert after.colour == before.colour and after.pixels.dtype == np.uint16
    most = np.abs(after.pixels.astype(int) - before.pixels).max()
    codec = 0 if ending in ("png", "tif") else 5 * 65535 / 1023  # what the codec adds, a second time
    assert most <= 65535 / (2 ** LABELLED[ending] - 1) + codec


def test_light_of_other_primaries_stays(clpix, tmp_path, rng) -> None:
    light = named("acescg")
    files.write(tmp_path / "in.exr", Picture(rng.random((8, 9, 3), np.float32), linear=True).meant(light))
    assert clpix("blur", tmp_path / "in.exr", "--sigma", "1", "-o", tmp_path / "out.exr").err == ""
    assert files.read(tmp_path / "out.exr").colour.primaries == light.primaries
    pixels = rng.integers(0, 65536, (8, 9, 3)).astype(np.uint16)
    files.write(tmp_path / "p3.png", Picture(pixels).meant(named("display-p3")))
    assert clpix("blur", tmp_path / "p3.png", "--sigma", "1", "-o", tmp_path / "p3.exr").err == ""
    assert files.read(tmp_path / "p3.exr").colour.primaries == "Display P3"


def test_what_is_made_for_a_display_is_srgb(clpix, tmp_path, rng) -> None:
    pixels = rng.integers(0, 65536, (8, 9, 3)).astype(np.uint16)
    files.write(tmp_path / "pq.png", Picture(pixels).meant(named("rec2100-pq")))
    assert clpix("tonemap", tmp_path / "pq.png", "-o", tmp_path / "out.png").code == 0
    shown = files.read(tmp_path / "out.png")
    assert shown.colour == SRGB and shown.pixels.dtype == np.uint8
    run = clpix("blur", tmp_path / "pq.png", "--sigma", "1", "-o", tmp_path / "out.jpg")
    assert run.code == 0 and "HDR is cut at white: tonemap it" in run.err


@each(name=["a.jpg", "a.webp", "a.avif"])
def test_a_lossy_file_that_nothing_changes_is_copied(clpix, tmp_path, rng, name) -> None:
    """Byte for byte, whatever is in it; a damaged one is told."""
    pixels = rng.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    PIL.Image.fromarray(pixels).save(tmp_path / name, quality=80)
    before, target = (tmp_path / name).read_bytes(), tmp_path / f"b{name[1:]}"
    for options in ((), ("--working", "acescg"), ("--repeat", "2")):
        run = clpix("convert", tmp_path / name, *options, "-o", target, "--overwrite")
        assert (run.code, run.err) == (0, "") and target.read_bytes() == before
    assert clpix("convert", tmp_path / name, "--quality", "70", "-o", target, "--overwrite").code == 0
    assert target.read_bytes() != before
    assert clpix("convert", tmp_path / name, "-o", target).code == 1  # it exists
    (tmp_path / name).write_bytes(before[: len(before) // 2])
    run = clpix("convert", tmp_path / name, "-o", tmp_path / f"c{name[1:]}")
    assert run.code == 1 and run.err.count("\n") == 1 and not (tmp_path / f"c{name[1:]}").exists()


def test_a_gain_map_that_nothing_changes_stays(clpix, tmp_path, rng) -> None:
    light = (4 * rng.random((64, 64, 3))).astype(np.float32)
    files.write(tmp_path / "in.exr", Picture(light, linear=True))
    assert clpix("convert", tmp_path / "in.exr", "--gain-map", "-o", tmp_path / "hdr.jpg").code == 0
    run = clpix("convert", tmp_path / "hdr.jpg", "-o", tmp_path / "same.jpg")
    assert (run.code, run.err) == (0, "")
    assert (tmp_path / "same.jpg").read_bytes() == (tmp_path / "hdr.jpg").read_bytes()


def chunked(path) -> dict[bytes, bytes]:  # type: ignore[no-untyped-def]
    """The chunks of a PNG by their names, after each one's checksum was found right."""
    data, at, found = path.read_bytes(), 8, {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        found[name] = data[at + 8 : at + 8 + size]
        assert data[at + 8 + size : at + 12 + size] == struct.pack(">I", zlib.crc32(name + found[name]))
        at += size + 12
    return found


def pq_light(codes: np.ndarray) -> np.ndarray:
    """cd/m² of 16-bit codes, by SMPTE ST 2084, 5.1."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 107 / 128, 2413 / 128, 2392 / 128
    power = (codes / 65535.0) ** (1 / m2)
    return np.asarray(1e4 * (np.maximum(power - c1, 0) / (c2 - c3 * power)) ** (1 / m1))


#: A display of SMPTE ST 2086, P3 by its primaries, and MaxCLL and MaxFALL as somebody else has measured them.
DISPLAY = struct.pack(">8H2I", 34000, 16000, 13250, 34500, 7500, 3000, 15635, 16450, 10_000_000, 50)
CONTENT = struct.pack(">2I", 8_120_000, 950_000)


@each(
    command=[
        ("convert",),
        ("flip", "--axis", "both"),
        ("rotate", "--angle", "90"),
        ("blur", "--sigma", "2"),
        ("crop", "--region", "3,2,20,11"),
        ("resize", "--scale", "50%"),
        ("convert", "--colour", "display-p3-pq"),
        ("convert", "--strip"),
        ("mix", "--amount", "0.5"),
    ],
    by_rows=[False, True],
    channels=[3, 1, 4],
)
def test_hdr_light_goes_along_and_is_measured_anew(clpix, tmp_path, rng, command, by_rows, channels) -> None:
    """MaxCLL within 1 cd/m², where pixels have changed; else byte for byte."""
    pixels = rng.integers(0, 45000, (24, 36, channels)).astype(np.uint16)
    path, made = tmp_path / "in.png", tmp_path / "made.png"
    files.write(path, Picture(pixels, channels == 4).meant(named("rec2100-pq")))
    data = path.read_bytes()
    chunks = ((b"mDCV", DISPLAY), (b"cLLI", CONTENT))
    further = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    path.write_bytes(data[:33] + further + data[33:])
    more = ("--picture", path) if command[0] == "mix" else ()
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 4000)
        run = clpix(command[0], path, *command[1:], *more, "-o", made)
    assert run.code == 0 and "content light" not in run.err, run.err
    found = chunked(made)
    assert found[b"mDCV"] == DISPLAY
    if command[0] in ("convert", "flip", "rotate") and "--colour" not in command:
        assert found[b"cLLI"] == CONTENT
        return
    result = files.read(made).pixels
    light = pq_light(result[..., : 3 if channels > 2 else 1]).max(2)
    np.testing.assert_allclose(
        np.array(struct.unpack(">2I", found[b"cLLI"])) / 1e4, (light.max(), light.mean()), rtol=1e-5
    )


def with_properties(data: bytes, *boxes: bytes) -> bytes:
    """An AVIF file of one item and one extent, with further properties of the item (ISO/IEC 23008-12, 9.3)."""

    def place(name: bytes, after: int = 0) -> int:
        return data.index(name, after) - 4

    more, at = b"".join(boxes), place(b"ipma")
    ipco, count = place(b"ipco"), place(b"ipma") + 18
    (size,) = struct.unpack_from(">I", data, ipco)
    properties, position = 0, ipco + 8
    while position < ipco + size:
        position += struct.unpack_from(">I", data, position)[0]
        properties += 1
    shift, out = len(more) + len(boxes), bytearray(data)
    for name in (b"meta", b"iprp", b"ipco", b"ipma"):
        box = place(name)
        grown = {b"ipco": len(more), b"ipma": len(boxes)}.get(name, shift)
        struct.pack_into(">I", out, box, struct.unpack_from(">I", data, box)[0] + grown)
    old = place(b"mdat") + 8
    iloc = place(b"iloc")
    extent = data.index(struct.pack(">I", old), iloc)
    struct.pack_into(">I", out, extent, old + shift)
    out[count] += len(boxes)
    end = at + struct.unpack_from(">I", data, at)[0]
    new = bytes(properties + 1 + k for k in range(len(boxes)))
    return bytes(out[: ipco + size] + more + out[ipco + size : end] + new + out[end:])


def test_hdr_light_of_avif(clpix, tmp_path, rng) -> None:
    """Boxes name green first, and hold whole cd/m²."""
    for transfer in ("rec2100-pq", "display-p3"):
        path, made = tmp_path / f"{transfer}.avif", tmp_path / f"{transfer}.png"
        files.write(
            path, Picture(rng.integers(0, 65536, (24, 36, 3)).astype(np.uint16)).meant(named(transfer))
        )
        x = struct.unpack(">8H2I", DISPLAY)
        mdcv = struct.pack(">8H2I", *x[2:6], *x[:2], *x[6:])
        clli = struct.pack(">2H", 812, 95)
        boxes = [
            struct.pack(">I", len(data) + 8) + name + data
            for name, data in ((b"mdcv", mdcv), (b"clli", clli))
        ]
        path.write_bytes(with_properties(path.read_bytes(), *boxes))
        run = clpix("convert", path, "-o", made)
        assert run.code == 0, run.err
        if transfer == "rec2100-pq":
            assert run.err == ""
            assert (chunked(made)[b"mDCV"], chunked(made)[b"cLLI"]) == (DISPLAY, CONTENT)
            assert "0.005 … 1000 cd/m², light up to 812 cd/m²" in clpix("info", path).out
        else:
            assert "without its mastering display, content light level" in run.err


def test_hdr_light_that_does_not_fit(clpix, tmp_path, rng) -> None:
    """Without PQ and HLG it means nothing; of HLG it cannot be measured without a display."""
    pixels = rng.integers(0, 45000, (24, 36, 3)).astype(np.uint16)
    light = HdrLight(struct.unpack(">8H2I", DISPLAY), struct.unpack(">2I", CONTENT))
    for name in ("rec2100-pq", "rec2100-hlg"):
        picture = Picture(pixels).meant(named(name))
        files.write(
            tmp_path / f"{name}.png", replace(picture, metadata=replace(picture.metadata, light=light))
        )
    pq, hlg = tmp_path / "rec2100-pq.png", tmp_path / "rec2100-hlg.png"
    for line, words in (
        (("convert", pq, "--colour", "srgb", "--dtype", "uint16"), "are of PQ and HLG, and left out"),
        (("tonemap", pq), "are of PQ and HLG, and left out"),
        (("blur", hlg, "--sigma", "1"), "content light level is of pixels that have changed, and left out"),
    ):
        run = clpix(*line, "-o", tmp_path / "made.png", "--overwrite")
        assert run.code == 0 and words in run.err, run.err
        assert b"cLLI" not in chunked(tmp_path / "made.png")
    assert clpix("flip", hlg, "--axis", "both", "-o", tmp_path / "made.png", "--overwrite").err == ""
    assert chunked(tmp_path / "made.png")[b"cLLI"] == CONTENT
    run = clpix("convert", pq, "-o", tmp_path / "made.tif")
    assert "TIFF cannot hold the mastering display, content light level" in run.err
    assert clpix("fft", pq, "-o", tmp_path / "a.npz").code == 0
    assert clpix("ifft", tmp_path / "a.npz", "-o", tmp_path / "back.png").code == 0
    assert chunked(tmp_path / "back.png")[b"mDCV"] == DISPLAY


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"mastering": [1], "content": []},
        {"mastering": [], "content": [-1, 0]},
        {"mastering": [70000] * 10, "content": []},
        {"mastering": [], "content": "ab"},
    ],
)
def test_hdr_light_of_others(value) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        HdrLight.from_json(value)


@each(
    kind=["int8", "int16", "int32", "uint32"],
    layout=[{}, {"tile": (16, 16)}, {"compression": "deflate", "predictor": True}, {"rowsperstrip": 5}],
    channels=[1, 3],
    by_rows=[False, True],
    byteorder=["<", ">"],
)
def test_whole_numbers_of_tiff_that_are_no_shades(
    clpix, tmp_path, rng, kind, layout, channels, by_rows, byteorder
) -> None:
    """Heights and masks: numbers stay what they are, as floats. Every fourth value is at an end of the range."""
    limits = np.iinfo(kind)
    low, high = max(limits.min, -(1 << 24)), min(limits.max, 1 << 24)
    values = rng.integers(low, high, (24, 36, channels), endpoint=True).astype(kind)
    values[::4] = rng.choice([low, high], (6, 36, channels))
    path = tmp_path / "in.tif"
    rgb = {"photometric": "rgb", "planarconfig": "contig"} if channels == 3 else {"photometric": "minisblack"}
    shape = values if channels == 3 else values[..., 0]
    tifffile.imwrite(path, shape, byteorder=byteorder, metadata=None, software=False, **rgb, **layout)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix("flip", path, "--axis", "both", "-o", tmp_path / "out.tif")
        half = clpix("resize", path, *HALF, "-o", tmp_path / "half.npy")
    assert (run.code, run.err, half.code, half.err) == (0, "", 0, "")
    np.testing.assert_array_equal(
        tifffile.imread(tmp_path / "out.tif").reshape(values.shape), values[::-1, ::-1].astype(np.float32)
    )
    expected = values.reshape(12, 2, 18, 2, channels).mean((1, 3))
    assert np.abs(np.load(tmp_path / "half.npy") - expected).max() <= 2e-7 * (high - low)
    assert f"{'RGB' if channels == 3 else 'gray'}, float, data" in clpix("info", path).out


def test_whole_numbers_that_floats_do_not_hold(clpix, tmp_path) -> None:
    values = np.array([[0, 1 << 24, (1 << 24) + 1, (1 << 32) - 1]], np.uint32).repeat(30, 0)
    tifffile.imwrite(tmp_path / "in.tif", values)
    run = clpix("flip", tmp_path / "in.tif", "--axis", "vertical", "-o", tmp_path / "out.tif")
    assert run.code == 0 and run.err.count("beyond ±16777216, which are rounded to floats") == 1
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), values.astype(np.float32))
    tifffile.imwrite(tmp_path / "in.tif", values.astype(np.int64))
    run = clpix("flip", tmp_path / "in.tif", "--axis", "vertical", "-o", tmp_path / "no.tif")
    assert run.code == 1 and run.err.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "bits", "white", "by_rows", "tiled"),
    pairs(
        ["cielab", "icclab"], [8, 16], [None, (0.3457, 0.3585), (0.3127, 0.329)], [False, True], [False, True]
    ),
)
def test_cielab(clpix, tmp_path, rng, kind, bits, white, by_rows, tiled) -> None:
    """CIE 1976, and Bradford's adaptation to D65 as the ICC specification has it. ICC's L*a*b* is of D50."""
    lab = np.stack(
        [rng.uniform(0, 100, (48, 37)), rng.uniform(-100, 100, (48, 37)), rng.uniform(-100, 100, (48, 37))],
        -1,
    )
    lab[:2] = [[[0, 0, 0]], [[100, 0, 0]]]
    if kind == "icclab":
        steps = np.array([652.8, 256, 256] if bits == 16 else [2.55, 1, 1])
        stored = np.rint((lab + np.array([0, 128, 128])) * steps)
        exact = stored / steps - np.array([0, 128, 128])
    elif bits == 8:
        stored = np.stack([np.rint(lab[..., 0] * 2.55), *np.rint(np.moveaxis(lab[..., 1:], -1, 0))], -1)
        exact = stored / [2.55, 1, 1]
    else:
        stored = np.stack(
            [np.rint(lab[..., 0] * 655.35), *np.rint(np.moveaxis(lab[..., 1:], -1, 0) * 256)], -1
        )
        exact = stored / [655.35, 256, 256]
    tags = (
        [(318, "2I", 2, [int(part) for c in white for part in (round(c * 10000), 10000)], True)]
        if white
        else []
    )
    values = stored.astype(np.int32).astype(np.uint8 if bits == 8 else np.uint16)
    options = {"tile": (16, 16)} if tiled else {"rowsperstrip": 7}
    path, made = tmp_path / "in.tif", tmp_path / "out.npy"
    tifffile.imwrite(path, values, photometric=kind, metadata=None, software=False, extratags=tags, **options)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 3000)
        run = clpix("flip", path, "--axis", "vertical", "-o", made)
    assert run.code == 0 and run.err.count("\n") == run.err.count("is taken as D50") == (
        kind == "cielab" and white is None
    )
    x, y = (white if kind == "cielab" else None) or (
        0.9642 / (0.9642 + 1 + 0.8249),
        1 / (0.9642 + 1 + 0.8249),
    )
    source, target = np.array([x / y, 1, (1 - x - y) / y]), np.array([0.3127 / 0.329, 1, 0.3583 / 0.329])
    roots = (exact[..., 0] + 16) / 116
    roots = np.stack([roots + exact[..., 1] / 500, roots, roots - exact[..., 2] / 200], -1)
    xyz = source * np.where(roots > 6 / 29, roots**3, 108 / 841 * (roots - 4 / 29))
    bradford = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    adapted = np.linalg.inv(bradford) @ np.diag((bradford @ target) / (bradford @ source)) @ bradford
    primaries = np.array([[0.64, 0.33, 0.03], [0.3, 0.6, 0.1], [0.15, 0.06, 0.79]]).T
    to_xyz = primaries * np.linalg.solve(primaries, target)
    expected = xyz @ (np.linalg.inv(to_xyz) @ adapted).T
    np.testing.assert_allclose(np.load(made), expected[::-1], rtol=2e-5, atol=2e-6)


@each(step=[("convert",), ("blur", "--sigma", "1"), ("crop", "--region", "1,1,9,9")], by_rows=[False, True])
def test_texts_of_png_stay(clpix, tmp_path, rng, step, by_rows) -> None:
    text = PngInfo()
    text.add_text("Title", "A lake")
    text.add_text("Author", "Zoë", zip=True)
    text.add_itxt("Description", "湖\x1b[31m", "ja", "説明")
    text.add_text("Software", "another program")
    path, made = tmp_path / "in.png", tmp_path / "out.png"
    PIL.Image.fromarray(rng.integers(0, 256, (24, 36, 3)).astype(np.uint8)).save(path, pnginfo=text)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix(*step[:1], path, *step[1:], "-o", made)
    assert (run.code, run.err) == (0, "")
    with PIL.Image.open(made) as image:
        assert image.text == {"Title": "A lake", "Author": "Zoë", "Description": "湖\x1b[31m"}
        assert (image.text["Description"].lang, image.text["Description"].tkey) == ("ja", "説明")
    assert chunked(made)[b"zTXt"] == chunked(path)[b"zTXt"]
    assert "  Title: A lake\n  Author: Zoë\n  Description: 湖" in clpix("info", made).out
    assert json.loads(clpix("info", made, "--json").out)[0]["metadata"]["texts"][1] == ["Author", "Zoë"]
    run = clpix("convert", path, "-o", tmp_path / "out.webp")
    assert "WebP cannot hold the text 'Title', text 'Author', text 'Description'" in run.err
    assert clpix("convert", path, "--strip", "-o", made, "--overwrite").code == 0
    assert not {b"tEXt", b"zTXt", b"iTXt"} & chunked(made).keys()
    assert clpix("fft", path, "-o", tmp_path / "a.npz").code == 0
    assert clpix("ifft", tmp_path / "a.npz", "-o", made, "--overwrite").code == 0
    assert {b"tEXt", b"zTXt", b"iTXt"} <= chunked(made).keys()


@pytest.mark.parametrize(
    "data", [b"", b"Title", b"Title\0", b"Title\0\1\0", b"Title\0\0\0\0", b"Title\0\1\0\0\0\xff", b"\0" * 9]
)
@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iTXt"])
def test_damaged_texts_of_png(clpix, tmp_path, kind, data) -> None:
    files.write(tmp_path / "in.png", Picture(np.zeros((2, 3, 1), np.uint8)))
    png = (tmp_path / "in.png").read_bytes()
    (tmp_path / "in.png").write_bytes(
        png[:33]
        + struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        + png[33:]
    )
    assert clpix("info", tmp_path / "in.png").code == 0
    assert clpix("convert", tmp_path / "in.png", "-o", tmp_path / "out.png").code == 0
    assert chunked(tmp_path / "out.png")[kind] == data


@pytest.mark.parametrize("name", ["out.gif", "out.webp", "out.apng"])
def test_animations_say_what_they_cannot_hold(clpix, tmp_path, rng, name) -> None:
    pages = rng.integers(0, 256, (3, 24, 36, 3)).astype(np.uint8)
    tags = [(271, "s", 0, "Maker", True)]
    tifffile.imwrite(
        tmp_path / "in.tif", pages, photometric="rgb", metadata=None, resolution=(300, 300), extratags=tags
    )
    run = clpix(
        "flip",
        tmp_path / "in.tif",
        "--axis",
        "vertical",
        "--frames",
        "all",
        "-o",
        tmp_path / name,
        "--dtype",
        "uint8",
    )
    assert run.code == 0
    assert run.err.count("an animation cannot hold the EXIF, resolution") == 1, run.err


@pytest.mark.parametrize(
    "value",
    [
        {"light": {"mastering": [float("inf")] * 10, "content": []}},
        {"frame": [float("inf")] * 8},
        {"texts": [["tEXt"]]},
        {"texts": [[0, 0]]},
    ],
)
def test_damaged_metadata_in_files_of_numbers(value) -> None:
    with pytest.warns(GpuopsWarning, match="metadata in it is damaged"):
        assert Metadata.of_numbers("a.npz", json.loads(json.dumps(value))) == Metadata()
