"""Colours of videos that are written: samples against the formulas of BT.2100, BT.2020 and sRGB, and their tags."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from gpuops import files

from .reference import colour as reference

av = pytest.importorskip("av", reason="needs the extra video")

#: Rec. 709 light of the four quarters of a frame, 1 is the white of SDR.
QUARTERS = np.array([[0.02, 0.02, 0.02], [0.6, 0.6, 0.6], [0.5, 0.25, 0.1], [0.1, 0.4, 0.3]])
#: Shares of red and blue in brightness, by the codes of matrices: BT.2020 and BT.709.
SHARES = {9: (0.2627, 0.0593), 1: (0.2126, 0.0722)}
TAGS = {
    "srgb": (1, 13, 1), "display-p3": (12, 13, 1), "rec2020": (9, 14, 9), "rec2100-pq": (9, 16, 9),
    "rec2100-hlg": (9, 18, 9),
}  # fmt: skip


def coded(signal: np.ndarray, matrix: int, bits: int, *, full: bool = False) -> np.ndarray:
    """Y'CbCr codes of R'G'B' (…, 3): BT.2100, tables 6 and 9, and BT.709 alike."""
    red, blue = SHARES[matrix]
    y = signal @ (red, 1 - red - blue, blue)
    cb, cr = (signal[..., 2] - y) / (2 - 2 * blue), (signal[..., 0] - y) / (2 - 2 * red)
    if full:
        most = 2**bits - 1
        return np.stack((y * most, cb * most + 2 ** (bits - 1), cr * most + 2 ** (bits - 1)), axis=-1)
    unit = 2 ** (bits - 8)
    return np.stack((219 * y + 16, 224 * cb + 128, 224 * cr + 128), axis=-1) * unit


def write(
    path: Path, codes: np.ndarray, tags: tuple[int, int, int], *, full: bool = False, count: int = 3
) -> None:
    """Frames without loss, of 4:4:4 and 10 bits, whose quarters have these codes (4, 3)."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        made = stream.codec_context
        made.width, made.height, made.pix_fmt = 64, 32, "yuv444p10le"
        made.color_primaries, made.color_trc, made.colorspace = tags
        made.color_range = 2 if full else 1
        for _ in range(count):
            frame = av.VideoFrame(64, 32, "yuv444p10le")
            for plane, values in zip(frame.planes, np.rint(codes).astype(np.uint16).T, strict=True):
                rows = np.zeros((32, plane.line_size // 2), np.uint16)
                rows[:, :64] = values.reshape(2, 2).repeat(16, axis=0).repeat(32, axis=1)
                plane.update(rows.tobytes())
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def quarters(path: Path) -> tuple[np.ndarray, tuple[int, ...], str]:
    """The codes in the middle of the quarters of the last frame, its tags (the range last), and its format."""
    with av.open(str(path)) as file:
        context = file.streams.video[0].codec_context
        names = ("color_primaries", "color_trc", "colorspace", "color_range")
        tags = tuple(int(getattr(context, name)) for name in names)
        frame = list(file.decode(video=0))[-1]
    found = []
    for plane in frame.planes:
        dtype = np.dtype(np.uint16 if "10le" in frame.format.name else np.uint8)
        rows = np.frombuffer(plane, dtype).reshape(plane.height, -1)[:, : plane.width]
        down, across = plane.height // 4, plane.width // 4
        found.append([rows[y * down, x * across] for y in (1, 3) for x in (1, 3)])
    return np.array(found, float).T, tags, frame.format.name


def signal_of(space: str, *, white: float = 1) -> np.ndarray:
    """The quarters' signal in a space."""
    return np.asarray(reference.output(QUARTERS[None] * white, space))[0]


@pytest.mark.parametrize(
    ("space", "full", "name"),
    [("rec2100-pq", False, "out.mp4"), ("rec2100-pq", True, "out.mkv"), ("rec2100-hlg", True, "out.mov")],
)
def test_hdr_stays_hdr(space, full, name, clpix, tmp_path) -> None:
    """Light up to 3 times white, which no other operation than this one cuts off."""
    signal = signal_of(space, white=3 if space == "rec2100-pq" else 1.5)
    write(tmp_path / "in.mkv", coded(signal, 9, 10, full=full), TAGS[space], full=full)
    options = ("--sigma", "0.4", "--quality", "100", *(("--colour", "input") if full else ()))
    run = clpix("blur", tmp_path / "in.mkv", *options, "-o", tmp_path / name)
    assert (run.code, run.err) == (0, "")
    found, tags, layout = quarters(tmp_path / name)
    assert (tags, layout) == ((*TAGS[space], 1), "yuv444p10le")
    assert np.abs(found - coded(signal, 9, 10)).max() < 3


@pytest.mark.parametrize("made", ["rec2100-pq", "rec2100-hlg"])
def test_one_kind_of_hdr_becomes_the_other(made, clpix, tmp_path) -> None:
    given = "rec2100-hlg" if made == "rec2100-pq" else "rec2100-pq"
    write(tmp_path / "in.mkv", coded(signal_of(given), 9, 10), TAGS[given])
    options = ("--axis", "horizontal", "--colour", made, "--quality", "100")
    run = clpix("flip", tmp_path / "in.mkv", *options, "-o", tmp_path / "out.mkv")
    assert (run.code, run.err) == (0, "")
    found, tags, _ = quarters(tmp_path / "out.mkv")
    assert tags == (*TAGS[made], 1) and np.abs(found[[1, 0, 3, 2]] - coded(signal_of(made), 9, 10)).max() < 4


@pytest.mark.parametrize(("space", "options"), [
    ("srgb", ()), ("srgb", ("--dtype", "uint16")), ("display-p3", ()), ("display-p3", ("--dtype", "uint16")),
    ("rec2020", ()), ("rec2100-pq", ()), ("rec2100-hlg", ()),
])  # fmt: skip
def test_sdr_in_every_space(space, options, clpix, tmp_path) -> None:
    """And what was written is read as that again."""
    write(tmp_path / "in.mkv", coded(reference.srgb_signal(QUARTERS), 1, 10), (1, 1, 1))
    how = ("--axis", "vertical", "--colour", space, "--quality", "100", *options)
    run = clpix("flip", tmp_path / "in.mkv", *how, "-o", tmp_path / "out.mp4")
    deep = bool(options) or space.startswith("rec")
    lost = f"{tmp_path}/out.mp4: has 8 bits, and {tmp_path}/in.mkv has 10: --dtype uint16 keeps 10"
    assert (run.code, run.err) == (0, "" if deep else f"clpix: warning: {lost}\n")
    found, tags, layout = quarters(tmp_path / "out.mp4")
    assert (tags, layout) == ((*TAGS[space], 1), "yuv444p10le" if deep else "yuv444p")
    bits = 10 if deep else 8
    expected = coded(signal_of(space), TAGS[space][2], bits)
    assert np.abs(found[[2, 3, 0, 1]] - expected).max() < (4 if deep else 1.6)
    how = ("--dtype", "float", "--colour", "linear")
    run = clpix("convert", tmp_path / "out.mp4", "--frames", 1, *how, "-o", tmp_path / "f.exr")
    assert (run.code, run.err) == (0, "")
    light = files.read(tmp_path / "f-0001.exr").pixels[[24, 24, 8, 8], [16, 48, 16, 48]]
    assert np.abs(light - QUARTERS).max() < (0.012 if deep else 0.02)


@pytest.mark.parametrize("full", [False, True])
def test_sdr_of_10_bits_keeps_its_range_and_tags(full, clpix, tmp_path) -> None:
    signal = reference.srgb_signal(QUARTERS)
    write(tmp_path / "in.mkv", coded(signal, 1, 10, full=full), (1, 1, 1), full=full)
    options = ("--sigma", "0.4", "--dtype", "uint16", "--quality", "100")
    run = clpix("blur", tmp_path / "in.mkv", *options, "-o", tmp_path / "out.mkv")
    assert (run.code, run.err) == (0, "")
    found, tags, layout = quarters(tmp_path / "out.mkv")
    assert (tags, layout) == ((1, 1, 1, 2 if full else 1), "yuv444p10le")
    assert np.abs(found - coded(signal, 1, 10, full=full)).max() < 3


@pytest.mark.parametrize("full", [False, True])
def test_samples_of_10_bits_are_read_exactly(full, tmp_path) -> None:
    for black, gray, more, white in ((0, 255, 256, 1023), (64, 300, 601, 940), (65, 128, 939, 1019)):
        codes = np.array([[y, 512, 512] for y in (black, gray, more, white)], float)
        write(tmp_path / "in.mkv", codes, (1, 1, 1), full=full)
        pixels = files.read(tmp_path / "in.mkv", layer=0).pixels[[8, 8, 24, 24], [16, 48, 16, 48]]
        expected = codes[:, :1] / 1023 if full else (codes[:, :1] - 64) / 876
        assert np.abs(pixels - expected.clip(0, 1) * 65535).max() < 20


def test_the_mastering_display_is_kept_and_maxcll_is_not(clpix, tmp_path) -> None:
    display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)"
    with av.open(str(tmp_path / "in.mp4"), "w") as out:
        parameters = f"log-level=none:master-display={display}:max-cll=1000,400"
        stream = out.add_stream("libx265", rate=25, options={"x265-params": parameters})
        context = stream.codec_context
        context.width, context.height, context.pix_fmt = 64, 64, "yuv420p10le"
        context.color_primaries, context.color_trc, context.colorspace = TAGS["rec2100-pq"]
        context.color_range = 1
        frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 30000, np.uint16), "rgb48le")
        frame = frame.reformat(format="yuv420p10le", dst_colorspace="BT2020")
        for frame.pts in range(3):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    said = f"is written without MaxCLL: {tmp_path}/in.mp4 says it of other frames"
    both = said.replace("MaxCLL", "the mastering display, MaxCLL")
    for space, words in (("input", said), ("rec2100-hlg", both)):
        out = tmp_path / f"{space}.mp4"
        run = clpix("blur", tmp_path / "in.mp4", "--sigma", 1, "--colour", space, "-o", out)
        assert (run.code, run.err) == (0, f"clpix: warning: {out}: {words}\n")
        with av.open(str(out)) as file:
            frame = next(file.decode(video=0))
        found = [frame.side_data[k] for k in range(len(frame.side_data))]
        sides = {side.type.name: bytes(side) for side in found}
        assert not any(sides.get("CONTENT_LIGHT_LEVEL", b""))
        if space == "input":
            numbers = struct.unpack_from("=22i", sides["MASTERING_DISPLAY_METADATA"])
            values = np.divide(numbers[:20:2], numbers[1:20:2])
            expected = (0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329, 0.005, 4000)
            assert np.allclose(values, expected) and numbers[20:] == (1, 1)
        else:
            assert "MASTERING_DISPLAY_METADATA" not in sides


