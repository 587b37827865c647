"""clpix info: what files are, without a device; and the statistics of their values, against numpy."""

import io
import json
import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PIL
from PIL import ImageCms

from gpuops import files, gpu
from gpuops.files import Metadata, Picture, oiio, pictures

from .choices import each
from .conftest import Run
from .reference.colour import parametric, rgb_profile, srgb_light
from .tolerance import ROUNDINGS

Program = Callable[..., Run]
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
REC709 = np.float32([0.2126, 0.7152, 0.0722]).astype(float)


def save(path: Path, pixels: np.ndarray, **attributes: Any) -> Path:
    attributes = {"alpha": pixels.shape[2] in (2, 4), "linear": pixels.dtype.kind == "f"} | attributes
    files.write(path, Picture(pixels, **attributes))
    return path


def strictly(text: str) -> Any:
    """JSON without the names that JSON lacks."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def of(clpix: Program, *args: object) -> dict[str, Any]:
    """The one object that a run of one file gives."""
    run = clpix("info", *args, "--json")
    assert (run.code, run.err) == (0, "")
    (result,) = strictly(run.out)
    return result


def light(codes: np.ndarray) -> np.ndarray:
    """IEC 61966-2-1."""
    v = codes / np.iinfo(codes.dtype).max
    return srgb_light(v)


def check(got: dict[str, Any], values: np.ndarray) -> None:
    """Statistics against numpy's of the same values."""
    values = np.asarray(values, float).ravel()
    finite = values[np.isfinite(values)]
    positive = finite[finite >= 2.0**-126]
    assert (got["count"], got["finite"]) == (values.size, finite.size)
    assert (got["nan"], got["infinite"]) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert got["negative"] == (finite < 0).sum()
    assert got["zero"] == finite.size - positive.size - (finite < 0).sum()
    if finite.size:
        assert got["minimum"] == pytest.approx(finite.min(), rel=ROUNDINGS, abs=ROUNDINGS)
        assert got["maximum"] == pytest.approx(finite.max(), rel=ROUNDINGS)
        assert got["mean"] == pytest.approx(finite.mean(), rel=ROUNDINGS, abs=ROUNDINGS)
        assert got["sum"] == pytest.approx(finite.sum(), abs=ROUNDINGS * np.abs(finite).sum())
    else:
        assert got["minimum"] is got["maximum"] is got["mean"] is None
    if positive.size:
        log2 = np.sort(np.log2(positive))
        assert got["log_mean"] == pytest.approx(2 ** log2.mean(), rel=ROUNDINGS)
        assert got["log2_sum"] == pytest.approx(log2.sum(), rel=ROUNDINGS, abs=ROUNDINGS * positive.size)
        found = got["percentiles"]
        for percent, value in found.items():
            # A bin is a quarter of a stop; where the share ends between two neighbours, all between them are right.
            place = int(percent) / 100 * log2.size
            low, high = log2[math.ceil(place) - 1], log2[min(math.floor(place), log2.size - 1)]
            assert low - 0.2501 <= math.log2(value) <= high + 0.2501, percent
            assert finite.min() * (1 - ROUNDINGS) <= value <= finite.max() * (1 + ROUNDINGS)
        assert got["dynamic_range"] == pytest.approx(np.log2(found["99"] / found["1"]))
    else:
        assert got["log_mean"] is got["log2_sum"] is got["dynamic_range"] is None
        assert set(got["percentiles"].values()) == {None}


@pytest.fixture
def photo(rng) -> np.ndarray:
    """Light over many stops."""
    return np.exp2(rng.normal(-2, 3, (97, 131, 3))).astype(np.float32)


