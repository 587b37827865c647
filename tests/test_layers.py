"""Channels beside the picture in EXR files: geometry moves them, the rest is copied; read by the OpenEXR library."""

import os

import numpy as np
import pytest

from gpuops import files

from .choices import each
from .conftest import run_python
from .test_budget import asked
from .test_streaming import PROGRAM

OpenEXR = pytest.importorskip("OpenEXR")
oiio = pytest.importorskip("OpenImageIO")

HALF, FLOAT, UINT = "half", "float", "uint"
#: Channels of two parts: names and types.
BEAUTY = {
    "R": HALF,
    "G": HALF,
    "B": HALF,
    "A": HALF,
    "Z": FLOAT,
    "diffuse.R": HALF,
    "diffuse.G": HALF,
    "objectId": UINT,
}
MOTION = {"forward.u": FLOAT, "forward.v": FLOAT, "crypto00.R": FLOAT, "mask.Y": HALF}


@pytest.fixture(params=["whole", "rows"])
def way(request, monkeypatch) -> str:
    """Pictures are read as a whole, or by rows as on a machine with no memory."""
    if request.param == "rows":
        monkeypatch.setattr("gpuops.rows.budget.of_machine", lambda: 2)
        monkeypatch.setattr("gpuops.rows.blocks.ENOUGH", 1 << 12)
        monkeypatch.setattr("gpuops.rows.budget._LARGE", 1)
    return str(request.param)


def spec_of(channels: dict[str, str], width: int, height: int, name: str = ""):  # type: ignore[no-untyped-def]
    spec = oiio.ImageSpec(width, height, len(channels), "float")
    spec.channelnames, spec.channelformats = tuple(channels), tuple(map(oiio.TypeDesc, channels.values()))
    if name:
        spec.attribute("name", name)
    if "A" in channels:
        spec.alpha_channel = list(channels).index("A")
    return spec


def written(path, rng, *, parts: int = 1, size: tuple[int, int] = (36, 28)) -> list[dict[str, np.ndarray]]:
    """Writes a file, and gives its channels by name, part by part; IDs go beyond what floats hold."""
    width, height = size
    specs = [spec_of(BEAUTY, width, height, "beauty"), spec_of(MOTION, width, height, "motion")][:parts]
    if parts == 1:
        specs = [spec_of({**BEAUTY, **MOTION}, width, height)]
    made: list[dict[str, np.ndarray]] = []
    for spec in specs:
        known = {}
        for name, kind in zip(spec.channelnames, spec.channelformats, strict=True):
            values = rng.random((height, width)).astype(np.float16 if str(kind) == HALF else np.float32)
            known[name] = rng.integers(0, 1 << 32, (height, width)) if str(kind) == UINT else values
        known |= {"A": np.ones((height, width), np.float16)} if "A" in known else {}
        made.append(known)
    parts_ = []
    for spec, known in zip(specs, made, strict=True):
        header = {"type": OpenEXR.scanlineimage, "compression": OpenEXR.ZIP_COMPRESSION}
        channels = {name: v.astype(np.uint32) if v.dtype.kind == "i" else v for name, v in known.items()}
        parts_.append(OpenEXR.Part(header, channels, spec.get_string_attribute("name")))
    OpenEXR.File(parts_).write(str(path))
    return made


def read(path) -> list[tuple[str, dict[str, np.ndarray], dict[str, str]]]:  # type: ignore[no-untyped-def]
    """Each part's name, its channels, and their types."""
    parts = []
    for part in OpenEXR.File(str(path), separate_channels=True).parts:
        channels = {name: channel.pixels for name, channel in part.channels.items()}
        kinds = {
            name: {2: HALF, 4: FLOAT}[v.itemsize] if v.dtype.kind == "f" else UINT
            for name, v in channels.items()
        }
        parts.append((part.header.get("name", ""), channels, kinds))
    return parts


MOVES = {
    "flip": (("flip", "--axis", "horizontal"), lambda v: v[:, ::-1]),
    "turn": (("rotate", "--angle", "90"), lambda v: np.rot90(v, -1)),
    "crop": (("crop", "--region", "5,3,20,17"), lambda v: v[3:20, 5:25]),
    "half": (("resize", "--size", "18x14", "--filter", "nearest"), lambda v: v[1::2, 1::2]),
}


