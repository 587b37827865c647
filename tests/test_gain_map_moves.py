"""Gain maps that go along: light of results beside the moved light of the input, by the formulas in doubles."""

import io
import re
import struct
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import scipy.ndimage
from PIL import Image

from gpuops.files import read

from .choices import each
from .test_gain_map import ISO, applied, covering, halves, joined, jpeg, segment

XMP = b"http://ns.adobe.com/xap/1.0/\0"
#: Of the median and of nineteen in twenty values, relative: a code of the picture, which is coded again, is up to 2 %.
MEDIAN, MOST = 0.012, 0.05


def photograph(map_height: int, map_width: int, gray: bool = True, xmp: bool = False) -> bytes:
    """A smooth picture of 96 × 64 with a map of another size, of a bright spot, of a gamma, and offsets."""
    y, x = np.mgrid[0:64, 0:96]
    base = np.stack((80 + x, 60 + 2 * y, 200 - x - y), axis=2).clip(0, 255).astype(np.uint8)
    v, u = (np.mgrid[0:map_height, 0:map_width] + 0.5) / np.array([map_height, map_width])[:, None, None]
    spot = 230 * np.exp(-8 * ((u - 0.4) ** 2 + (v - 0.6) ** 2)) + 20 * u
    gains = np.stack((spot, spot * 0.8, 240 - spot), axis=2).round().astype(np.uint8)
    first, second = jpeg(base), jpeg(gains[:, :, 0] if gray else gains)
    if xmp:
        return made_by_xmp(first, second)
    channels = 1 if gray else 3
    numbers = struct.pack(">iIiIIIiIiI", -20, 100, 250, 100, 96, 64, 1, 64, 1, 64) * channels
    block = struct.pack(">HHBIIII", 0, 0, 0x40 | (0x80 if channels == 3 else 0), 0, 1, 5, 2) + numbers
    return joined(first, second, segment(0xE2, ISO + bytes(4)), segment(0xE2, ISO + block))


def made_by_xmp(first: bytes, second: bytes) -> bytes:
    head = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    head += b'<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" %s/>'
    head += b"</rdf:RDF></x:xmpmeta>"
    numbers = b'hdrgm:GainMapMin="-0.2" hdrgm:GainMapMax="2.5" hdrgm:HDRCapacityMax="2.5"'
    return joined(first, second, segment(0xE1, XMP + head % b""), segment(0xE1, XMP + head % numbers))


def decoded(data: bytes) -> np.ndarray:
    """The light by libultrahdr, so that a reader of others takes the file."""
    imagecodecs = pytest.importorskip("imagecodecs")
    return np.asarray(imagecodecs.ultrahdr_decode(data))[:, :, :3].astype(float)


def near(light: np.ndarray, expected: np.ndarray, factor: float = 1) -> None:
    assert light.shape == expected.shape
    error = np.abs(light - expected) / (expected + 0.01)
    assert np.median(error) < factor * MEDIAN and np.quantile(error, 0.95) < factor * MOST


MOVES = {
    "flop": (["flip", "--axis", "horizontal"], lambda x: x[:, ::-1]),
    "both": (["flip", "--axis", "both"], lambda x: x[::-1, ::-1]),
    "turn": (["rotate", "--angle", "90"], lambda x: np.rot90(x, -1)),
    "crop": (["crop", "--region", "7,5,61,43"], lambda x: x[5:48, 7:68]),
    "chain": (
        [
            "crop",
            "--region",
            "6,4,80,56",
            "then",
            "rotate",
            "--angle",
            "270",
            "then",
            "flip",
            "--axis",
            "vertical",
        ],
        lambda x: np.rot90(x[4:60, 6:86], 1)[::-1],
    ),
    "half": (
        ["resize", "--scale", "50%", "--filter", "area"],
        lambda x: x.reshape(32, 2, 48, 2, 3).mean((1, 3)),
    ),
    "half of a crop": (
        ["crop", "--region", "8,8,60,40", "then", "resize", "--scale", "50%", "--filter", "area"],
        lambda x: x[8:48, 8:68].reshape(20, 2, 30, 2, 3).mean((1, 3)),
    ),
    "turned": (
        ["rotate", "--angle", "20", "--no-expand"],
        lambda x: scipy.ndimage.rotate(x, -20, reshape=False, order=1, mode="nearest"),
    ),
}