def test_a_picture_with_everything(clpix, tmp_path, rng) -> None:
    exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    metadata = Metadata(ICC, exif, b"<x:xmpmeta/>", (300.0, 150.0, "in"))
    path = save(tmp_path / "in.tif", rng.integers(0, 65536, (5, 7, 4)).astype(np.uint16), metadata=metadata)
    run = clpix("info", path)
    assert (run.code, run.err) == (0, "")
    held = files.read(path).metadata
    assert run.out.splitlines() == [
        f"{path}: TIFF, 7 × 5, RGB with alpha, 16 bits, sRGB-encoded",
        "  resolution 300 × 150 pixels per inch",
        f"  ICC profile “sRGB built-in”, {len(ICC)} bytes",
        f"  EXIF, {len(held.exif or b'')} bytes, orientation 6",
        "  XMP, 12 bytes",
    ]
    assert of(clpix, path) == {
        "path": str(path), "format": "TIFF", "kind": "picture", "width": 7, "height": 5, "dtype": "uint16",
        "channels": ["R", "G", "B", "A"], "alpha": True, "associated": False, "inks": None, "space": "encoded",
        "layer": "", "layers": [],
        "colour": {"transfer": "sRGB", "primaries": "Rec. 709", "narrow_range": False},
        "metadata": {
            "icc": len(ICC), "icc_description": "sRGB built-in", "exif": len(held.exif or b""), "xmp": 12,
            "orientation": 6, "exif_tags": {"Orientation": 6}, "resolution": [300.0, 150.0, "in"], "windows": None,
            "attributes": {}, "light": None, "gain_map": None, "texts": [], "cards": [],
        },
    }  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "dtype", "words"), [
    ("a.png", (1, 1, 1), "uint8", "PNG, 1 × 1, gray, 8 bits, sRGB-encoded"),
    ("a.png", (5, 7, 2), "uint16", "PNG, 7 × 5, gray with alpha, 16 bits, sRGB-encoded"),
    ("a.exr", (5, 7, 3), "float16", "EXR, 7 × 5, RGB, half, linear light"),
    ("a.exr", (5, 7, 4), "float32", "EXR, 7 × 5, RGB with associated alpha, float, linear light"),
    ("a.npz", (5, 7, 3), "float32", "NPZ, 7 × 5, RGB, float, linear light"),
    ("a.npy", (5, 7, 1), "uint8", "NPY, 7 × 5, gray, 8 bits, sRGB-encoded"),
])  # fmt: skip
def test_kinds_of_pictures(clpix, tmp_path, name, shape, dtype, words) -> None:
    path = save(tmp_path / name, np.ones(shape, dtype))
    assert clpix("info", path) == Run(0, f"{path}: {words}\n", "")


def test_a_photograph(clpix, tmp_path) -> None:
    exif = PIL.Exif()
    exif[271], exif[272], exif[305] = "Canon", "Canon EOS R5", "\x1b[31m"
    settings = exif.get_ifd(0x8769)
    settings |= {
        33434: 0.005,
        33437: 2.8,
        34855: 400,
        36867: "2024:05:01 12:00:00",
        42036: "RF50mm",
        37386: 50.0,
    }
    settings[37500] = b"\1\2"  # a maker's note
    exif.get_ifd(0x8825).update({1: "N", 2: (47.0, 3.0, 0.5)})
    path = tmp_path / "a.jpg"
    PIL.new("RGB", (20, 10)).save(path, exif=exif)
    line = "  taken by Canon EOS R5, RF50mm, 50 mm, 1/200 s, f/2.8, ISO 400, at 2024-05-01 12:00:00, with its place"
    assert clpix("info", path).out.splitlines()[2] == line
    assert of(clpix, path)["metadata"]["exif_tags"] == {
        "Make": "Canon", "Model": "Canon EOS R5", "Software": "\x1b[31m", "ExposureTime": 0.005, "FNumber": 2.8,
        "ISOSpeedRatings": 400, "DateTimeOriginal": "2024:05:01 12:00:00", "LensModel": "RF50mm", "FocalLength": 50.0,
        "GPS": {"GPSLatitudeRef": "N", "GPSLatitude": [47.0, 3.0, 0.5]},
    }  # fmt: skip


def test_a_photograph_of_others(clpix, tmp_path) -> None:
    """Tags of other types than theirs, without an end, and that make no sense."""
    exif = PIL.Exif()
    exif[271], exif[272] = "\x1b[31m\nX", "Y" * 3000
    exif.get_ifd(0x8769).update(
        {33434: 0.0, 33437: "wide", 34855: (0, 1), 36867: b"\xff\xfe", 37386: float("nan")}
    )
    path = tmp_path / "a.jpg"
    PIL.new("RGB", (20, 10)).save(path, exif=exif)
    run = clpix("info", path)
    assert run.code == 0 and run.out.count("\n") == 3 and "\x1b" not in run.out and len(run.out) < 400
    assert len(of(clpix, path)["metadata"]["exif_tags"]["Model"]) == 1000
    data = path.read_bytes()
    for end in range(30, 400, 37):
        path.write_bytes(data[:end] + b"\xff" * 40 + data[end + 40 :])
        assert clpix("info", path).code in (0, 1)


