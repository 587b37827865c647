"""The command lines of the how-to pages do what the pages say.

Each page has a task here: a generator that makes the inputs in an empty folder, lets the page's commands run, and then
looks at the outputs with other libraries.
"""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import OpenImageIO as oiio
import pytest
from PIL import Image, ImageOps
from scipy import ndimage

from .conftest import Run
from .reference import colour as reference
from .reference.colour import srgb_light as light
from .reference.colour import srgb_signal as signal

ROOT = Path(__file__).parent.parent
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "how-to").glob("*.md")) if path.stem != "README"}
Task = Callable[[], Iterator[None]]
TASKS: dict[str, Task] = {}


def task(make: Task) -> Task:
    """Registers a task as that of the page with its name, with hyphens."""
    TASKS[make.__name__.replace("_", "-")] = make
    return make


def commands_of(page: Path) -> list[str]:
    """The lines of the page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


def run_line(clpix: Callable[..., Run], line: str) -> None:
    """Runs a command line: in this process, or in a shell if there is a pipe."""
    words = shlex.split(line)
    assert words[0] == "clpix"
    if "|" in words:
        program = f"{shlex.quote(sys.executable)} -m clpix"
        shell = re.sub(r"\bclpix (?=[a-z])", f"{program} ", line)
        run = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return
    expanded = [name for word in words[1:] for name in (sorted(glob(word)) if "*" in word else [word])]
    found = clpix(*expanded)
    assert found.code == 0, found.err


@pytest.mark.parametrize("page", PAGES)
def test_commands_do_what_the_page_says(clpix, tmp_path, monkeypatch, page) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    lines = commands_of(PAGES[page])
    assert lines, "a how-to page begins with a command line"
    steps = TASKS[page]()
    next(steps)
    for line in lines:
        run_line(clpix, line)
    with pytest.raises(StopIteration):
        next(steps)


def test_every_task_has_a_page() -> None:
    assert sorted(TASKS) == sorted(PAGES)
    index = (ROOT / "docs" / "how-to" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([\w-]+)\.md\)", index)) == sorted(PAGES)


def test_the_tutorial(clpix, tmp_path, monkeypatch) -> None:
    """Its commands run one after the other, on the samples reduced."""
    monkeypatch.chdir(tmp_path)
    for path in (ROOT / "samples").glob("*.exr"):
        save(f"samples/{path.name}", load(str(path))[::4, ::4])
    lines = commands_of(ROOT / "docs" / "tutorial.md")
    for line in lines:
        run_line(clpix, line)
    outputs = [name for line in lines for name in re.findall(r"-o (\S+)", line) if "{" not in name]
    assert len(outputs) == 6
    for name in outputs:
        assert load(name).std() > 0.01
    assert sorted(path.name for path in Path("web").iterdir()) == [
        f"{path.stem}.jpg" for path in sorted((ROOT / "samples").glob("*.exr"))
    ]
    assert np.array_equal(load("web/sunset.jpg"), load("sunset.jpg"))


def scene(height: int = 48, width: int = 64, *, seed: int = 0) -> np.ndarray:
    """A picture with smooth parts and noise: (height, width, 3) of 0 … 1."""
    y, x = np.mgrid[:height, :width]
    smooth = 0.5 + 0.3 * np.sin(x / 9) * np.cos(y / 7)
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, (height, width, 3))
    return np.asarray(smooth[..., None] * (1, 0.8, 0.6) + noise).clip(0, 1)


def save(name: str, values: np.ndarray, **options: Any) -> None:
    """Writes values of 0 … 1 with 8 bits, or an EXR's light as it is."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".exr"):
        height, width, channels = values.shape
        out = oiio.ImageOutput.create(name)
        assert out.open(name, oiio.ImageSpec(width, height, channels, "float"))
        assert out.write_image(np.ascontiguousarray(values, np.float32))
        out.close()
    else:
        Image.fromarray((values * 255).round().astype(np.uint8)).save(name, **options)


def load(name: str) -> np.ndarray:
    """Reads a picture: integers as 0 … 1, light as it is."""
    if name.endswith(".exr"):
        return np.asarray(oiio.ImageBuf(name).get_pixels(oiio.FLOAT))
    return np.asarray(Image.open(name)) / 255


def detail(values: np.ndarray) -> float:
    """How much neighbouring pixels differ."""
    return float(np.abs(np.diff(values, axis=1)).mean())