@each(move=MOVES, size=[(64, 96), (16, 24), (23, 31), (96, 144)], kind=["gray", "colours", "xmp"])
def test_light_follows_the_pixels(clpix, tmp_path, move, size, kind) -> None:
    data = photograph(*size, gray=kind != "colours", xmp=kind == "xmp")
    path, result = tmp_path / "in.jpg", tmp_path / "out.jpg"
    path.write_bytes(data)
    words, moved = MOVES[move]
    run = clpix(words[0], path, *words[1:], "--quality", 100, "-o", result)
    assert (run.code, run.err) == (0, "")
    expected, light = moved(applied(data)[0]), applied(result.read_bytes())[0]
    within = (slice(None), slice(None))
    if move == "turned":  # where all of the picture is
        within = (slice(20, 44), slice(32, 64))
    near(light[within], expected[within])
    near(decoded(result.read_bytes())[within], expected[within], 4)  # its samples of a map are other ones


@each(size=[(16, 24), (64, 96)], xmp=[False, True])
def test_a_map_that_still_fits_stays_as_it_is(clpix, tmp_path, size, xmp) -> None:
    data = photograph(*size, xmp=xmp)
    path, result = tmp_path / "in.jpg", tmp_path / "out.jpg"
    path.write_bytes(data)
    for words in (["resize", "--size", "150x100"], ["resize", "--scale", "50%"]):
        if words[1] == "--scale" and size == (64, 96):
            continue
        assert clpix(words[0], path, *words[1:], "-o", result, "--overwrite").err == ""
        assert halves(result.read_bytes())[1] == halves(data)[1]
    assert clpix("convert", path, "-o", result, "--overwrite").err == ""
    assert result.read_bytes() == data
    assert clpix("convert", path, "--quality", 80, "-o", result, "--overwrite").err == ""
    assert halves(result.read_bytes())[1] == halves(data)[1] and len(result.read_bytes()) < len(data)


def test_a_map_is_never_larger_than_its_picture(clpix, tmp_path) -> None:
    data = photograph(64, 96)
    (tmp_path / "in.jpg").write_bytes(data)
    assert clpix("resize", tmp_path / "in.jpg", "--scale", "25%", "-o", tmp_path / "out.jpg").err == ""
    with Image.open(io.BytesIO(halves((tmp_path / "out.jpg").read_bytes())[1])) as small:
        pixels = np.asarray(small).astype(float)
    with Image.open(io.BytesIO(halves(data)[1])) as large:
        expected = np.asarray(large).astype(float).reshape(16, 4, 24, 4).mean((1, 3))
    assert np.abs(pixels - expected).max() < 3


def test_what_is_said_of_it_is_true_of_the_result(clpix, tmp_path) -> None:
    """XMP beside what else it says; the numbers of ISO 21496-1; the orientation, by which both are turned."""
    data = photograph(16, 24, xmp=True)
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1" + struct.pack(">HHIHH", 0x0112, 3, 1, 6, 0) + bytes(4)
    own = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    own += b'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="mine"'
    own += b' xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/></rdf:RDF></x:xmpmeta>'
    first, second = halves(data)
    plain = first[:2] + first[first.index(b"\xff\xe0") :]
    (tmp_path / "in.jpg").write_bytes(
        plain[:2] + segment(0xE1, exif) + segment(0xE1, XMP + own) + plain[2:] + second
    )
    run = clpix("crop", tmp_path / "in.jpg", "--region", "0,0,48,64", "-o", tmp_path / "out.jpg")
    assert run.code == 0, run.err
    made_of = (tmp_path / "out.jpg").read_bytes()
    with Image.open(tmp_path / "out.jpg") as image:
        root, orientation = ElementTree.fromstring(image.info["xmp"]), image.getexif()[0x0112]
    attributes = {name: value for element in root.iter() for name, value in element.attrib.items()}
    assert attributes["{http://purl.org/dc/elements/1.1/}rights"] == "mine"
    assert attributes["{http://ns.adobe.com/hdr-gain-map/1.0/}Version"] == "1.0"
    lengths = [value for name, value in attributes.items() if name.endswith("Length")]
    assert lengths == [str(len(halves(made_of)[1]))] and orientation == 6
    near(applied(made_of)[0], applied(photograph(16, 24, xmp=True))[0][:, :48])