def test_exr_attributes_and_layers(clpix, tmp_path) -> None:
    attributes = {"owner": ("string", "somebody"), "gain": ("float", float("inf"))}
    path = save(tmp_path / "a.exr", np.ones((3, 3, 3), np.float32), metadata=Metadata(attributes=attributes))
    assert clpix("info", path).out.splitlines()[1:] == ["  gain: inf", "  Copyright: somebody"]
    assert of(clpix, path)["metadata"]["attributes"] == {"Copyright": "somebody", "gain": None}

    parts = [(np.ones((3, 4, 3), np.float16), {"name": name, "channels": ("R", "G", "B")}) for name in "ab"]
    with oiio.writer(str(tmp_path / "l.exr"), parts) as put:
        for pixels, _ in parts:
            put(pixels)
    assert clpix("info", tmp_path / "l.exr", "-q").out.endswith(
        "half, linear light\n  layers a, b; this is a\n"
    )
    result = of(clpix, tmp_path / "l.exr", "--layer", "b")
    assert (result["layer"], result["layers"]) == ("b", ["a", "b"])

    np.savez(tmp_path / "l.npz", pixels=np.ones((3, 4), np.uint8), other=np.ones((5, 6), np.float32))
    assert "6 × 5, gray, float" in clpix("info", tmp_path / "l.npz", "--layer", "other").out


@each(extension=["npz", "exr", "tif"], command=["fft", "dwt"])
def test_files_of_numbers(clpix, tmp_path, command, extension) -> None:
    metadata = Metadata(resolution=(72.0, 72.0, "in"))
    source = save(tmp_path / "in.png", np.arange(96, dtype=np.uint8).reshape(6, 8, 2), metadata=metadata)
    path = tmp_path / f"out.{extension}"
    options = ["--wavelet", "haar", "--levels", 1] if command == "dwt" else []
    assert clpix(command, source, "-o", path, *options).code == 0
    arrays, attributes = files.read_data(path)
    result = of(clpix, path, "--stats")
    assert (result["kind"], result["metadata"]["resolution"]) == ("numbers", [72.0, 72.0, "in"])
    assert list(result["arrays"]) == list(arrays)
    for name, array in arrays.items():
        entry = result["arrays"][name]
        assert (tuple(entry["shape"]), entry["dtype"]) == (array.shape, array.dtype.name)
        assert entry["statistics"]["values"] == ("magnitude" if command == "fft" else "stored")
        assert entry["statistics"]["luminance"] is None
        for plane, values in enumerate(array):
            check(entry["statistics"]["channels"][str(plane)], np.abs(values) if command == "fft" else values)
    del attributes["metadata"]
    assert result["attributes"] == attributes
    text = clpix("info", path).out
    assert f"{'a spectrum' if command == 'fft' else 'wavelet coefficients'}\n" in text
    name = list(arrays)[-1]
    assert f"{name}  {' × '.join(map(str, arrays[name].shape))}  {arrays[name].dtype}" in text
    assert list(of(clpix, path, "--layer", name)["arrays"]) == [name]
    run = clpix("info", path, "--layer", "none-such")
    assert (run.code, run.err.count("\n")) == (1, 1) and name in run.err