@each(parts=[1, 2], move=MOVES)
def test_geometry_moves_all_channels(clpix, tmp_path, rng, way, parts, move) -> None:
    """Whole numbers up to 2³², too, exactly; names, types and parts stay."""
    before = written(tmp_path / "in.exr", rng, parts=parts)
    (name, *options), moved = MOVES[move]
    run = clpix(name, tmp_path / "in.exr", *options, "-o", tmp_path / "out.exr")
    assert (run.code, run.err) == (0, "")
    after = read(tmp_path / "out.exr")
    assert [one[0] for one in after] == ([""] if parts == 1 else ["beauty", "motion"])
    for known, (_, channels, kinds) in zip(before, after, strict=True):
        wanted = {name: {**BEAUTY, **MOTION}[name] for name in known}
        assert kinds == wanted
        for channel, values in known.items():
            np.testing.assert_array_equal(channels[channel], moved(values), channel)


CHAINS = {
    **{
        name: " ".join((name.replace("turn", "rotate").replace("half", "resize"), *words[1:]))
        for name, (words, _) in MOVES.items()
    },
    "flip": "flip --axis both",
    "crop": "crop --region 5,3,20,17 then rotate --angle 180",
    "grade": "grade --exposure 1 then blur --sigma 1",
    "resize": "resize --size 51x40 --filter lanczos3",
    "tilt": "rotate --angle 20 --no-expand",
    "several": "flip --axis vertical then resize --size 20x33 --filter mitchell "
    "then rotate --angle 270 then crop --region 2,1,25,10",
}


@pytest.mark.cases(4)
@each(parts=[1, 2], chain=CHAINS, scratch=[False, True])
def test_channels_come_by_rows(clpix, tmp_path, monkeypatch, rng, parts, chain, scratch) -> None:
    """They are what they are as a whole, in little memory, with 16 rows of other channels at a time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 10 << 10)
    written(tmp_path / "in.exr", rng, parts=parts, size=(36, 100))
    name, *words = CHAINS[chain].split()
    assert clpix(name, "in.exr", *words, "-o", "whole.exr").err == ""
    more = ("--scratch", ".") if scratch else ()
    asked(lambda memory: clpix(name, "in.exr", *words, "-o", "rows.exr", *more, "--memory", memory), 1)
    for (label, one, kinds), (_, other, _) in zip(read("rows.exr"), read("whole.exr"), strict=True):
        assert kinds == {name: {**BEAUTY, **MOTION}[name] for name in other}
        for channel, values in other.items():
            np.testing.assert_allclose(
                one[channel], values, rtol=2e-3, atol=1e-3, err_msg=f"{label} {channel}"
            )
            if kinds[channel] == UINT or channel in ("Z", "crypto00.R"):
                np.testing.assert_array_equal(one[channel], values)


@each(channels=[{"Y": FLOAT, "a.Y": HALF}, {"R": FLOAT, "G": HALF, "B": HALF, "b": HALF}])
def test_memory_of_halfs_beside_floats(clpix, tmp_path, monkeypatch, rng, channels) -> None:
    """The number that a line names is enough, where the part is read as a whole, which all of it is as floats."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 10 << 10)
    values = {
        name: rng.random((60, 20)).astype({HALF: "f2", FLOAT: "f4"}[channels[name]]) for name in channels
    }
    OpenEXR.File({"type": OpenEXR.scanlineimage}, values).write(str(tmp_path / "in.exr"))
    words = "rotate", tmp_path / "in.exr", "--angle", "33", "-o", tmp_path / "out.exr", "--overwrite"
    asked(lambda memory: clpix(*words, "--memory", memory), 1)


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
@pytest.mark.parametrize("compression", ["zip", "dwab", "htj2k256"])
def test_peak_of_many_channels(tmp_path, rng, compression) -> None:
    """16 channels of 3000 columns; some methods code 256 rows together."""
    half = np.tile(rng.random((64, 3000)).astype(np.float16), (24, 1))
    names = [*"RGB", *(f"{number}.X" for number in range(12))]
    for name, rows in (("small", 1), ("large", 24 * 64)):
        channels = dict.fromkeys(names, half[:rows]) | {
            "objectId": half[:rows].view(np.uint16).astype(np.uint32)
        }
        header = {"type": OpenEXR.scanlineimage, "compression": OpenEXR.ZIPS_COMPRESSION}
        OpenEXR.File(header, channels).write(str(tmp_path / f"{name}.exr"))
    words = "blur", "--sigma", 2, "--memory", "560M", "--compression", compression
    files_ = (tmp_path / f"{name}.exr" for name in ("small", "large", "out"))
    done = run_python("-c", PROGRAM.replace(".tif", ".exr"), *files_, *words)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 560 << 20