def test_what_it_is_not_true_of_is_named(clpix, tmp_path) -> None:
    data = photograph(16, 24)
    path = tmp_path / "in.jpg"
    path.write_bytes(data)
    changed = "the gain map is of pixels that have changed, and left out"
    kept = "cannot hold the gain map of the input (--layer hdr applies it)"
    for words, name, said in (
        (("blur", "--sigma", 2), "a.jpg", changed),
        (("tonemap",), "b.jpg", changed),
        (("convert", "--colour", "display-p3"), "c.jpg", changed),
        (("flip", "--axis", "both"), "d.png", kept),
        (("convert",), "e.avif", kept),
        (("fft",), "f.npz", kept),
        (("flip", "--axis", "both", "then", "blur", "--sigma", 1), "g.jpg", changed),
    ):
        run = clpix(words[0], path, *words[1:], "-o", tmp_path / name)
        assert run.code == 0 and said in run.err and run.err.count("gain map") == 1, (words, run.err)
        assert b"iso:ts:21496" not in (tmp_path / name).read_bytes()
    run = clpix("compare", path, path)
    assert run.code == 0 and run.err.count("is compared without its gain map (--layer hdr applies it)") == 2
    run = clpix("mix", path, "--picture", path, "--amount", 0.5, "-o", tmp_path / "h.png")
    assert f"{path}: is used without its gain map" in run.err


def test_stripped_it_keeps_its_look(clpix, tmp_path) -> None:
    """No metadata but what the map needs."""
    first, second = halves(photograph(16, 24, xmp=True))
    private = segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\0" + b"where I live") + segment(0xFE, b"who I am")
    plain = first[:2] + first[first.index(b"\xff\xe0") :]  # without an index, which would not be true
    plain = plain[:2] + first[2 : first.index(b"\xff\xe2")] + plain[2:]
    (tmp_path / "in.jpg").write_bytes(plain + second[:2] + private + second[2:])
    run = clpix("convert", tmp_path / "in.jpg", "--strip", "-o", tmp_path / "out.jpg")
    assert run.code == 0, run.err
    data = (tmp_path / "out.jpg").read_bytes()
    assert b"where I live" not in data and b"who I am" not in data
    near(applied(data)[0], applied(photograph(16, 24, xmp=True))[0])


def test_stripped_it_is_turned_with_the_picture(clpix, tmp_path) -> None:
    """Without its orientation a picture is turned upright, and a crop before that is one of stored pixels."""
    first, second = halves(photograph(16, 24))
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1" + struct.pack(">HHIHH", 0x0112, 3, 1, 6, 0) + bytes(4)
    plain = (
        first[:2] + segment(0xE1, exif) + segment(0xE2, ISO + bytes(4)) + first[first.index(b"\xff\xe0") :]
    )
    (tmp_path / "in.jpg").write_bytes(plain + second)
    words = ("crop", tmp_path / "in.jpg", "--region", "7,5,61,43", "--strip", "--quality", 100)
    run = clpix(*words, "-o", tmp_path / "out.jpg")
    assert (run.code, run.err) == (0, "")
    expected = np.rot90(applied(photograph(16, 24))[0][5:48, 7:68], -1)
    near(applied((tmp_path / "out.jpg").read_bytes())[0], expected)


