"""What a video keeps beside its frames: titles, chapters, languages, shapes of pixels; and what is said of damage."""

from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .test_video import pictures, video

av = pytest.importorskip("av", reason="needs the extra video")

FLIP = ("--axis", "vertical")
DEFAULT, FORCED, HEARING, COVER = 1, 1 << 6, 1 << 7, 1 << 10


def film(path: Path, *, seconds: int = 1, strange: bool = False, subtitles: bool = True) -> None:
    """A German film with English sound; an .mkv has a font, and French subtitles."""
    packets: list[Any] = []
    with ExitStack() as stack:
        out = stack.enter_context(av.open(str(path), "w"))
        out.metadata.update({"title": "A Film", "date": "1999", "artist": "Nobody"})
        out.metadata.update({"LENS": "50 mm"} if strange else {})
        out.set_chapters(
            [
                {"id": k + 1, "start": k * 500, "end": k * 500 + 500, "time_base": Fraction(1, 1000),
                 "metadata": {"title": name}}
                for k, name in enumerate(("One", "Two"))
            ]
        )  # fmt: skip
        stream = out.add_stream("libx264", rate=10, options={"crf": "1"})
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)
        stream.metadata["language"] = "ger"
        sound = out.add_stream("aac", rate=48000)
        sound.metadata["language"] = "eng"
        sound.disposition = DEFAULT | HEARING
        if path.suffix == ".mkv":
            out.add_attachment("font.ttf", "application/x-truetype-font", b"a font")
        if path.suffix == ".mkv" and subtitles:
            text = path.with_suffix(".srt")
            text.write_text("1\n00:00:00,200 --> 00:00:00,700\nBonjour\n")
            said = stack.enter_context(av.open(str(text)))
            words = out.add_stream_from_template(said.streams[0])
            words.metadata["language"] = "fre"
            words.disposition = FORCED
            for packet in said.demux():
                if packet.dts is not None:
                    packet.stream = words
                    packets.append(packet)
        for k in range(10 * seconds):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pictures()[k % 8], "rgb24")))
            for start in range(k * 4096, k * 4096 + 4096, 1024):
                noise = np.random.default_rng(start).uniform(-0.5, 0.5, (2, 1024)).astype(np.float32)
                part = av.AudioFrame.from_ndarray(noise, "fltp", "stereo")
                part.rate, part.pts = 48000, start
                out.mux(sound.encode(part))
        out.mux([*packets, *stream.encode(None), *sound.encode(None)])


def told(path: Path) -> dict[str, Any]:
    """What a file says beside its frames."""
    with av.open(str(path)) as file:
        return {
            "metadata": {name.lower(): value for name, value in file.metadata.items()},
            "chapters": [
                (chapter["metadata"]["title"], float(chapter["start"] * chapter["time_base"]))
                for chapter in file.chapters()
            ],
            "languages": [stream.language for stream in file.streams if stream.type != "data"],
            "dispositions": [int(stream.disposition) for stream in file.streams if stream.type != "data"],
            "shape": file.streams.video[0].sample_aspect_ratio,
        }


@pytest.mark.parametrize("kind", [".mp4", ".mkv", ".mov"])
def test_what_a_container_says_is_kept(kind, clpix, tmp_path) -> None:
    film(tmp_path / f"in{kind}", strange=kind == ".mkv")
    run = clpix("flip", tmp_path / f"in{kind}", *FLIP, "-o", tmp_path / f"out{kind}")
    assert (run.code, run.err) == (0, "")
    before, after = told(tmp_path / f"in{kind}"), told(tmp_path / f"out{kind}")
    expected = {"title": "A Film", "date": "1999", "artist": "Nobody"}
    expected |= {"lens": "50 mm"} if kind == ".mkv" else {}
    assert {name: after["metadata"].get(name) for name in expected} == expected
    assert after["chapters"] == before["chapters"] == [("One", 0.0), ("Two", 0.5)]
    assert after["languages"] == before["languages"]
    assert after["languages"][:3] == (["ger", "eng", "fre"] if kind == ".mkv" else ["ger", "eng"])
    assert after["dispositions"] == before["dispositions"]
    assert after["shape"] == before["shape"] == Fraction(4, 3)


def test_nothing_is_kept_by_strip(clpix, tmp_path) -> None:
    film(tmp_path / "in.mkv")
    run = clpix("flip", tmp_path / "in.mkv", *FLIP, "--strip", "-o", tmp_path / "out.mkv")
    assert (run.code, run.err) == (0, "")
    after = told(tmp_path / "out.mkv")
    assert not {"title", "date", "artist"} & after["metadata"].keys() and after["chapters"] == []
    assert not {"ger", "eng", "fre"} & set(after["languages"])
    assert after["shape"] == Fraction(4, 3)  # without which it looks different