def test_other_work_leaves_other_channels_alone(clpix, tmp_path, rng, way) -> None:
    (before,) = written(tmp_path / "in.exr", rng)
    chain = ("then", "resize", "--size", "18x14", "--filter", "area", "then", "grade", "--exposure", "1")
    assert clpix("blur", tmp_path / "in.exr", "--sigma", "1", *chain, "-o", tmp_path / "out.exr").err == ""
    ((_, after, _),) = read(tmp_path / "out.exr")
    means = before["diffuse.R"].astype(float).reshape(14, 2, 18, 2).mean((1, 3))
    np.testing.assert_allclose(after["diffuse.R"], means, atol=1e-3)
    for name in ("Z", "objectId", "crypto00.R"):  # values of one pixel each
        np.testing.assert_array_equal(after[name], before[name][1::2, 1::2])
    mean = before["R"].astype(float).mean()
    assert after["R"].mean() == pytest.approx(2 * mean, rel=0.02)


def test_tilted_channels(clpix, tmp_path, rng, way) -> None:
    (before,) = written(tmp_path / "in.exr", rng)
    assert clpix("rotate", tmp_path / "in.exr", "--angle", "20", "-o", tmp_path / "out.exr").err == ""
    ((_, after, _),) = read(tmp_path / "out.exr")
    assert set(np.unique(after["objectId"])) <= {0, *map(float, before["objectId"].ravel())}
    rows, columns = after["Z"].shape
    y, x = rows // 2, columns // 2
    assert after["diffuse.R"][y, x] != 0 and after["objectId"][0, 0] == 0


@each(shift=[(3, 2), (1.5, 0)])
def test_a_measured_shift_moves_all_channels(clpix, tmp_path, rng, shift) -> None:
    """By whole pixels exactly; by half of one, depths and IDs by the nearest pixel, and others between pixels."""
    (before,) = written(tmp_path / "in.exr", rng, size=(64, 48))
    frequencies = np.fft.fftfreq(64)
    turned = np.exp(-2j * np.pi * frequencies * shift[0])
    colours = [np.roll(before[c].astype(float), shift[1], 0) for c in "RGB"]
    moved = np.stack([np.fft.ifft(np.fft.fft(c, axis=1) * turned, axis=1).real for c in colours], -1)
    files.write(tmp_path / "ref.exr", files.Picture(moved.astype(np.float32), linear=True))
    register = ("register", tmp_path / "in.exr", "--reference", tmp_path / "ref.exr", "--window", "none")
    run = clpix(*register, "-o", tmp_path / "out.exr")
    assert run.code == 0 and f"shift {shift[0]:g},{shift[1]:g} pixels" in run.out
    ((_, after, _),) = read(tmp_path / "out.exr")
    for name in ("objectId", "Z", "diffuse.R"):
        want = np.roll(before[name], (shift[1], int(np.floor(shift[0]))), (0, 1))[8:-8, 8:-8].astype(float)
        other = np.roll(before[name], (shift[1], int(np.ceil(shift[0]))), (0, 1))[8:-8, 8:-8].astype(float)
        got = after[name][8:-8, 8:-8]
        if shift[0] % 1 == 0:
            np.testing.assert_array_equal(got, want)
        elif name == "diffuse.R":  # Catmull-Rom's weights in the middle: (−1, 9, 9, −1) / 16
            far = np.roll(before[name], (shift[1], 0), (0, 1)), np.roll(before[name], (shift[1], 3), (0, 1))
            far = [one[8:-8, 8:-8].astype(float) for one in far]
            ends = np.sort(np.stack([want, other, *far]), 0)
            middle = ((9 * (want + other) - sum(far)) / 16).clip(ends[0], ends[-1])
            np.testing.assert_allclose(got, middle, atol=0.02)
        else:
            assert ((got == want) | (got == other)).all()