def chunk_of(name: str, kind: bytes) -> bytes:
    """The data of a PNG file's first chunk of a kind."""
    data, at = Path(name).read_bytes(), 8
    while at < len(data):
        length = struct.unpack(">I", data[at : at + 4])[0]
        if data[at + 4 : at + 8] == kind:
            return data[at + 8 : at + 8 + length]
        at += length + 12
    raise AssertionError(f"{name} has no chunk {kind!r}")


@task
def blur_a_folder() -> Iterator[None]:
    names = "a.png", "trip/b.png"
    for name in names:
        save(f"photos/{name}", scene())
    yield
    assert sorted(str(path) for path in Path("soft").rglob("*.*")) == [f"soft/{name}" for name in names]
    expected = signal(ndimage.gaussian_filter(light(load("photos/a.png")), (2, 2, 0), truncate=8))
    for name in names:
        assert np.abs(load(f"soft/{name}") - expected).max() < 1.01 / 255


@task
def run_many_small_commands() -> Iterator[None]:
    """The shell's lines run as well, with a server of their own."""
    for name in ("a", "b c"):
        save(f"photos/{name}.png", scene())
    yield
    expected = [Path(f"soft/{name}.png").read_bytes() for name in ("a", "b c")]
    shutil.rmtree("soft")
    Path("soft").mkdir()
    Path("run").mkdir(mode=0o700)
    blocks = re.findall(
        r"^```bash\n(.*?)^```", PAGES["run-many-small-commands"].read_text(encoding="utf-8"), re.M | re.S
    )
    assert len(blocks) == 2
    shim = f'clpix() {{ {shlex.quote(sys.executable)} -m clpix "$@"; }}'
    program = f"set -e; {shim}; {blocks[0]}clpix server status --json"
    alone = {name: value for name, value in os.environ.items() if not name.startswith("CLPIX_SERVER")}
    run = subprocess.run(
        ["bash", "-c", program],
        env=alone | {"XDG_RUNTIME_DIR": os.path.abspath("run")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["servers"][0]["served"] == (2 if sys.platform == "linux" else 0)
    assert [Path(f"soft/{name}.png").read_bytes() for name in ("a", "b c")] == expected


@task
def tone_map_a_sequence() -> Iterator[None]:
    dark, bright = 0.2 * scene(), 0.2 * scene()
    bright[:8] = 40.0  # a lamp comes into view
    save("frames/0001.exr", dark)
    save("frames/0002.exr", bright)
    yield
    first, second = load("out/0001.png"), load("out/0002.png")
    assert first.shape == (48, 64, 3) and np.array_equal(first[8:], second[8:])
    assert second[:8].min() > 0.8 > first[:8].max()


@task
def remove_noise() -> Iterator[None]:
    y, x = np.mgrid[:128, :128]
    clean = np.repeat(0.5 + 0.3 * np.sin(x / 19)[..., None] * (y[..., None] > 60), 3, axis=2)
    noisy = clean + np.random.default_rng(1).normal(0, 0.06, clean.shape)
    save("noisy.png", noisy.clip(0, 1))
    yield
    before, after = (np.square(load(name) - clean).mean() for name in ("noisy.png", "clean.png"))
    assert after < before / 6


@task
def remove_stripes() -> Iterator[None]:
    picture = 0.6 * scene(96, 128) + 0.2
    stripes = 0.1 * np.sin(2 * np.pi * np.arange(128) / 4 + 0.4)[:, None]
    save("scan.png", picture + stripes)
    yield

    def stripe(name: str) -> float:
        return float(np.abs(np.fft.rfft(load(name).mean(axis=(0, 2)))[32]))

    assert stripe("clean.png") < 0.02 * stripe("scan.png")
    assert np.abs(load("clean.png") - picture).mean() < 0.03
    shown = load("spectrum.png").reshape(96, 128, -1).mean(axis=2)
    # Frequency 0, and the stripes a quarter of the width beside it, which have rings.
    assert shown[48, [32, 64, 96]].min() > np.percentile(shown, 95)


@task
def remove_halftone() -> Iterator[None]:
    y, x = np.mgrid[:96, :128]
    picture = 0.5 + 0.3 * np.sin(x / 31)[..., None] * np.cos(y / 27)[..., None] * np.array([1, 0.8, 0.6])
    a, b = 2 * np.pi * 0.2 * np.cos(np.radians(15)), 2 * np.pi * 0.2 * np.sin(np.radians(15))
    screen = np.cos(a * x + b * y) + np.cos(a * y - b * x)
    save("halftone.png", (picture + 0.5 * (picture * (1 - picture)) * screen[..., None]).clip(0, 1))
    yield
    before, after = (np.square(load(name) - picture).mean() for name in ("halftone.png", "clean.png"))
    assert after < before / 30 and load("spectrum.png").shape[:2] == (96, 128)


@task
def write_an_hdr_avif() -> Iterator[None]:
    sky = np.full((16, 16, 3), 1.0)
    sky[8:] = 10.0
    save("sky.exr", sky)
    yield
    data = Path("sky.avif").read_bytes()
    assert data[data.index(b"nclx") + 4 :][:6] == struct.pack(">HHH", 9, 16, 9)
    decoded = imagecodecs.avif_decode(data)
    for row, value in ((0, 1.0), (15, 10.0)):
        assert np.abs(decoded[row] / 1023 - reference.pq_signal(np.array(value))).max() < 4e-3


@task
def merge_a_bracketed_set() -> Iterator[None]:
    picture = ndimage.gaussian_filter(scene(96, 128), (1, 1, 0))
    for name, shift, gain in (("dark", 0, 0.4), ("middle", 3, 1), ("bright", 5, 2.2)):
        save(f"{name}.jpg", (np.roll(picture, shift, 1) * gain).clip(0, 1), quality=95)
    yield
    merged = load("merged.jpg")
    assert merged.shape == picture.shape
    assert load("dark.jpg").mean() < merged.mean() < load("bright.jpg").mean()


@task
def lay_on_a_reference() -> Iterator[None]:
    picture = ndimage.gaussian_filter(scene(96, 128, seed=3), (1, 1, 0))
    save("before.png", picture)
    save("after.png", np.roll(picture, (3, -5), (0, 1)))
    yield
    inner = np.s_[8:-8, 8:-8]
    assert np.abs(load("moved.png")[inner] - load("before.png")[inner]).mean() < 0.01
    assert np.abs(load("after.png")[inner] - load("before.png")[inner]).mean() > 0.03


@task
def take_frames() -> Iterator[None]:
    frames = [Image.fromarray(np.full((24, 32, 3), value, np.uint8)) for value in (10, 120, 250)]
    frames[0].save("clip.gif", save_all=True, append_images=frames[1:], duration=[100, 200, 300], loop=0)
    yield
    for index, value in enumerate((10, 120, 250)):
        assert np.all(np.asarray(Image.open(f"frames/clip-{index:04d}.png").convert("RGB")) == value)
    with Image.open("soft.webp") as image:
        assert image.n_frames == 3  # type: ignore[attr-defined]


@task
def undo_a_blur() -> Iterator[None]:
    sharp = ndimage.zoom(np.random.default_rng(2).uniform(0.2, 0.8, (8, 8, 3)), (12, 12, 1), order=0)
    soft = ndimage.gaussian_filter(light(sharp), (1.5, 1.5, 0), mode="reflect")
    save("soft.png", signal(soft))
    yield
    error = [np.square(load(name) - sharp).mean() for name in ("soft.png", "sharp.png")]
    assert error[1] < 0.7 * error[0]


@task
def correct_colours() -> Iterator[None]:
    save("photo.jpg", 0.5 * scene(), quality=95)
    yield
    before, after = light(load("photo.jpg")), light(load("better.jpg"))
    weights = np.array([0.2126, 0.7152, 0.0722])
    # Exposure multiplies light, contrast is about 0.18, and saturation leaves luminance alone.
    contrast = 0.18 * (2**0.3 * before / 0.18) ** 1.15
    gray = (contrast @ weights)[..., None]
    expected = gray + 1.1 * (contrast - gray)
    assert np.abs(signal(expected) - signal(after)).mean() < 0.01


@task
def apply_a_lut() -> Iterator[None]:
    corners = [(1 - r, g, 0.5 * b) for b in (0, 1) for g in (0, 1) for r in (0, 1)]
    rows = "".join("{} {} {}\n".format(*corner) for corner in corners)
    Path("look.cube").write_text(f"LUT_3D_SIZE 2\n{rows}")
    save("photo.png", scene())
    yield
    expected = load("photo.png") * (-1, 1, 0.5) + (1, 0, 0)
    assert np.abs(load("graded.png") - expected).max() < 1.01 / 255


@task
def resize_for_the_web() -> Iterator[None]:
    save("photo.jpg", scene(500, 1000), quality=95)
    yield
    result = load("web.jpg")
    assert result.shape == (320, 640, 3)
    plain = Image.open("photo.jpg").resize((640, 320), Image.Resampling.LANCZOS)
    assert detail(result) > 1.05 * detail(np.asarray(plain) / 255)


@task
def display_p3_to_srgb() -> Iterator[None]:
    # Colours that sRGB has too, in areas that JPEG stores well.
    values = 0.3 + 0.4 * np.random.default_rng(3).uniform(0, 1, (3, 4, 3)).repeat(16, 0).repeat(16, 1)
    curve = reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    save("phone.jpg", values, quality=98, icc_profile=reference.rgb_profile("Display P3", curve))
    yield
    expected = signal(light(load("phone.jpg")) @ reference.matrix("Display P3").T)
    assert np.abs(load("web.jpg") - expected).mean() < 0.005 < np.abs(load("phone.jpg") - expected).mean()


@task
def turn_upright() -> Iterator[None]:
    exif = Image.Exif()
    exif[0x0112] = 6
    save("phone.jpg", scene(), quality=98, exif=exif)
    yield
    result = Image.open("upright.jpg")
    assert result.getexif().get(0x0112, 1) == 1
    expected = np.asarray(ImageOps.exif_transpose(Image.open("phone.jpg"))) / 255
    assert np.asarray(result).shape == (64, 48, 3)
    assert np.abs(np.asarray(result) / 255 - expected).mean() < 0.02


@task
def add_a_watermark() -> Iterator[None]:
    save("photo.jpg", 0.5 * scene(), quality=98)
    mark = np.zeros((48, 64, 4))
    mark[10:20, 10:30] = 1
    save("mark.png", mark)
    yield
    before, after = load("photo.jpg"), load("marked.jpg")
    assert np.abs(after - before)[28:].mean() < 0.01
    expected = signal(0.5 * light(before) + 0.5)
    assert np.abs(after - expected)[12:18, 12:28].mean() < 0.01


@task
def tone_map_a_video() -> Iterator[None]:
    av = pytest.importorskip("av", reason="needs the extra video")
    with av.open("clip.mp4", "w") as out:
        stream = out.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for value in (40, 120, 200):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.full((32, 48, 3), value, np.uint8), "rgb24")))
        out.mux(stream.encode(None))
    yield
    for name in ("mapped.mp4", "soft.mp4"):
        with av.open(name) as file:
            means = [frame.to_ndarray(format="rgb24").mean() for frame in file.decode(video=0)]
        assert len(means) == 3 and means == sorted(means)
    assert np.allclose(means, (40, 120, 200), atol=4)