def test_what_another_container_cannot_hold_is_one_line(clpix, tmp_path) -> None:
    film(tmp_path / "in.mkv", strange=True, subtitles=False)
    out = tmp_path / "out.mp4"
    run = clpix("flip", tmp_path / "in.mkv", *FLIP, "-o", out)
    assert run.code == 0
    assert run.err.splitlines() == [
        f"clpix: warning: {out}: is written without the attached file of {tmp_path}/in.mkv",
        f"clpix: warning: {out}: cannot hold of {tmp_path}/in.mkv: lens",
    ]
    after = told(out)
    assert after["metadata"]["title"] == "A Film" and after["chapters"] == [("One", 0.0), ("Two", 0.5)]


def test_a_cover_picture_is_not_taken_for_the_video(clpix, tmp_path) -> None:
    film(tmp_path / "film.mp4")
    with av.open(str(tmp_path / "in.mp4"), "w") as out, av.open(str(tmp_path / "film.mp4")) as film_:
        cover = out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 16, 16, "yuvj420p"
        cover.disposition = COVER
        stream = out.add_stream_from_template(film_.streams.video[0], opaque=True)
        frame = av.VideoFrame(16, 16, "yuvj420p")
        frame.pts = 0
        out.mux([*cover.encode(frame), *cover.encode(None)])
        for packet in film_.demux(film_.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    run = clpix("flip", tmp_path / "in.mp4", *FLIP, "-o", tmp_path / "out.mp4")
    expected = f"{tmp_path}/out.mp4: is written without the cover picture of {tmp_path}/in.mp4"
    assert (run.code, run.err) == (0, f"clpix: warning: {expected}\n")
    with av.open(str(tmp_path / "out.mp4")) as made:
        assert [frame.width for frame in made.decode(video=0)] == [48] * 10


def test_pixels_of_a_turned_video_keep_their_shape(clpix, tmp_path) -> None:
    with av.open(str(tmp_path / "in.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)
        stream.set_display_rotation(90)
        for pixels in pictures():
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        out.mux(stream.encode(None))
    assert clpix("flip", tmp_path / "in.mp4", *FLIP, "-o", tmp_path / "out.mp4").code == 0
    with av.open(str(tmp_path / "out.mp4")) as made:
        assert (made.streams.video[0].width, made.streams.video[0].height) == (32, 48)
        assert made.streams.video[0].sample_aspect_ratio == Fraction(3, 4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [".mp4", ".mkv", ".webm"])
def test_the_same_video_has_the_same_bytes(kind, clpix, tmp_path) -> None:
    """Without loss: with it, x264's macroblock tree reads memory that nobody has written, and rounds otherwise."""
    video(tmp_path / "in.mp4", sound=False)
    made = []
    for number in range(2):
        out = tmp_path / f"{number}{kind}"
        assert clpix("flip", tmp_path / "in.mp4", *FLIP, "--quality", 100, "-o", out).code == 0
        made.append(out.read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("frames", [False, True])
def test_a_video_that_is_cut_off_says_so(frames, clpix, tmp_path) -> None:
    """FFmpeg takes the end of a Matroska file for the end of its contents."""
    film(tmp_path / "in.mkv", seconds=3)
    output = (tmp_path / "out.mkv",) if not frames else (f"{tmp_path}/out/", "--frames", "all")
    assert clpix("flip", tmp_path / "in.mkv", *FLIP, "-o", *output).err == ""
    data = (tmp_path / "in.mkv").read_bytes()
    (tmp_path / "in.mkv").write_bytes(data[: len(data) // 2])
    with av.open(str(tmp_path / "in.mkv")) as file:
        ends = [packet.pts + packet.duration for packet in file.demux() if packet.size]
        said = float(max(ends) * file.streams.video[0].time_base)
    expected = f"ends after {said:.1f} s of the 3.0 s that it says: it is cut off, and the rest is missing"
    run = clpix("flip", tmp_path / "in.mkv", *FLIP, "-o", *output, "--overwrite")
    assert (run.code, run.err) == (0, f"clpix: warning: {tmp_path}/in.mkv: {expected}\n") and 1 < said < 2.5
    quiet = clpix("flip", tmp_path / "in.mkv", *FLIP, "-o", *output, "--overwrite", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize("name", ["in.png", "in.gif", "in.avif", "jpeg"])
def test_no_video_is_made_of_a_picture(name, clpix, tmp_path) -> None:
    import PIL.Image

    kind = "JPEG" if name == "jpeg" else name[3:].upper()
    PIL.Image.fromarray(pictures()[0]).save(tmp_path / name, kind)
    run = clpix("flip", tmp_path / name, *FLIP, "-o", tmp_path / "out.mp4")
    words = f"{tmp_path}/{name}: is a picture ({kind}), and a video is made of a video: give -o a name such as out.png"
    assert (run.code, run.err) == (1, f"clpix: error: {words}\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_one_of_several_devices_makes_a_video(clpix, tmp_path, monkeypatch) -> None:
    from gpuops import device

    video(tmp_path / "in.mp4", sound=False)
    found = device.select_all("all")[:1]
    monkeypatch.setattr(device, "select_all", lambda _spec: found * 2)
    run = clpix("flip", tmp_path / "in.mp4", *FLIP, "--device", "all", "-o", tmp_path / "out.mp4")
    assert (run.code, run.err.count("\n")) == (0, 1)
    assert f"out.mp4: a video is made by one device, here {found[0].name}" in run.err