def test_tone_mapping_into_hdr(clpix, tmp_path) -> None:
    """White of a display is 203 cd/m² of PQ: BT.2408, 2.2."""
    write(tmp_path / "in.mkv", coded(np.ones((4, 3)), 1, 10), (1, 1, 1))
    how = ("--operator", "linear", "--exposure", 0, "--quality", 100, "--colour", "rec2100-pq")
    run = clpix("tonemap", tmp_path / "in.mkv", *how, "-o", tmp_path / "out.mkv")
    assert (run.code, run.err) == (0, "")
    found, _, _ = quarters(tmp_path / "out.mkv")
    assert np.abs(found - coded(np.full((4, 3), reference.pq_signal(np.array(1.0))), 9, 10)).max() < 2


@pytest.mark.parametrize("side", [16, 17, 40])
def test_small_and_odd_frames_of_10_bits(side, clpix, tmp_path) -> None:
    write(tmp_path / "in.mkv", coded(signal_of("rec2100-pq"), 9, 10), TAGS["rec2100-pq"])
    how = ("--size", f"{side}x{side}", "--fit", "stretch", "--filter", "area", "--colour", "input")
    run = clpix("resize", tmp_path / "in.mkv", *how, "-o", tmp_path / "out.mp4")
    assert (run.code, run.err) == (0, "")
    with av.open(str(tmp_path / "out.mp4")) as file:
        frames = list(file.decode(video=0))
    assert [(frame.width, frame.height) for frame in frames] == [(side, side)] * 3