def apple(codes: np.ndarray, xmp: bytes = b"", note: bytes = b"", more: bytes = b"") -> bytes:
    """A JPEG file as a telephone makes it: a map of its own kind behind the picture, and perhaps another picture."""
    base = jpeg(
        np.random.default_rng(3).integers(0, 256, (4, 6, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    )
    space = b' xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/"'
    head = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    head += b"<rdf:Description" + space + b">%s</rdf:Description></rdf:RDF></x:xmpmeta>"
    own = b"<apdi:AuxiliaryImageType xmlns:apdi='http://ns.apple.com/pixeldatainfo/1.0/'>"
    own += b"urn:com:apple:photo:2020:aux:hdrgainmap</apdi:AuxiliaryImageType>" + xmp
    announced = segment(
        0xE1, XMP + head % b"<HDRGainMap:HDRGainMapVersion>131072</HDRGainMap:HDRGainMapVersion>"
    )
    if note:
        entries = struct.pack(">HHII", 0x8769, 4, 1, 26) + bytes(4)
        inner = struct.pack(">H", 1) + struct.pack(">HHII", 0x927C, 7, len(note), 44) + bytes(4)
        announced += segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">H", 1) + entries + inner + note)
    return joined(base, jpeg(codes), announced, segment(0xE1, XMP + head % own)) + more


def maker_note(start: tuple[int, int], step: tuple[int, int]) -> bytes:
    at = 14 + 2 + 2 * 12 + 4
    tags = struct.pack(">HHII", 33, 10, 1, at) + struct.pack(">HHII", 48, 10, 1, at + 8)
    return b"Apple iOS\0\0\1MM" + struct.pack(">H", 2) + tags + bytes(4) + struct.pack(">iiii", *start, *step)


#: Apple's curves from the two numbers to stops.
HEADROOMS = {
    "xmp": ({"xmp": b"<HDRGainMap:HDRGainMapHeadroom>3.5</HDRGainMap:HDRGainMapHeadroom>"}, 3.5),
    "dim": ({"note": maker_note((63809, 75674), (0, 1))}, 2**1.8),
    "dim, less": ({"note": maker_note((1, 2), (3, 100))}, 2 ** (-0.101 * 0.03 + 1.601)),
    "bright": ({"note": maker_note((5, 4), (1, 200))}, 2 ** (3 - 0.35)),
    "bright, less": ({"note": maker_note((1, 1), (1, 50))}, 2 ** (-0.303 * 0.02 + 2.303)),
}


@pytest.mark.parametrize("case", HEADROOMS)
def test_light_of_apples_kind(tmp_path, clpix, case) -> None:
    parts, headroom = HEADROOMS[case]
    y, x = np.mgrid[0:16, 0:24]
    codes = (8 * x + 3 * y).astype(np.uint8)
    (tmp_path / "a.jpg").write_bytes(apple(codes, **parts))
    light = read(tmp_path / "a.jpg", layer="hdr")
    assert light.pixels.dtype == np.float16 and light.linear and light.layers == ("sdr", "hdr")
    with Image.open(tmp_path / "a.jpg") as image:
        base = np.asarray(image).astype(float) / 255
        image.seek(1)
        gains = np.asarray(image.convert("L")).astype(float) / 255
    base = np.where(base <= 0.04045, base / 12.92, ((base + 0.055) / 1.055) ** 2.4)
    gains = covering(gains[:, :, None], 32, 48)
    gains = np.where(gains < 0.081, gains / 4.5, ((gains + 0.099) / 1.099) ** (1 / 0.45))
    expected = base * (1 + (headroom - 1) * gains)
    assert np.abs(light.pixels - expected).max() < 1e-3 * expected.max()
    assert (
        f"gain map (Apple), 24 × 16, up to {np.log2(headroom):.3g} stops"
        in clpix("info", tmp_path / "a.jpg").out
    )