def test_any_arrays(clpix, tmp_path, rng) -> None:
    """Arrays need not have a picture's shape or type; a short last axis of three is that of channels."""
    five = rng.normal(size=(9, 7, 5)).astype(np.float32)
    five[0, 0, 0], five[0, 1, 0], five[0, 2, 1] = np.nan, np.inf, 0
    np.save(tmp_path / "five.npy", five)
    result = of(clpix, tmp_path / "five.npy", "--stats")
    found = result["arrays"][""]["statistics"]
    assert (found["values"], found["luminance"], len(found["channels"])) == ("stored", None, 5)
    for index, values in enumerate(np.moveaxis(five, 2, 0)):
        check(found["channels"][str(index)], values)
    text = clpix("info", tmp_path / "five.npy", "--stats").out
    assert "9 × 7 × 5  float32" in text and "luminance" not in text

    odd = {
        "row": np.arange(-3, 9, dtype=np.int16), "one": np.float32(2.5), "name": np.array("text"),
        "none": np.zeros((0, 4)), "many": rng.random((2, 3, 20)).astype(np.float32),
    }  # fmt: skip
    np.savez(tmp_path / "odd.npz", **odd)
    arrays = of(clpix, tmp_path / "odd.npz", "--stats")["arrays"]
    assert [name for name in odd if "statistics" in arrays[name]] == ["row", "one", "many"]
    for name in ("row", "one", "many"):
        (channel,) = arrays[name]["statistics"]["channels"].values()
        check(channel, odd[name])

    np.save(tmp_path / "wide.npy", np.array([1e200, 1.0, 3.0]))
    run = clpix("info", tmp_path / "wide.npy", "--stats", "--json")
    (channel,) = strictly(run.out)[0]["arrays"][""]["statistics"]["channels"].values()
    assert (channel["infinite"], channel["mean"]) == (1, 2.0)
    assert run.err.count("\n") == 1 and "float64 and measured as float" in run.err


def test_without_stats_no_device_is_opened(clpix, tmp_path, monkeypatch) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a device was opened")

    path = save(tmp_path / "in.png", np.zeros((3, 3, 3), np.uint8))
    monkeypatch.setattr(gpu.Gpu, "__init__", refuse)
    monkeypatch.setenv("CLPIX_DEVICE", "nothing-like-this")
    assert clpix("info", path).code == 0
    missing = clpix("info", tmp_path / "none.png", "--stats")  # a missing file opens no device either
    assert (missing.code, missing.err.count("\n")) == (1, 1)


def test_the_format_is_looked_for_once(clpix, tmp_path, monkeypatch) -> None:
    asked: list[str] = []

    def beginning(name: str, count: int) -> bytes:
        asked.append(name)
        return known(name, count)

    known = pictures.beginning
    monkeypatch.setattr(pictures, "beginning", beginning)
    paths = [save(tmp_path / f"{number}.png", np.zeros((3, 3, 3), np.uint8)) for number in range(3)]
    assert clpix("info", *paths).code == 0
    assert asked == [str(path) for path in paths]


def test_standard_input(clpix, tmp_path, monkeypatch) -> None:
    path = save(tmp_path / "in.png", np.full((3, 4, 1), 255, np.uint8))

    class Stdin:
        buffer = io.BytesIO(path.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    result = of(clpix, "-", "--stats")
    assert (result["path"], result["width"], result["statistics"]["luminance"]["mean"]) == ("-", 4, 1.0)
    run = clpix("info", "-", "-")
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)