def test_names_in_an_older_encoding(clpix, tmp_path, rng, way) -> None:
    """Latin-1 becomes UTF-8, as text of EXR is today."""
    (before,) = written(tmp_path / "in.exr", rng)
    data = (tmp_path / "in.exr").read_bytes()
    (tmp_path / "in.exr").write_bytes(
        data.replace(b"objectId", "öbjectId".encode("latin-1")).replace(b"mask.Y", b"m\xe4sk.Y")
    )
    run = clpix("flip", tmp_path / "in.exr", "--axis", "horizontal", "-o", tmp_path / "out.exr")
    assert (run.code, run.err) == (0, "")
    ((_, after, kinds),) = read(tmp_path / "out.exr")
    assert kinds["öbjectId"] == UINT
    for name, old in (("öbjectId", "objectId"), ("mäsk.Y", "mask.Y"), ("R", "R")):
        np.testing.assert_array_equal(after[name], before[old][:, ::-1])
    assert (
        clpix("blur", tmp_path / "in.exr", "--sigma", 1, "--layer", "mäsk", "-o", tmp_path / "one.exr").code
        == 0
    )


def test_what_drops_layers_says_so(clpix, tmp_path, rng, way) -> None:
    written(tmp_path / "in.exr", rng, parts=2)
    flip = ("flip", tmp_path / "in.exr", "--axis", "both")
    run = clpix(*flip, "-o", tmp_path / "out.tif")
    assert run.code == 0 and run.err.count("\n") == 1 and "motion.forward" in run.err
    run = clpix(*flip, "--drop-layers", "-o", tmp_path / "less.exr")
    assert run.code == 0 and run.err.count("\n") == 1
    ((_, channels, _),) = read(tmp_path / "less.exr")
    assert set(channels) == set("RGBA")
    run = clpix(*flip, "then", "write", tmp_path / "all.exr", "then", "tonemap", "-o", tmp_path / "out.png")
    assert run.code == 0 and "PNG cannot hold the channels" in run.err
    assert len(read(tmp_path / "all.exr")) == 2
    run = clpix(*flip, "--layer", "beauty.diffuse", "-o", tmp_path / "one.exr")
    assert run.code == 0 and len(read(tmp_path / "one.exr")) == 1


def test_windows_of_parts(clpix, tmp_path, rng, way) -> None:
    """Each part has its own pixels in the window."""
    specs = [spec_of({"R": HALF, "G": HALF, "B": HALF}, 30, 20, "a"), spec_of({"Z": FLOAT}, 10, 8, "b")]
    arrays = [rng.random((spec.height, spec.width, spec.nchannels)).astype(np.float32) for spec in specs]
    specs[1].x, specs[1].y = 12, 7
    specs[0].tile_width = specs[0].tile_height = specs[1].tile_width = specs[1].tile_height = 16
    for spec in specs:
        spec.full_x, spec.full_y, spec.full_width, spec.full_height = 0, 0, 30, 20
    out = oiio.ImageOutput.create(str(tmp_path / "in.exr"))
    assert out.open(str(tmp_path / "in.exr"), tuple(specs)) and out.write_image(arrays[0])
    assert out.open(str(tmp_path / "in.exr"), specs[1], "AppendSubimage") and out.write_image(arrays[1])
    assert out.close()
    assert clpix("flip", tmp_path / "in.exr", "--axis", "horizontal", "-o", tmp_path / "out.exr").err == ""
    file = oiio.ImageInput.open(str(tmp_path / "out.exr"))
    assert file.seek_subimage(1, 0)
    assert (file.spec().x, file.spec().y, file.spec().width) == (30 - 22, 7, 10)
    np.testing.assert_array_equal(file.read_image(1, 0, 0, 1, "float")[:, :, 0], arrays[1][:, ::-1, 0])


def test_the_library_reads_them(tmp_path, rng) -> None:
    written(tmp_path / "in.exr", rng)
    rest = files.read(tmp_path / "in.exr", layers=True).metadata.rest
    assert rest is not None and rest.picture == ("R", "G", "B", "A")
    assert set(rest.channels) == {*BEAUTY, *MOTION} - set("RGBA")