def test_apples_kind_goes_along(tmp_path, clpix) -> None:
    y, x = np.mgrid[0:16, 0:24]
    codes = (8 * x + 3 * y).astype(np.uint8)
    (tmp_path / "a.jpg").write_bytes(apple(codes, **HEADROOMS["dim"][0]))
    before = read(tmp_path / "a.jpg", layer="hdr").pixels.astype(float)
    run = clpix(
        "flip", tmp_path / "a.jpg", "--axis", "horizontal", "--quality", 100, "-o", tmp_path / "b.jpg"
    )
    assert (run.code, run.err) == (0, "")
    after = read(tmp_path / "b.jpg", layer="hdr").pixels.astype(float)
    near(after, before[:, ::-1])


def test_damage_is_one_line(clpix, tmp_path) -> None:
    first, second = halves(photograph(16, 24))
    frame = second.index(b"\xff\xc0")
    cases = {
        "missing": (first, "gain map, which is missing or damaged"),
        "no numbers": (first + jpeg(np.zeros((8, 8), np.uint8)), "which is missing or damaged"),
        "cut": (first + second[: len(second) // 2], "the gain map is damaged, and left out"),
        "huge": (
            first + second[: frame + 5] + b"\xff\xdc\xff\xdc" + second[frame + 9 :],
            "damaged, and left out",
        ),
        "index": (
            re.sub(rb"(MPF\0..\*\0.{4})..", lambda match: match[1] + b"\xff\xff", first, flags=re.DOTALL)
            + second,
            "",
        ),
    }
    for name, (data, said) in cases.items():
        path = tmp_path / f"{name}.jpg"
        path.write_bytes(data)
        run = clpix("flip", path, "--axis", "horizontal", "-o", tmp_path / "out.jpg", "--overwrite")
        assert run.code == 0 and said in run.err and run.err.count("\n") == bool(said), (name, run.err)
        assert "Traceback" not in run.err
        with Image.open(tmp_path / "out.jpg") as image:
            assert image.size == (96, 64)
        assert clpix("info", path).code == 0


@pytest.mark.exhaustive
def test_no_damage_ends_in_a_traceback(clpix, tmp_path, rng) -> None:
    """Bytes of what describes a map and an index are changed by chance."""
    for data in (photograph(16, 24), photograph(16, 24, xmp=True), apple(np.full((16, 24), 90, np.uint8))):
        first, second = halves(data) if b"MPF" in data else (data, b"")
        parts = [(data.index(b"MPF\0") + 4, 82), (len(first), min(len(second), 400))]
        for _ in range(60):
            changed = bytearray(data)
            start, length = parts[rng.integers(2)]
            for at in rng.integers(0, length, rng.integers(1, 4)):
                changed[start + at] = rng.integers(256)
            (tmp_path / "in.jpg").write_bytes(changed)
            run = clpix(
                "rotate", tmp_path / "in.jpg", "--angle", "10", "-o", tmp_path / "out.jpg", "--overwrite"
            )
            assert run.code in (0, 1) and "Traceback" not in run.err, run.err
            if run.code == 0:
                with Image.open(tmp_path / "out.jpg") as image:
                    image.load()
            run = clpix("info", tmp_path / "in.jpg")
            assert run.code in (0, 1) and "Traceback" not in run.err, run.err


def box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(data), kind) + data


def boxes(data: bytes) -> dict[bytes, bytes]:
    """The boxes in some bytes (ISO/IEC 14496-12, 4.2)."""
    inside, at = {}, 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        inside[kind] = data[at + 8 : at + length]
        at += length
    return inside


def heic(pixels: np.ndarray, codes: np.ndarray, note: bytes) -> bytes:
    """A HEIC file whose second picture is an auxiliary one of Apple's kind (ISO/IEC 23008-12, 6.5.8 and 6.6.2.1).

    What describes its pictures is written anew at the end, so that these stay where they are.
    """
    heif = pytest.importorskip("pillow_heif", reason="needs the extra formats")
    file, stream = heif.from_pillow(Image.fromarray(pixels)), io.BytesIO()
    file.add_from_pillow(Image.fromarray(codes))
    entries = struct.pack(">HHII", 0x8769, 4, 1, 26) + bytes(4)
    inner = struct.pack(">H", 1) + struct.pack(">HHII", 0x927C, 7, len(note), 44) + bytes(4)
    exif = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">H", 1) + entries + inner + note
    file.save(stream, quality=100, chroma=444, exif=exif)
    data = stream.getvalue()
    start = data.index(b"meta") - 4
    (length,) = struct.unpack_from(">I", data, start)
    version, parts = data[start + 8 : start + 12], boxes(data[start + 12 : start + length])
    properties = boxes(parts[b"iprp"])
    kind = box(b"auxC", bytes(4) + b"urn:com:apple:photo:2020:aux:hdrgainmap\0")
    count, at = 0, 0
    while at < len(properties[b"ipco"]):
        count, at = count + 1, at + struct.unpack_from(">I", properties[b"ipco"], at)[0]
    associations = bytearray(properties[b"ipma"])
    at = 8
    for _ in range(struct.unpack_from(">I", associations, 4)[0]):
        item, some = struct.unpack_from(">HB", associations, at)
        if item == 3:  # 2 is EXIF
            associations[at + 2] += 1
            associations[at + 3 + some : at + 3 + some] = bytes([count + 1])
        at += 3 + associations[at + 2]
    parts[b"iprp"] = box(b"ipco", properties[b"ipco"] + kind) + box(b"ipma", bytes(associations))
    parts[b"iref"] = parts.get(b"iref", bytes(4)) + box(b"auxl", struct.pack(">HHH", 3, 1, 1))
    meta = box(b"meta", version + b"".join(box(*part) for part in parts.items()))
    return data[:start] + box(b"free", bytes(length - 8)) + data[start + length :] + meta