def test_statistics_of_light(clpix, tmp_path, photo) -> None:
    photo[0, 0, 0], photo[0, 1, 1], photo[0, 2] = np.nan, np.inf, 0
    photo[0, 3], photo[0, 4, 2], photo[0, 5, 1] = -0.5, 1e-40, -1e-3
    found = of(clpix, save(tmp_path / "in.exr", photo), "--stats")["statistics"]
    assert (found["values"], list(found["channels"])) == ("linear", ["R", "G", "B"])
    check(found["luminance"], photo.astype(float) @ REC709)
    for name, values in zip("RGB", np.moveaxis(photo, 2, 0), strict=True):
        check(found["channels"][name], values)


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_integers_are_measured_as_light_unless_encoded(clpix, tmp_path, rng, dtype) -> None:
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (40, 30, 4)).astype(dtype)
    path = save(tmp_path / "in.png", pixels)
    found = of(clpix, path, "--stats")["statistics"]
    assert (found["values"], list(found["channels"])) == ("linear", ["R", "G", "B", "A"])
    check(found["luminance"], light(pixels[..., :3]) @ REC709)
    check(found["channels"]["G"], light(pixels[..., 1]))
    check(found["channels"]["A"], pixels[..., 3] / np.iinfo(dtype).max)
    found = of(clpix, path, "--stats", "--space", "encoded", "--alpha", "drop")["statistics"]
    assert (found["values"], list(found["channels"])) == ("encoded", ["R", "G", "B"])
    check(found["luminance"], pixels[..., :3] / np.iinfo(dtype).max @ REC709)
    assert "\n  linear light " in clpix("info", path, "--stats").out
    assert "\n  stored values, sRGB-encoded " in clpix("info", path, "--stats", "--space", "encoded").out


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["a.exr", "a.png", "a.tif", "b.png"])
def test_any_rows_have_the_statistics_of_the_whole(clpix, tmp_path, rng, monkeypatch, name) -> None:
    """A picture that memory, or the device, has no room for: counts are the same, and sums but for their order."""
    if name == "a.exr":
        pixels = rng.normal(1, 1, (601, 403, 4)).astype(np.float32)
        pixels[[2, 50, 600], 5, 1], pixels[70, 3], pixels[71, 4] = np.nan, np.inf, 0
    elif name == "a.tif":
        pixels = rng.integers(0, 65536, (601, 403, 1)).astype(np.uint16)
    else:
        pixels = rng.integers(0, 256, (601, 403, 3)).astype(np.uint8)
    wide = Metadata(icc=rgb_profile("Display P3", parametric(0, 1.8))) if name == "b.png" else Metadata()
    path = save(tmp_path / name, pixels, metadata=wide)
    text, whole = clpix("info", path).out, of(clpix, path, "--stats", "--histogram")
    found = [of(clpix, path, "--stats", "--histogram", "--device-memory", "800K")]
    monkeypatch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
    monkeypatch.setattr("gpuops.batch.file_statistics._ENOUGH", 1 << 11)
    assert clpix("info", path).out == text
    found.append(of(clpix, path, "--stats", "--histogram"))
    for other in found:
        check_same(whole.get("statistics"), other.get("statistics"))
        assert {**other, "statistics": 0} == {**whole, "statistics": 0}


def check_same(one: Any, other: Any) -> None:
    """Checks that values are the same, but for roundings of numbers."""
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            check_same(one[key], other[key])
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=ROUNDINGS)
    else:
        assert other == one


def test_memory_that_is_too_little(clpix, tmp_path) -> None:
    path = save(tmp_path / "a.png", np.zeros((400, 300, 3), np.uint8))
    for options in (("--memory", "100K"), ("--device-memory", "1K")):
        run = clpix("info", path, "--stats", *options)
        assert (run.code, run.out, run.err.count("\n")) == (1, "", 1)
        assert "B of" in run.err and str(path) in run.err
    assert clpix("info", path, "--device-memory", "1G").code == 2


@each(value=[np.nan, np.inf, 0.0, -1.0, 0.5, 1e30], size=[1, 5])
def test_all_values_alike(clpix, tmp_path, value, size) -> None:
    pixels = np.full((size, size, 3), value, np.float32)
    path = save(tmp_path / "in.exr", pixels)
    found = of(clpix, path, "--stats", "--histogram")["statistics"]
    for name in "RGB":
        check(found["channels"][name], pixels[..., 0])
    assert sum(found["channels"]["R"]["histogram"]["counts"]) == (size**2 if 0 < value < np.inf else 0)
    if value == 0.5:
        assert set(found["channels"]["G"]["percentiles"].values()) == {0.5}
    run = clpix("info", path, "--stats", "--histogram")
    assert (run.code, run.err) == (0, "") and ("no positive values" in run.out) == (not 0 < value < np.inf)


def test_histogram(clpix, tmp_path) -> None:
    pixels = np.float32([0.25, 0.3, 0.49, 4.0]).reshape(2, 2, 1)
    path = save(tmp_path / "in.pfm", pixels)
    lines = clpix("info", path, "--stats", "--histogram").out.splitlines()
    first = next(i for i, line in enumerate(lines) if "from 2^stop on" in line)
    assert [line.split() for line in lines[first + 1 : -1]] == [
        ["-2", "75.000%", "█" * 50], ["-1", "0.000%"], ["0", "0.000%"], ["1", "0.000%"],
        ["2", "25.000%", "█" * 17],
    ]  # fmt: skip
    histogram = of(clpix, path, "--stats", "--histogram")["statistics"]["luminance"]["histogram"]
    start = (-2 - histogram["lowest_stop"]) * histogram["bins_per_stop"]
    assert histogram["counts"][start : start + 4] == [1, 1, 0, 1]
    assert "histogram" not in of(clpix, path, "--stats")["statistics"]["luminance"]


