"""Frames of videos as pictures of their own, against frames that PyAV decodes; and how far a video has come."""

import csv
import json
import signal
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from gpuops import files
from gpuops.errors import FileError
from gpuops.files.formats import mp4

from .choices import each, thinned
from .test_batch import on_a_terminal
from .test_video import TIMES, decoded, video
from .test_video_colour import QUARTERS, TAGS, coded, signal_of, write

av = pytest.importorskip("av", reason="needs the extra video")

FLIP = ("--axis", "vertical")


def long(path: Path, count: int = 300) -> None:
    """A video whose frames count: each is as bright as its number says, with 7 of 12 between key frames."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"crf": "1", "g": "12", "bf": "3"})
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv420p"
        for number in range(count):
            high, low = divmod(number, 20)
            pixels = np.full((16, 32, 3), 10 + 10 * low, np.uint8)
            pixels[:, :16] = 10 + 10 * high
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        out.mux(stream.encode(None))


def number_of(pixels: np.ndarray) -> int:
    high, low = (round((float(pixels[8, at].mean()) - 10) / 10) for at in (4, 28))
    return high * 20 + low


@pytest.mark.parametrize("name", ["in.mp4", "in.mkv", "in.mov", "film"])
def test_frames_become_numbered_pictures(name, clpix, tmp_path) -> None:
    """The content tells that it is a video, whatever its name says."""
    video(tmp_path / "made.mkv" if name == "film" else tmp_path / name, sound=name != "film")
    if name == "film":
        (tmp_path / "made.mkv").rename(tmp_path / name)
    output = f"{tmp_path}/out/" if name != "film" else f"{tmp_path}/out/{{stem}}-{{frame}}.png"
    run = clpix("flip", tmp_path / name, *FLIP, "--frames", "all", "-o", output)
    assert (run.code, run.err) == (0, "")
    stem = Path(name).stem
    made = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in made] == [f"{stem}-{k:04d}.png" for k in range(len(TIMES))]
    for path, pixels in zip(made, decoded(tmp_path / name)[1], strict=True):
        assert np.abs(np.asarray(PIL.Image.open(path), float)[::-1] - pixels).max() <= 1


@each(frames__expected=[("2:4", (2, 3)), ("6:", (6, 7)), (":2", (0, 1)), ("5", (5,))])
def test_some_frames(frames, expected, clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4")
    run = clpix("flip", tmp_path / "in.mp4", *FLIP, "--frames", frames, "-o", tmp_path / "f.png")
    assert (run.code, run.err) == (0, "")
    assert sorted(path.name for path in tmp_path.glob("f*")) == [f"f-{k:04d}.png" for k in expected]


def test_frames_that_are_not_there(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4")
    for frames, words in (
        ("8", "has no frame 8; it has frames 0 to 7"),
        ("9:", "has no frames 9:; it has 8"),
    ):
        run = clpix("flip", tmp_path / "in.mp4", *FLIP, "--frames", frames, "-o", tmp_path / "f.png")
        assert (run.code, run.err.count("\n")) == (1, 1) and words in run.err


def test_frames_in_any_order(tmp_path) -> None:
    """Also those that are far apart, for which the reader seeks among frames of which many depend on others."""
    long(tmp_path / "in.mp4", 290)
    assert mp4.FORMAT.count(str(tmp_path / "in.mp4")) == 290
    order = [0, 1, 3, 2, 4, 289, 288, 5, 17, 16, 280, 260, 7, 7, 100, 101, 99, 289, 0]
    order += [int(k) for k in np.random.default_rng(5).integers(0, 290, 40)]
    for number in order:
        picture = files.read(tmp_path / "in.mp4", layer=number)
        assert number_of(picture.pixels) == number == int(picture.layer)


def test_frames_of_two_videos_by_turns_and_of_one_that_changes(tmp_path) -> None:
    for name in ("a.mp4", "b.mp4"):
        long(tmp_path / name, 30 if name == "a.mp4" else 40)
    for number in (0, 5, 6, 29):
        for name in ("a.mp4", "b.mp4"):
            assert number_of(files.read(tmp_path / name, layer=number).pixels) == number
    long(tmp_path / "b.mp4", 20)
    with pytest.raises(FileError, match="has no frame 29; it has frames 0 to 19"):
        files.read(tmp_path / "b.mp4", layer=29)


def test_hdr_frames_keep_their_light(clpix, tmp_path) -> None:
    write(tmp_path / "in.mkv", coded(signal_of("rec2100-pq", white=3), 9, 10), TAGS["rec2100-pq"])
    frames = ("--frames", "1:", "--colour", "linear")
    run = clpix("convert", tmp_path / "in.mkv", *frames, "-o", tmp_path / "f.exr")
    assert (run.code, run.err) == (0, "")
    for name in ("f-0001.exr", "f-0002.exr"):
        light = files.read(tmp_path / name).pixels[[8, 8, 24, 24], [16, 48, 16, 48]]
        assert np.allclose(light, 3 * QUARTERS, rtol=0.03, atol=0.01)
    run = clpix(
        "flip", tmp_path / "in.mkv", *FLIP, "--frames", "1", "--colour", "input", "-o", tmp_path / "f.png"
    )
    assert (run.code, run.err) == (0, "")
    signal_ = files.read(tmp_path / "f-0001.png").pixels[[24, 24, 8, 8], [16, 48, 16, 48]] / 65535
    assert np.abs(signal_ - signal_of("rec2100-pq", white=3)).max() < 0.002


def test_frames_are_resumed(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4")
    flip = ("flip", tmp_path / "in.mp4", *FLIP, "--frames", "all", "-o", f"{tmp_path}/out/")
    assert clpix(*flip, "--journal", tmp_path / "j").code == 0
    (tmp_path / "out" / "in-0003.png").unlink()
    run = clpix(*flip, "--resume", tmp_path / "j", "-v")
    assert run.code == 0 and "7 of 8 outputs are there and stay" in run.err
    assert len(list((tmp_path / "out").iterdir())) == 8


@pytest.mark.parametrize("name", ["out.gif", "out.webp", "out.apng"])
def test_an_animation_of_a_video(name, clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("flip", tmp_path / "in.mp4", *FLIP, "--frames", "all", "-o", tmp_path / name)
    said = "GIF holds 256 colours; its 1251 become 256 of them, dithered; so it is in 7 more frames"
    assert run.code == 0 and run.err == (
        f"clpix: warning: {tmp_path}/{name}: {said}\n" if ".gif" in name else ""
    )
    lengths = [40, 50, 110, 40, 40, 50, 70, 70]
    with PIL.Image.open(tmp_path / name) as made:
        found = []
        for number in range(made.n_frames):
            made.seek(number)
            made.load()
            found.append(made.info["duration"])
        assert made.info["loop"] == 0
    assert found == lengths


def test_a_line_for_each_video(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("flip", tmp_path / "in.mp4", *FLIP, "--progress", "-o", tmp_path / "out.mp4")
    line, rate = run.err.rsplit(", ", 1)
    assert line == "clpix: in.mp4 → out.mp4: 8 frames done"
    assert rate.endswith(" frames/s\n") and float(rate.split()[0]) > 0
    options = ("--exposure", "shared", "--progress", "-o", tmp_path / "two.mp4")
    run = clpix("tonemap", tmp_path / "in.mp4", *options)
    assert [line.rsplit(", ", 1)[0] for line in run.err.splitlines()] == [
        "clpix: in.mp4 → two.mp4: 8 frames metered",
        "clpix: in.mp4 → two.mp4: 8 frames done",
    ]


@pytest.mark.parametrize("name", ["in.mp4", "in.mkv"])
def test_a_terminal_shows_how_far_a_video_is(name, tmp_path) -> None:
    """Matroska says how long it is, and not how many frames there are."""
    long(tmp_path / name)
    command = ("tonemap", tmp_path / name, "--exposure", "shared", "-o", tmp_path / "out.mp4")
    code, shown = on_a_terminal(*command)
    assert code == 0
    for what in (b"metered", b"done"):
        assert b" of 300 frames " + what + b", " in shown
    assert b" frames/s, 0:" in shown and b" left" in shown
    assert shown.decode().replace("\r\n", "\n").rpartition("\r\x1b[K")[2] == ""


@pytest.mark.exhaustive
def test_a_terminal_is_clean_after_an_interrupted_video(tmp_path) -> None:
    long(tmp_path / "in.mp4", 400)
    command = ("blur", tmp_path / "in.mp4", "--sigma", 3, "-o", tmp_path / "out.mp4")
    code, shown = on_a_terminal(*command, until=b"frames done", number=signal.SIGINT)
    assert code == 130
    left = shown.decode().replace("\r\n", "\n").split("\n")[-2].rpartition("\r\x1b[K")[2]
    assert left.startswith("clpix: error: interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["in.mp4"]


@pytest.mark.parametrize("exposure", thinned(["smooth:3", "auto"], 2))
def test_what_frames_are_metered_for_is_told(exposure, clpix, tmp_path) -> None:
    """As of pictures that are in files of their own."""
    video(tmp_path / "in.mp4", sound=False)
    options = ("--exposure", exposure, "--operator", "reinhard", "-v")
    run = clpix("convert", tmp_path / "in.mp4", "--frames", "all", "-o", f"{tmp_path}/{{frame}}.png")
    assert run.code == 0
    names = [tmp_path / f"{number:04d}.png" for number in range(len(TIMES))]
    single = clpix("tonemap", *names, *options, "-o", f"{tmp_path}/single/")
    told = [line.split(": ", 2)[2] for line in single.err.splitlines() if "exposure" in line]
    for kind in ("json", "csv"):
        how = (*options, "--timing-file", tmp_path / f"times.{kind}", "-o", tmp_path / f"{kind}.mp4")
        run = clpix("tonemap", tmp_path / "in.mp4", *how)
        assert run.code == 0
        lines = [line for line in run.err.splitlines() if "exposure" in line]
        assert lines == [f"clpix: {tmp_path}/in.mp4: frame {k}: {text}" for k, text in enumerate(told)]
    assert len(told) == len(TIMES)
    stops = [float(text.split()[1]) for text in told]
    report = json.loads((tmp_path / "times.json").read_text())
    *frames, whole = report["results"]
    assert whole == {"input": str(tmp_path / "in.mp4"), "frames": len(TIMES)}
    assert [(one["input"], one["frame"]) for one in frames] == [
        (str(tmp_path / "in.mp4"), number) for number in range(len(TIMES))
    ]
    assert np.allclose([one["exposure"] for one in frames], stops, atol=6e-4)
    assert {"decode", "compute", "encode"} <= {phase["name"] for phase in report["phases"]}
    with open(tmp_path / "times.csv", newline="") as file:
        rows = {row["name"]: float(row["value"]) for row in csv.DictReader(file) if row["kind"] == "result"}
    assert rows[f"{tmp_path}/in.mp4: frames"] == len(TIMES)
    found = [rows[f"{tmp_path}/in.mp4: frame {number}: exposure"] for number in range(len(TIMES))]
    assert np.allclose(found, stops, atol=6e-4)