@pytest.mark.parametrize("count", [1, 2])
def test_videos_of_few_frames(count, clpix, tmp_path) -> None:
    """Times of decoding are not later than those of showing, and increase."""
    write(tmp_path / "in.mkv", coded(signal_of("rec2100-pq"), 9, 10), TAGS["rec2100-pq"], count=count)
    out = tmp_path / "out.mp4"
    run = clpix("flip", tmp_path / "in.mkv", "--axis", "vertical", "--colour", "input", "-o", out)
    assert (run.code, run.err) == (0, "")
    with av.open(str(out)) as file:
        times = [(packet.dts, packet.pts) for packet in file.demux() if packet.size]
    assert len(times) == count and times == sorted(times) and all(0 <= pts - dts < 1000 for dts, pts in times)


def test_what_hdr_cannot_be_is_one_line(clpix, tmp_path) -> None:
    write(tmp_path / "in.mkv", coded(signal_of("rec2100-pq"), 9, 10), TAGS["rec2100-pq"])
    blur = ("blur", tmp_path / "in.mkv", "--sigma", 1, "--colour", "input")
    run = clpix(*blur, "-o", tmp_path / "out.webm")
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "is written with 8 bits: name .mp4, .mov, .mkv for 10" in run.err
    small = ["--size", "8x8", "--fit", "stretch", "--filter", "area", "--colour", "input"]
    run = clpix("resize", tmp_path / "in.mkv", *small, "-o", tmp_path / "out.mp4")
    assert (run.code, run.err.count("\n")) == (1, 1)
    assert "needs 16 pixels along a side, not 8 × 8: use --dtype uint8" in run.err
    few = clpix("flip", tmp_path / "in.mkv", "--axis", "both", "--memory", "1K", "-o", tmp_path / "out.mp4")
    assert few.code == 1 and re.search(r"frame 0: needs .* are allowed: raise --memory to \d+K\n", few.err)
    assert [path.name for path in tmp_path.iterdir()] == ["in.mkv"]


@pytest.mark.parametrize(("tagged", "meant"), [
    ("srgb", "rec2100-hlg"), ("rec2100-hlg", "rec2100-pq"), ("rec2100-pq", "srgb"), ("rec2100-pq", "linear"),
])  # fmt: skip
def test_a_named_colour_of_the_input_is_that_of_the_output(tagged, meant, clpix, tmp_path) -> None:
    """As that of pictures is; what videos have not becomes SDR."""
    write(tmp_path / "in.mkv", coded(signal_of("rec2100-hlg"), TAGS[tagged][2], 10), TAGS[tagged])
    how = ("--axis", "vertical", "--input-colour", meant, "--quality", "100")
    run = clpix("flip", tmp_path / "in.mkv", *how, "-o", tmp_path / "out.mkv")
    assert run.code == 0 and "HDR" not in run.err
    found, tags, _ = quarters(tmp_path / "out.mkv")
    assert tags == ((*TAGS[meant], 1) if meant in TAGS and meant != "srgb" else (1, 1, 1, 1))
    if meant in TAGS and meant != "srgb":
        assert np.abs(found[[2, 3, 0, 1]] - coded(signal_of("rec2100-hlg"), 9, 10)).max() < 4