def test_the_table_is_the_json(clpix, tmp_path, photo) -> None:
    path = save(tmp_path / "in.exr", photo)
    found = of(clpix, path, "--stats")["statistics"]
    _, header, *lines, note = clpix("info", path, "--stats").out.splitlines()
    assert header.split() == ["linear", "light", "luminance", "R", "G", "B"] and "1/4 of a stop" in note
    rows = {line[:28].strip(): line[28:].split() for line in lines}
    assert rows["values"] == [str(photo[..., 0].size)] * 4
    for label, key in (("mean", "mean"), ("minimum", "minimum"), ("log mean *", "log_mean")):
        sets = [found["luminance"], *found["channels"].values()]
        assert rows[label] == [f"{entry[key]:.6g}" for entry in sets]


def test_every_file_is_tried(clpix, tmp_path, photo) -> None:
    good = save(tmp_path / "good.exr", photo)
    cut = tmp_path / "cut.exr"
    cut.write_bytes(good.read_bytes()[:3000])
    text = tmp_path / "text.png"
    text.write_text("not a picture")
    empty = tmp_path / "empty.npy"
    empty.touch()
    whole = tmp_path / "whole.npz"
    assert clpix("dwt", good, "-o", whole, "-q").code == 0
    half = tmp_path / "half.npz"
    half.write_bytes(whole.read_bytes()[:3000])
    objects = tmp_path / "objects.npy"
    np.save(objects, np.array([{}], object), allow_pickle=True)
    archive, forged = tmp_path / "archive.npz", tmp_path / "forged.npz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.txt", "no array")
        file.writestr("b.txt", "nor this")
    with zipfile.ZipFile(whole) as file, zipfile.ZipFile(forged, "w") as other:
        other.writestr("clpix.npy", file.read("clpix.npy"))
        for name in file.namelist()[1:]:
            other.writestr(name.removesuffix(".npy"), "nor these")
    bad = [tmp_path / "none.png", tmp_path, cut, text, empty, half, objects, archive, forged]
    for options in ([], ["--stats"]):
        run = clpix("info", *bad, good, *options)
        assert run.code == 1 and run.out.startswith(f"{good}: EXR, 131 × 97, RGB, float, linear light\n")
        lines = run.err.splitlines()
        assert len(lines) == len(bad)
        for path, line in zip(bad, lines, strict=True):
            assert line.startswith(f"clpix: error: {path}: "), line
        result = strictly(clpix("info", *bad, good, "--json", *options).out)
        assert [entry["path"] for entry in result] == [str(path) for path in (*bad, good)]
        assert ["error" in entry for entry in result] == [True] * len(bad) + [False]
        assert ("statistics" in result[-1]) == bool(options)


def test_names_stay_on_their_lines(clpix, tmp_path) -> None:
    name = "a\n\x1b[31mb\x9b\u202e"
    np.savez(tmp_path / "a.npz", **{name: np.ones((2, 2), np.float32), "c": np.float32(1)})
    text = clpix("info", tmp_path / "a.npz", "--stats").out
    assert "\\n\\x1b[31mb\\x9b\\u202e" in text and "\x1b" not in text
    text = clpix("info", tmp_path / "a.npz", "--json").out
    assert name in json.loads(text)[0]["arrays"] and text.replace("\n", "").isprintable()


def test_an_explanation_stays_on_its_lines(clpix, tmp_path) -> None:
    path = tmp_path / "a\x9b31mb.png"
    files.write(path, Picture(np.zeros((2, 2, 3), np.uint8)))
    text = clpix("flip", path, "--axis", "both", "-o", tmp_path / "b.png", "--explain").out
    assert "a\\x9b31mb.png" in text and text.replace("\n", "").isprintable()


def test_damaged_metadata_of_numbers(clpix, tmp_path) -> None:
    path = tmp_path / "a.npz"
    files.write_data(path, {"a": np.ones((2, 3), np.float32)}, {"metadata": {"icc": 3}})
    run = clpix("info", path)
    assert (run.code, run.err.count("\n")) == (0, 1) and "metadata" in run.err
    assert clpix("info", path, "-q").err == ""
