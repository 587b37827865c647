"""Videos: every frame is worked on, and the rest of the file stays. PyAV by itself says what a file holds."""

import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from gpuops import files

from .choices import each, thinned
from .reference import colour as reference

av = pytest.importorskip("av", reason="needs the extra video")

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


@each(name__matrix__full=[("out.mp4", 6, False), ("out.mkv", 1, True), ("out.mov", 1, False)])
def test_every_frame_is_turned_over(name, matrix, full, clpix, tmp_path) -> None:
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
        assert np.abs(new[:, ::-1] - old).mean() < 2 and np.abs(new[:, ::-1] - drawn).mean() < 3
    assert sound(out) == sound(tmp_path / "in.mp4") and len(sound(out)) > 5


def test_a_webm_of_another_size(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    out = tmp_path / "out.webm"
    run = clpix("resize", tmp_path / "in.mp4", "--size", "24x", "-o", out)
    assert (run.code, run.err) == (0, "")
    _, found, _ = decoded(out)
    assert [frame.shape for frame in found] == [(16, 24, 3)] * len(TIMES)


def test_quality_decides_about_the_size(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    sizes = []
    for quality in ("10", "100"):
        out = tmp_path / f"{quality}.mp4"
        assert clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "--quality", quality, "-o", out).code == 0
        sizes.append(out.stat().st_size)
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize(("options", "words"), [
    (("--journal", "j"), "a video is written as a whole"),
    (("--shard", "1/2"), "a video is written as a whole"),
    (("--subsampling", "4:4:4"), "a video has a codec of its own"),
    (("--dtype", "half"), "holds 8-bit integers, or 10 of 16 bits"),
    (("--dtype", "uint8", "--colour", "rec2100-pq"), "8 bits are too few for --colour rec2100-pq"),
    (("--frames", "all"), "a video is written as a whole: leave out --frames"),
    (("then", "tonemap", "--transfer", "pq"), "in place of --transfer name --colour rec2100-pq"),
    (("--colour", "adobe-rgb"), "a video is written as srgb, display-p3, rec2020"),
    (("--colour", "rec2020", "--dither"), "the encoder rounds to 10 bits: leave out --dither"),
])  # fmt: skip
def test_options_without_a_meaning(options, words, clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", *options, "-o", tmp_path / "out.mp4")
    assert run.code == 2 and words in " ".join(run.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mp4"]


def test_standard_input_is_no_video(clpix, tmp_path) -> None:
    run = clpix("blur", "-", "--sigma", "1", "-o", tmp_path / "out.mp4")
    assert run.code == 2 and "a video is read from a file: name one in place of '-'" in run.err


def test_a_video_that_is_there_stays(clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    (tmp_path / "out.mp4").write_bytes(b"precious")
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "-o", tmp_path / "out.mp4")
    assert (run.code, "exists already" in run.err) == (1, True)
    assert (tmp_path / "out.mp4").read_bytes() == b"precious"


def test_what_cannot_be_read_is_one_line_and_leaves_nothing(clpix, tmp_path) -> None:
    video(tmp_path / "aac.mp4")
    video(tmp_path / "in.mp4", sound=False)
    data = (tmp_path / "in.mp4").read_bytes()
    (tmp_path / "in.mp4").write_bytes(data[: len(data) // 2])
    with av.open(str(tmp_path / "dv.mkv"), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv411p"
        out.mux(stream.encode(av.VideoFrame(32, 16, "yuv411p")))
        out.mux(stream.encode(None))
    refused = {"in.mp4": "in.mp4: is damaged", "dv.mkv": "the kind yuv411p", "aac.mp4": "(aac): name an .mkv"}
    for name, words in refused.items():
        run = clpix("blur", tmp_path / name, "--sigma", "1", "-o", tmp_path / "out.webm")
        assert (run.code, run.err.count("\n")) == (1, 1) and words in run.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(refused)


@pytest.mark.parametrize("exposure", thinned(["smooth:3", "shared", "auto", "0"], 4))
def test_frames_are_exposed_together(exposure, clpix, tmp_path) -> None:
    """As pictures in files are, but for what the encoder takes."""
    video(tmp_path / "in.mp4", sound=False)
    for number, pixels in enumerate(decoded(tmp_path / "in.mp4")[1]):
        files.write(tmp_path / f"f{number}.png", files.Picture(np.rint(pixels).astype(np.uint8)))
    options = ("--exposure", exposure, "--operator", "reinhard", "then", "flip", "--axis", "vertical")
    names = [tmp_path / f"f{number}.png" for number in range(len(TIMES))]
    assert clpix("tonemap", *names, *options, "-o", f"{tmp_path}/one/").code == 0
    run = clpix("tonemap", tmp_path / "in.mp4", *options, "--quality", 100, "-o", tmp_path / "out.mp4")
    assert (run.code, run.err) == (0, "")
    _, found, _ = decoded(tmp_path / "out.mp4")
    assert len(found) == len(TIMES)
    for number, pixels in enumerate(found):
        assert np.abs(pixels - files.read(tmp_path / "one" / f"f{number}.png").pixels).mean() < 2


#: Levels of gray in cd/m², and of red light alone.
LEVELS = (10.0, 60.0, 203.0)


@pytest.mark.parametrize(("curve", "full"), [(16, False), (18, True)])
def test_hdr_becomes_what_its_curve_and_primaries_say(curve, full, clpix, tmp_path) -> None:
    """Flat frames of Rec. 2020 grays and reds, with the codes that BT.2100 gives, in 10 bits without loss."""
    with av.open(str(tmp_path / "in.mkv"), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        context = stream.codec_context
        context.width, context.height, context.pix_fmt = 32, 16, "yuv444p10le"
        context.color_primaries, context.color_trc, context.colorspace = 9, curve, 9
        context.color_range = 2 if full else 1
        for level in LEVELS:
            signal = pq_signal(level) if curve == 16 else hlg_signal(level)
            # Gray has no difference of colours; half of the frame is red alone: BT.2100, table 6.
            y, cb, cr = np.full((16, 32), signal), np.zeros((16, 32)), np.zeros((16, 32))
            y[:, 16:] = 0.2627 * signal
            cb[:, 16:], cr[:, 16:] = -0.2627 * signal / 1.8814, (1 - 0.2627) * signal / 1.4746
            if full:
                planes = np.rint([y * 1023, cb * 1023 + 512, cr * 1023 + 512])
            else:
                planes = np.rint([y * 876 + 64, cb * 896 + 512, cr * 896 + 512])
            frame = av.VideoFrame(32, 16, "yuv444p10le")
            for plane, values in zip(frame.planes, planes, strict=True):
                rows = np.zeros((16, plane.line_size // 2), np.uint16)
                rows[:, :32] = values
                plane.update(rows.tobytes())
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    command = ("tonemap", tmp_path / "in.mkv", "--operator", "linear", "--exposure", 0, "--quality", 100)
    run = clpix(*command, "-o", tmp_path / "out.mkv")
    assert run.code == 0 and "out.mkv: has 8 bits and SDR, and" in run.err and "has 10" in run.err
    _, found, tags = decoded(tmp_path / "out.mkv")
    assert tags == (1, 1, 1, 1)
    to_srgb = reference.matrix("Rec. 2020")
    for level, pixels in zip(LEVELS, found, strict=True):
        red = 0.2627**0.2 if curve == 18 else 1  # the OOTF multiplies by Y^0.2
        for at, colour in ((8, (1, 1, 1)), (24, (red, 0, 0))):
            light = (to_srgb @ np.multiply(colour, level / 203)).clip(0, 1)
            expected = reference.srgb_signal(light) * 255
            assert np.abs(pixels[8, at] - expected).max() < 5


def pq_signal(level: float) -> float:
    """SMPTE ST 2084 of cd/m²."""
    y = (level / 10000) ** (2610 / 16384)
    return float(((3424 / 4096 + 2413 / 128 * y) / (1 + 2392 / 128 * y)) ** (2523 / 32))


def hlg_signal(level: float) -> float:
    """BT.2100 of gray of so many cd/m², on a display of 1000 cd/m²."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    scene = (level / 1000) ** (1 / 1.2)
    return float(np.sqrt(3 * scene) if scene <= 1 / 12 else a * np.log(12 * scene - b) + c)


def test_deep_video_is_said_to_lose_bits(clpix, tmp_path) -> None:
    video(tmp_path / "in.mkv", sound=False, kind="yuv420p10le")
    run = clpix(
        "flip", tmp_path / "in.mkv", "--axis", "horizontal", "--quality", 98, "-o", tmp_path / "out.mp4"
    )
    assert run.code == 0 and run.err.count("\n") == 1 and "has 8 bits, and" in run.err
    _, found, _ = decoded(tmp_path / "out.mp4")
    for new, drawn in zip(found, pictures(), strict=True):
        assert np.abs(new[:, ::-1] - drawn).mean() < 3


def test_hdr_of_8_bits_becomes_sdr_where_it_is_asked_for(clpix, tmp_path) -> None:
    with av.open(str(tmp_path / "in.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        context = stream.codec_context
        context.color_primaries, context.color_trc, context.colorspace = 9, 18, 9
        out.mux([*stream.encode(av.VideoFrame.from_ndarray(pictures()[0], "rgb24")), *stream.encode(None)])
    flip = ("flip", tmp_path / "in.mp4", "--axis", "vertical", "-o", tmp_path / "out.mp4", "--overwrite")
    run = clpix(*flip)
    with av.open(str(tmp_path / "out.mp4")) as made:
        assert (run.code, run.err, made.streams.video[0].codec_context.color_trc) == (0, "", 18)
    run = clpix(*flip, "--dtype", "uint8")
    words = f"{tmp_path}/out.mp4: is SDR, and {tmp_path}/in.mp4 HDR: --colour input with 10 bits keeps HDR"
    assert run.code == 0 and f"clpix: warning: {words}" in run.err.splitlines()


@pytest.mark.parametrize(
    ("matrix", "corner"),
    # A display turns it so: QuickTime File Format, track header; telephones held upright write the first.
    [((0, 1, -1, 0), (0, -1)), ((-1, 0, 0, -1), (-1, -1)), ((0, -1, 1, 0), (-1, 0))],
)
def test_a_turned_video_becomes_upright(matrix, corner, clpix, tmp_path) -> None:
    with av.open(str(tmp_path / "in.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"crf": "1"})
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        pixels = np.zeros((32, 48, 3), np.uint8)
        pixels[:8, :8] = 255  # the first corner
        for _ in range(3):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        out.mux(stream.encode(None))
    data = bytearray((tmp_path / "in.mp4").read_bytes())
    at = data.index(b"tkhd") + 4 + 40  # version 0: the matrix comes after 40 bytes
    a, b, c, d = (one * 65536 for one in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    (tmp_path / "in.mp4").write_bytes(data)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "0.5", "--quality", 98, "-o", tmp_path / "out.mp4")
    assert (run.code, run.err) == (0, "")
    with av.open(str(tmp_path / "out.mp4")) as made:
        frames = list(made.decode(video=0))
    assert len(frames) == 3 and frames[0].rotation == 0
    found = frames[0].to_ndarray(format="rgb24")
    assert found.shape == ((48, 32, 3) if matrix[0] == 0 else (32, 48, 3))
    for y in (0, -1):
        for x in (0, -1):
            assert (found[y, x].min() > 230) == ((y, x) == corner)


def test_few_frames_are_there_at_a_time(clpix, tmp_path, monkeypatch) -> None:
    from gpuops.files.video_copy import Copy

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
        known.append(len(copy.frames.times))
        add(copy, pixels)

    monkeypatch.setattr(Copy, "add", adding)
    options = ("--axis", "vertical", "--jobs", "2", "-o", tmp_path / "out.mp4")
    assert clpix("flip", tmp_path / "in.mp4", *options).code == 0 and len(known) == 80 and max(known) < 12


def test_an_interruption_leaves_nothing(clpix, tmp_path, monkeypatch) -> None:
    from gpuops.files.video_copy import Copy

    def interrupted(copy: Copy) -> None:
        raise KeyboardInterrupt

    video(tmp_path / "in.mp4")
    monkeypatch.setattr(Copy, "finish", interrupted)
    with pytest.raises(click.Abort):
        clpix("flip", tmp_path / "in.mp4", "--axis", "vertical", "-o", tmp_path / "out.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["in.mp4"]


@pytest.mark.parametrize("name", ["out.png", "out.gif"])
def test_a_video_makes_a_video(name, clpix, tmp_path) -> None:
    video(tmp_path / "in.mp4", sound=False)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "-o", tmp_path / name)
    assert (
        run.code == 1
        and "in.mp4: is a video, of which videos are made: give -o a name such as out.mp4" in run.err
    )


def test_the_extra_is_named(clpix, tmp_path, monkeypatch) -> None:
    video(tmp_path / "in.mp4", sound=False)
    monkeypatch.setitem(sys.modules, "av", None)
    run = clpix("blur", tmp_path / "in.mp4", "--sigma", "1", "-o", tmp_path / "out.mp4")
    assert (run.code, "pip install 'clpix[video]'" in run.err) == (1, True)