def test_apples_kind_in_heic(tmp_path, clpix) -> None:
    """Its light is that of the formula, and it goes along to JPEG, moved; other files get the picture, with a line."""
    y, x = np.mgrid[0:64, 0:96]
    pixels = np.stack((80 + x, 60 + 2 * y, 200 - x - y), axis=2).astype(np.uint8)
    codes = np.round(230 * np.exp(-((x / 96 - 0.4) ** 2) * 8 - (y / 64 - 0.6) ** 2 * 8)).astype(np.uint8)
    path = tmp_path / "a.heic"
    path.write_bytes(heic(pixels, codes, maker_note((63809, 75674), (0, 1))))
    assert "gain map (Apple), 96 × 64, up to 1.8 stops above white" in clpix("info", path).out
    base, light = read(path).pixels / 255, read(path, layer="hdr").pixels.astype(float)
    base = np.where(base <= 0.04045, base / 12.92, ((base + 0.055) / 1.055) ** 2.4)
    gains = codes[:, :, None] / 255
    gains = np.where(gains < 0.081, gains / 4.5, ((gains + 0.099) / 1.099) ** (1 / 0.45))
    near(light, base * (1 + (2**1.8 - 1) * gains), 2)
    run = clpix("crop", path, "--region", "7,5,61,43", "--quality", 100, "-o", tmp_path / "b.jpg")
    assert (run.code, run.err) == (0, "")
    near(read(tmp_path / "b.jpg", layer="hdr").pixels.astype(float), light[5:48, 7:68], 2)
    run = clpix("convert", path, "-o", tmp_path / "c.png")
    assert run.err.endswith("PNG cannot hold the gain map of the input (--layer hdr applies it)\n")
    path.write_bytes(heic(pixels, codes, b"Apple iOS\0\0\1MM\0\0"))
    run = clpix("convert", path, "-o", tmp_path / "d.png")
    assert run.code == 0 and "without its gain map, of which nothing says how bright it is" in run.err
    run = clpix("convert", path, "--layer", "hdr", "-o", tmp_path / "d.exr")
    assert run.code == 1 and "nothing says how bright its gain map makes it" in run.err