@task
def keep_hdr_in_a_video() -> Iterator[None]:
    av = pytest.importorskip("av", reason="needs the extra video")
    for name, curve in (("hdr.mp4", 16), ("sdr.mp4", 1)):
        with av.open(name, "w") as out:
            stream = out.add_stream("libx265", rate=25, options={"x265-params": "log-level=none"})
            stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p10le"
            made = stream.codec_context
            made.color_primaries = made.colorspace = 9 if curve == 16 else 1
            made.color_trc = curve
            for _ in range(3):
                frame = av.VideoFrame(64, 32, "yuv420p10le")
                for plane, code in zip(frame.planes, (940, 512, 512), strict=True):
                    plane.update(np.full(plane.buffer_size // 2, code, np.uint16).tobytes())
                out.mux(stream.encode(frame))
            out.mux(stream.encode(None))
    yield
    # White of SDR is 75 % of HLG, and what was the most of PQ stays that.
    for name, curve, code in (("soft.mp4", 16, 940), ("hlg.mp4", 18, 0.75 * 876 + 64)):
        with av.open(name) as file:
            context = file.streams.video[0].codec_context
            assert (context.color_primaries, context.color_trc, context.colorspace) == (9, curve, 9)
            frames = [frame.to_ndarray()[:32] for frame in file.decode(video=0)]
        assert len(frames) == 3 and np.abs(np.array(frames, float) - code).max() < 4


@task
def make_a_contact_sheet() -> Iterator[None]:
    save("room.exr", 3 * scene(120, 160))
    yield
    sheet = Image.open("sheet.jpg")
    assert sheet.width >= 3 * 160 and sheet.height >= 3 * 120


@task
def add_rays_around_lamps() -> Iterator[None]:
    night = np.full((128, 128, 3), 0.02)
    night[63:66, 63:66] = 500
    save("night.exr", night)
    yield
    result = load("night.png")
    y, x = np.mgrid[:128, :128] - 64
    ring = np.abs(np.hypot(x, y) - 20) < 1
    order = np.argsort(np.arctan2(y, x)[ring])
    around = result.mean(axis=2)[ring][order]
    # Around the lamp there are 14 bright directions.
    spectrum = np.abs(np.fft.rfft(around - around.mean()))
    assert np.argmax(spectrum[3:30]) + 3 == 14


@task
def write_an_hdr_png() -> Iterator[None]:
    sky = np.full((8, 8, 3), 1.0)
    sky[4:] = 10.0
    save("sky.exr", sky)
    yield
    assert chunk_of("sky.png", b"cICP") == bytes([9, 16, 0, 1])
    width, height, depth, kind = struct.unpack(">IIBB", chunk_of("sky.png", b"IHDR")[:10])
    assert (width, height, depth, kind) == (8, 8, 16, 2)
    values = oiio.ImageBuf("sky.png").get_pixels(oiio.UINT16) / 65535
    for row, value in ((0, 1.0), (7, 10.0)):
        assert np.abs(values[row] - reference.pq_signal(np.array(value))).max() < 1e-4


@task
def blur_a_panorama() -> Iterator[None]:
    save("panorama.exr", scene(64, 128) * np.linspace(0, 5, 128)[:, None])
    yield
    expected = ndimage.gaussian_filter(load("panorama.exr"), (10, 10, 0), mode=("reflect", "wrap", "reflect"))
    assert np.abs(load("soft.exr") - expected).max() < 2e-3


@task
def save_a_look() -> Iterator[None]:
    for name in ("a", "b"):
        save(f"shots/{name}.exr", 2 * scene(seed=ord(name)))
    yield
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.jpg", "b.jpg"]
    assert np.array_equal(load("out/a.jpg"), load("first.jpg"))
    assert not np.array_equal(load("out/b.jpg"), load("first.jpg"))


@task
def resume_a_batch() -> Iterator[None]:
    for name in ("a", "b"):
        save(f"shots/{name}.exr", scene(seed=ord(name)))
    yield
    done = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert sorted(Path(line["output"]).name for line in done if line["event"] == "done") == ["a.png", "b.png"]
    assert load("out/a.png").shape == (48, 64, 3)


@task
def share_a_batch() -> Iterator[None]:
    names = [f"{i}.png" for i in range(5)]
    for name in names:
        save(f"shots/{name}", scene())
    yield
    # Outputs are never replaced: so each input was in one share only.
    assert sorted(path.name for path in Path("out").iterdir()) == names


@task
def process_a_large_picture() -> Iterator[None]:
    save("scan.tif", scene(200, 300))
    yield
    expected = signal(ndimage.gaussian_filter(light(load("scan.tif")), (20, 20, 0), truncate=6))
    assert np.abs(load("soft.tif") - expected).max() < 1.01 / 255


@task
def compare_in_ci() -> Iterator[None]:
    picture = scene()
    save("references/a.png", picture)
    save("references/b.png", picture)
    save("out/a.png", picture)
    picture[:8] += 1 / 255
    save("out/b.png", picture.clip(0, 1))
    yield
    assert "<html" in Path("report.html").read_text(encoding="utf-8").lower()
    suite = ET.parse("report.xml").getroot()
    cases = [case.get("name") for case in suite.iter("testcase")]
    assert len(cases) == 2 and not list(suite.iter("failure"))


def test_a_page_whose_result_is_wrong_fails(tmp_path, monkeypatch) -> None:
    """The checks above notice outputs that are copies of the inputs."""
    monkeypatch.chdir(tmp_path)
    steps = TASKS["remove-noise"]()
    next(steps)
    os.link("noisy.png", "clean.png")
    with pytest.raises(AssertionError):
        next(steps)
