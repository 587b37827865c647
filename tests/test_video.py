"""Videos: every frame is worked on, and the rest of the file stays. PyAV by itself says what a file holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from .conftest import Run

av = pytest.importorskip("av")

Clpix = Callable[..., Run]
#: Milliseconds of frames at a variable rate.
TIMES = (0, 40, 90, 200, 240, 280, 330, 400)
MATRICES = {1: "ITU709", 6: "ITU601"}


def pictures() -> list[np.ndarray]:
    """Smooth pictures, since colours have half the resolution."""
    y, x = np.mgrid[:32, :48]
    return [
        np.stack((60 + 3 * x, 80 + 3 * y, np.full_like(x, 60 + 10 * i)), axis=2).astype(np.uint8)
        for i in range(len(TIMES))
    ]


def video(
    path: Path, *, matrix: int = 6, full: bool = False, sound: bool = True, kind: str = "yuv420p"
) -> None:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"crf": "1"})
        context = stream.codec_context
        context.width, context.height, context.pix_fmt = 48, 32, kind
        context.time_base = Fraction(1, 1000)
        context.colorspace = context.color_primaries = context.color_trc = matrix
        context.color_range = 2 if full else 1
        audio = out.add_stream("aac", rate=48000) if sound else None
        for time, pixels in zip(TIMES, pictures(), strict=True):
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24").reformat(
                format=kind, dst_colorspace=MATRICES[matrix], dst_color_range="JPEG" if full else "MPEG"
            )
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
        if audio is not None:
            noise = np.random.default_rng(5).uniform(-0.5, 0.5, (1, 1024 * 18)).astype(np.float32)
            samples = av.AudioFrame.from_ndarray(noise, "fltp", "mono")
            samples.rate, samples.pts = 48000, 0
            resampler = av.AudioResampler("fltp", audio.codec_context.layout or "stereo", 48000, 1024)
            for part in (*resampler.resample(samples), *resampler.resample(None)):
                out.mux(audio.encode(part))
            out.mux(audio.encode(None))


def decoded(path: Path) -> tuple[list[float], list[np.ndarray], Any]:
    with av.open(str(path)) as file:
        context = file.streams.video[0].codec_context
        tags = tuple(
            int(getattr(context, name))
            for name in ("colorspace", "color_primaries", "color_trc", "color_range")
        )
        found = [(frame.time, frame) for frame in file.decode(video=0)]
        how = {"src_colorspace": MATRICES[tags[0]], "src_color_range": "JPEG" if tags[3] == 2 else "MPEG"}
        rgb = [
            frame.reformat(format="rgb24", dst_color_range="JPEG", **how).to_ndarray().astype(float)
            for _, frame in found
        ]
        return [time for time, _ in found], rgb, tags


def sound(path: Path) -> list[bytes]:
    with av.open(str(path)) as file:
        return [bytes(packet) for packet in file.demux(audio=0) if packet.size]


def begin_of_sound(path: Path) -> float:
    with av.open(str(path)) as file:
        first = next(packet for packet in file.demux(audio=0) if packet.size)
        return float(first.pts * first.time_base)


@pytest.mark.parametrize("name", ["out.mp4", "out.mkv", "out.mov"])
@pytest.mark.parametrize(("matrix", "full"), [(6, False), (1, False), (1, True)])
def test_every_frame_is_turned_over(name: str, matrix: int, full: bool, clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "in.mp4", matrix=matrix, full=full)
    out = tmp_path / name
    run = clpix("flip", tmp_path / "in.mp4", "--axis", "horizontal", "-o", out, "--quality", "98")
    assert (run.code, run.err) == (0, "")
    (times, before, tags), (later, after, kept) = decoded(tmp_path / "in.mp4"), decoded(out)
    moved = np.array(later) - times  # Matroska has no negative times, and AAC begins before 0
    assert np.ptp(moved) < 1e-6
    assert np.allclose(moved, begin_of_sound(out) - begin_of_sound(tmp_path / "in.mp4"), atol=1e-3)
    assert name == "out.mkv" or np.allclose(moved, 0, atol=1e-6)
    assert np.allclose(times, np.array(TIMES) / 1000, atol=1e-3)
    assert kept == tags == (matrix, matrix, matrix, 2 if full else 1)
    for old, new, drawn in zip(before, after, pictures(), strict=True):
        assert np.abs(new[:, ::-1] - old).mean() < 2
        assert np.abs(new[:, ::-1] - drawn).mean() < 3
    assert sound(out) == sound(tmp_path / "in.mp4")
    assert len(sound(out)) > 5


def test_a_webm_of_another_size(clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    out = tmp_path / "out.webm"
    run = clpix("resize", tmp_path / "in.mp4", "--size", "24x", "-o", out)
    assert (run.code, run.err) == (0, "")
    _, found, _ = decoded(out)
    assert [frame.shape for frame in found] == [(16, 24, 3)] * len(TIMES)


def test_quality_decides_about_the_size(clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    sizes = []
    for quality in ("10", "100"):
        out = tmp_path / f"{quality}.mp4"
        assert clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "--quality", quality, "-o", out).code == 0
        sizes.append(out.stat().st_size)
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--journal", "j"), "a video is written as a whole"),
        (("--shard", "1/2"), "a video is written as a whole"),
        (("--dtype", "uint16"), "holds 8-bit integers"),
    ],
)
def test_options_without_a_meaning(
    options: tuple[str, ...], words: str, clpix: Clpix, tmp_path: Path
) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", *options, "-o", tmp_path / "out.mp4")
    assert run.code == 2
    assert words in " ".join(run.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mp4"]


def test_what_cannot_be_read_is_one_line_and_leaves_nothing(clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "aac.mp4")
    video(tmp_path / "in.mp4", sound=False)
    data = (tmp_path / "in.mp4").read_bytes()
    (tmp_path / "in.mp4").write_bytes(data[: len(data) // 2])
    video(tmp_path / "deep.mkv", sound=False, kind="yuv420p10le")
    refused = {"in.mp4": "in.mp4: is damaged", "deep.mkv": "yuv420p10le", "aac.mp4": "(aac): name an .mkv"}
    for name, words in refused.items():
        run = clpix("blur", tmp_path / name, "--sigma", "1", "-o", tmp_path / "out.webm")
        assert (run.code, run.err.count("\n")) == (1, 1)
        assert words in run.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(refused)


def test_one_exposure_for_all_is_refused_and_a_number_is_none(clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("tonemap", tmp_path / "in.mp4", "--exposure", "shared", "-o", tmp_path / "out.mp4")
    assert (run.code, "are not measured together" in " ".join(run.err.split())) == (2, True)
    options = ("--exposure", "0", "then", "flip", "--axis", "vertical")
    run = clpix("tonemap", tmp_path / "in.mp4", *options, "-o", tmp_path / "out.mp4")
    assert (run.code, run.err) == (0, "")
    assert len(decoded(tmp_path / "out.mp4")[0]) == len(TIMES)


def test_few_frames_are_there_at_a_time(
    clpix: Clpix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpuops.files.video import Copy

    with av.open(str(tmp_path / "in.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 16, 16, "yuv420p"
        for _ in range(80):
            frame = av.VideoFrame.from_ndarray(np.zeros((16, 16, 3), np.uint8), "rgb24")
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    known: list[int] = []
    add = Copy.add

    def adding(copy: Copy, pixels: np.ndarray) -> None:
        known.append(len(copy._times))
        add(copy, pixels)

    monkeypatch.setattr(Copy, "add", adding)
    options = ("--axis", "vertical", "--jobs", "2", "-o", tmp_path / "out.mp4")
    assert clpix("flip", tmp_path / "in.mp4", *options).code == 0
    assert len(known) == 80
    assert max(known) < 12


def test_an_interruption_leaves_nothing(
    clpix: Clpix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpuops.files.video import Copy

    def interrupted(copy: Copy) -> None:
        raise KeyboardInterrupt

    video(tmp_path / "in.mp4")
    monkeypatch.setattr(Copy, "finish", interrupted)
    with pytest.raises(click.Abort):
        clpix("flip", tmp_path / "in.mp4", "--axis", "vertical", "-o", tmp_path / "out.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["in.mp4"]


def test_a_video_that_is_there_stays(clpix: Clpix, tmp_path: Path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    (tmp_path / "out.mp4").write_bytes(b"precious")
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "-o", tmp_path / "out.mp4")
    assert (run.code, "exists already" in run.err) == (1, True)
    assert (tmp_path / "out.mp4").read_bytes() == b"precious"


def test_the_extra_is_named(clpix: Clpix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    video(tmp_path / "in.mp4", sound=False)
    monkeypatch.setitem(sys.modules, "av", None)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "-o", tmp_path / "out.mp4")
    assert (run.code, "pip install 'clpix[video]'" in run.err) == (1, True)
