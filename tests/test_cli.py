"""The behaviour that all commands share: help, names of outputs, exit codes, one line for an error, nothing lost or
half written."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from clpix.main import COMMANDS
from clpix.outputs import outputs_for

from gpuops import ParameterError, files
from gpuops.files import Picture

from .choices import each
from .conftest import Run, run_python

SAMPLE = Path(__file__).parent.parent / "samples" / "sunset.exr"


def picture(
    path: Path, shape: tuple[int, int, int] = (20, 30, 3), dtype: str = "uint8", seed: int = 0
) -> Path:
    """Writes a picture of noise."""
    rng = np.random.default_rng(seed)
    if dtype.startswith("u"):
        pixels = rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    else:
        pixels = rng.uniform(0, 1, shape).astype(dtype)
    files.write(path, Picture(pixels, alpha=shape[2] in (2, 4), linear=dtype.startswith("f")))
    return path


def program(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in a process of its own."""
    return run_python("-m", "clpix", *args, env=os.environ | env)


def one_line(run: Run, code: int, *words: str) -> None:
    """The run failed with this exit code and a single line on stderr that holds these words."""
    assert run.code == code, run.err
    assert run.err.count("\n") == 1 and run.err.startswith("clpix: error: "), run.err
    for word in words:
        assert word in run.err


def test_help_lists_every_command(clpix) -> None:
    run = clpix("--help")
    assert run.code == 0
    for name, text in COMMANDS.items():
        assert name in run.out and text in run.out


def test_help_loads_neither_numpy_nor_opencl() -> None:
    code = (
        "import sys\nfrom clpix.main import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        "assert 'clpix.options' not in sys.modules\n"  # the list has no options
        f"for command in {list(COMMANDS)}:\n"
        "    cli.main([command, '--help'], standalone_mode=False)\n"
        "    heavy = {'numpy', 'pyopencl', 'imageio', 'OpenImageIO', 'tifffile'} & set(sys.modules)\n"
        "    assert not heavy, f'{command} loads {heavy}'\n"
    )
    run = run_python("-c", code)
    assert run.returncode == 0, run.stderr


@each(
    line__banned=[
        ("info in.png", "pyopencl sqlite3 PIL OpenImageIO tifffile gpuops.plan"),
        (
            "blur in.png --sigma 1 -o out.png",
            "PIL OpenImageIO tifffile imageio gpuops.regress asyncio ssl av",
        ),
        ("compare in.png in.png", "PIL OpenImageIO tifffile imageio gpuops.regress asyncio ssl av"),
    ]
)
def test_commands_load_what_they_need(tmp_path, line, banned) -> None:
    files.write(tmp_path / "in.png", Picture(np.zeros((9, 9, 3), np.uint8)))
    code = (
        "import sys\nfrom clpix.main import cli\n"
        f"try:\n    cli.main({line.split()!r}, standalone_mode=False)\nexcept SystemExit:\n    pass\n"
        f"loaded = {banned.split()!r}\n"
        "assert not {*loaded} & {*sys.modules}, {*loaded} & {*sys.modules}\n"
    )
    run = run_python("-c", code, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def test_version(clpix) -> None:
    from importlib.metadata import version

    assert clpix("--version").out == f"clpix {version('clpix')}\n"


def test_outputs_follow_folder_and_template(tmp_path) -> None:
    two = ("a/x.png", "b/y.exr")
    assert outputs_for(two, str(tmp_path), "blur") == [str(tmp_path / "x.png"), str(tmp_path / "y.exr")]
    assert outputs_for(two, "new/", "blur") == ["new/x.png", "new/y.exr"]
    assert outputs_for(two, "o/{stem}-{op}-{index}.{ext}", "fft") == ["o/x-fft-0001.png", "o/y-fft-0002.exr"]
    assert outputs_for(("a/{op}.png",), "o/{stem}-{op}.png", "fft") == ["o/{op}-fft.png"]
    assert outputs_for(two, "o/{name}.tif", "fft") == ["o/x.png.tif", "o/y.exr.tif"]
    assert outputs_for(("{odd}.png",), "o.png", "fft") == ["o.png"]
    for bad in ("o.png", "-", "same-{op}.png"):
        with pytest.raises(ParameterError):
            outputs_for(two, bad, "blur")
    with pytest.raises(ParameterError, match="both"):
        outputs_for(("a/x.png", "b/x.png"), "out/", "blur")


def test_a_glob_never_makes_the_last_input_the_output(clpix, tmp_path) -> None:
    a, b = picture(tmp_path / "a.png"), picture(tmp_path / "b.png", seed=1)
    before = b.read_bytes()
    run = clpix("blur", "--sigma", 1, a, b)
    assert run.code == 2 and "--output" in run.err
    one_line(clpix("blur", "--sigma", 1, a, "-o", b, "--overwrite", b), 2, "2 inputs and one output")
    assert b.read_bytes() == before


def test_every_input_is_tried_and_each_failure_is_one_line(clpix, tmp_path) -> None:
    good = [picture(tmp_path / f"{i}.png", seed=i) for i in range(3)]
    (tmp_path / "bad.png").write_text("this is text")
    out = tmp_path / "out"
    inputs = (good[0], tmp_path / "bad.png", good[1], tmp_path / "none.png", good[2])
    run = clpix("blur", "--sigma", 1, *inputs, "-o", f"{out}/")
    assert run.code == 1
    lines = run.err.splitlines()
    assert len(lines) == 3 and all(line.startswith("clpix: error: ") for line in lines)
    assert "2 of 5" in lines[2] and sorted(p.name for p in out.iterdir()) == ["0.png", "1.png", "2.png"]


def test_an_input_that_does_not_fit_leaves_the_others(clpix, tmp_path) -> None:
    small, large = picture(tmp_path / "small.png", (1, 1, 3)), picture(tmp_path / "large.png")
    args = ("--mode", "reflect", "--levels", 2, "-q", "-o", f"{tmp_path}/out/{{stem}}.npz")
    run = clpix("dwt", small, large, *args)
    assert run.code == 1 and "small.png" in run.err.splitlines()[0]
    assert (tmp_path / "out" / "large.npz").exists()


def test_what_is_read_is_never_overwritten(clpix, tmp_path) -> None:
    source, kernel = picture(tmp_path / "in.png"), picture(tmp_path / "k.png", (3, 3, 1), seed=2)
    before = (source.read_bytes(), kernel.read_bytes())
    one_line(clpix("convolve", source, "--kernel", kernel, "-o", kernel, "--overwrite"), 1, "input")
    renamed = source.rename(tmp_path / "in.json")  # the content decides the format
    args = ("--sigma", 1, "-o", tmp_path / "o.png", "--timing-file", renamed, "--overwrite")
    one_line(clpix("blur", renamed, *args), 1, "input")
    assert (renamed.read_bytes(), kernel.read_bytes()) == before


def hear_signals() -> None:
    """Restores signals in a child: the process that runs the tests may ignore signals, which children inherit."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.exhaustive
def test_what_nohup_ignores_stays_ignored(tmp_path) -> None:
    image, out = picture(tmp_path / "a.png"), tmp_path / "o.png"
    process = subprocess.Popen(
        [sys.executable, "-m", "clpix", "blur", "--sigma", "2", str(image), "-o", str(out)],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.02)
    assert process.returncode == 0 and out.exists()


@pytest.mark.cases(1)
@each(
    number__delay=[(signal.SIGTERM, 0.4), (signal.SIGHUP, 0.15), (signal.SIGINT, 0.7), (signal.SIGQUIT, 0.4)]
)
def test_a_signal_ends_the_program_at_any_time(tmp_path, number, delay) -> None:
    inputs = [str(picture(tmp_path / f"{i}.png", (300, 400, 3), seed=i)) for i in range(4)] * 50
    command = [sys.executable, "-m", "clpix", "blur", "--sigma", "9", *inputs, "-o"]
    command += [f"{tmp_path}/out/{{index}}.tif"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals)
    time.sleep(delay)
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    # The code is −number if the signal came before the program's first line.
    assert process.returncode in (128 + number, -number), err
    assert process.returncode == -number or err.count("\n") == 1, err
    if (tmp_path / "out").exists():
        assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.exhaustive
def test_interrupting_a_batch_leaves_whole_files_only(tmp_path) -> None:
    inputs = [picture(tmp_path / f"{i}.png", (600, 800, 3), seed=i) for i in range(40)]
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "clpix", "blur", "--sigma", "8", *map(str, inputs), "-o", f"{out}/"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    deadline = time.monotonic() + 100
    while not (out.is_dir() and any(not path.name.startswith(".") for path in out.iterdir())):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130 and err.startswith("clpix: error: interrupted") and err.count("\n") == 1
    done = list(out.iterdir())
    assert 0 < len(done) < len(inputs)
    for path in done:  # no temporary files, and every picture is whole
        assert path.suffix == ".png" and not path.name.startswith(".")
        assert files.read(path).pixels.shape == (600, 800, 3)


def _truncate(path: Path) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def _huge_png(path: Path) -> Path:
    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    chunk = (
        struct.pack(">I", len(header)) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)
    return path


BAD_INPUTS: dict[str, Callable[[Path], Path]] = {
    "device": lambda d: Path("/dev/null"),
    "missing": lambda d: d / "missing.png",
    "folder": lambda d: d,
    "truncated PNG": lambda d: _truncate(picture(d / "half.png", (200, 300, 3))),
    "truncated EXR": lambda d: _truncate(picture(d / "half.exr", (200, 300, 3), "float16")),
    "truncated TIFF": lambda d: _truncate(picture(d / "half.tif", (200, 300, 3), "uint16")),
    "text named .png": lambda d: (d / "text.png").write_text("not a picture") and d / "text.png",
    "loop": lambda d: (d / "loop.png").symlink_to("loop.png") or d / "loop.png",
    "60000 x 60000 header": lambda d: _huge_png(d / "huge.png"),
    "zero bytes": lambda d: (d / "zero.png").write_bytes(b"") or d / "zero.png",
}


@pytest.mark.parametrize("kind", list(BAD_INPUTS))
def test_bad_inputs(clpix, tmp_path, kind) -> None:
    path = BAD_INPUTS[kind](tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    one_line(clpix("blur", "--sigma", 1, path, "-o", out / "result.png"), 1, str(path))
    assert not list(out.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder(clpix, tmp_path) -> None:
    out = tmp_path / "locked"
    out.mkdir(mode=0o555)
    one_line(
        clpix("blur", "--sigma", 1, picture(tmp_path / "in.png"), "-o", out / "x.png"), 1, "not writable"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_folder_that_cannot_be_looked_into(clpix, tmp_path) -> None:
    source, dark = picture(tmp_path / "in.png"), tmp_path / "dark"
    dark.mkdir(mode=0)
    args = ("blur", "--sigma", 1)
    one_line(clpix(*args, dark / "in.png", "-o", tmp_path / "x.png"), 1, "Permission denied")
    run = clpix(*args, source, dark / "in.png", "-o", f"{dark}/x/{{index}}.png")
    assert run.code == 1 and run.err.count("\n") == 3
    run = clpix(*args, dark / "in.png", source, "-o", f"{tmp_path}/{{index}}.png")
    assert run.code == 1 and (tmp_path / "0002.png").exists()


def test_refused_options_leave_no_folder(clpix, tmp_path) -> None:
    source = picture(tmp_path / "in.png")
    one_line(clpix("fft", source, "-o", f"{tmp_path}/new/{{stem}}.png", "--half"), 2)
    one_line(clpix("blur", "--sigma", 1, source, "-o", f"{tmp_path}/new/{{stem}}.png", "--dtype", "half"), 2)
    assert not (tmp_path / "new").exists()


def test_names_that_are_no_text(clpix, tmp_path, monkeypatch) -> None:
    odd = tmp_path / os.fsdecode(b"n\xff")
    for extension in ("png", "exr", "npz"):
        source, out = Path(f"{odd}.{extension}"), Path(f"{odd}-out.{extension}")
        picture(tmp_path / f"in.{extension}", dtype="uint8" if extension == "png" else "float32").rename(
            source
        )
        report = Path(f"{out}.json")
        monkeypatch.setattr(sys, "argv", ["clpix", "blur", str(source)])
        assert clpix("blur", "--sigma", 0, source, "-o", out, "--timing-file", report, "-v").code == 0
        assert json.loads(report.read_text())["context"]["command"].startswith("clpix blur")
        run = clpix("compare", source, out)
        assert (run.code, run.out.splitlines()[-1], run.err) == (0, "equal", "")
        assert json.loads(clpix("compare", source, out, "--json").out)["alike"]
    for extension in ("npz", "exr", "tif"):
        numbers = Path(f"{odd}-fft.{extension}")
        assert clpix("fft", f"{odd}.png", "-o", numbers).code == 0
        assert clpix("ifft", numbers, "-o", tmp_path / f"{extension}.png").code == 0
    one_line(clpix("blur", "--sigma", 1, f"{odd}.jpg", "-o", tmp_path / "o.png"), 1, "n\\udcff.jpg")
    (tmp_path / "text").write_text("no picture")
    (tmp_path / "text").rename(f"{odd}.txt")
    one_line(clpix("blur", "--sigma", 1, f"{odd}.txt", "-o", tmp_path / "o.png"), 1, "n\\udcff.txt")
    odd.mkdir()
    one_line(clpix("blur", "--sigma", 1, f"{odd}.png", "-o", odd / "o.png"), 1, "not UTF-8")
    assert not list(odd.iterdir())


def test_stdin_to_stdout(tmp_path) -> None:
    source = picture(tmp_path / "in.png")
    with source.open("rb") as stdin:
        run = run_python(
            *["-m", "clpix", "blur", "--sigma", "0", "-", "-o", "-", "--format", "png"], stdin=stdin
        )
    assert run.returncode == 0 and not run.stderr
    (tmp_path / "out.png").write_bytes(run.stdout)
    np.testing.assert_array_equal(files.read(tmp_path / "out.png").pixels, files.read(source).pixels)


@pytest.mark.cases(1)
@each(there__back__extension=[("fft", "ifft", "npz"), ("dwt", "idwt", "tif"), ("fft", "ifft", "exr")])
def test_numbers_through_pipes(tmp_path, there, back, extension) -> None:
    source = picture(tmp_path / "in.png", (9, 14, 4))
    first = run_python("-m", "clpix", there, source, "-o", "-", "--format", extension, text=False)
    assert (first.returncode, first.stderr) == (0, b"")
    (tmp_path / "file.bin").write_bytes(first.stdout)
    for name, stdin in (("-", first.stdout), (str(tmp_path / "file.bin"), b"")):
        out = tmp_path / f"{len(name)}.png"
        second = run_python("-m", "clpix", back, name, "-o", out, input=stdin)
        assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")
        np.testing.assert_array_equal(files.read(out).pixels, files.read(source).pixels)


@pytest.mark.cases(1)
@each(stdin=[b"no numbers", b"", b"PK\x03\x04 and no more"])
def test_numbers_from_a_broken_pipe(tmp_path, stdin) -> None:
    for command in ("ifft", "idwt"):
        run = run_python("-m", "clpix", command, "-", "-o", tmp_path / "o.png", input=stdin)
        one_line(Run(run.returncode, "", run.stderr.decode()), 1, "standard input: ")
    assert not list(tmp_path.iterdir())


def closed(shell: str, *args: object) -> Run:
    """Runs the program under a shell's redirection, such as ``<&-``."""
    command = ["sh", "-c", f'"$@" {shell}', "sh", sys.executable, "-m", "clpix", *map(str, args)]
    # The program runs as a person runs it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    return Run(run.returncode, run.stdout, run.stderr)


@pytest.mark.exhaustive
def test_closed_standard_streams(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # regress keeps its last report there
    source, out = picture(tmp_path / "in.png"), tmp_path / "o.png"
    expected = ["blur", "--sigma", 0, source, "-o", out]
    one_line(closed("<&-", "blur", "--sigma", 0, "-", "-o", out), 1, "standard input")
    one_line(closed(">&-", "blur", "--sigma", 0, source, "-o", "-", "--format", "png"), 1, "standard output")
    one_line(closed(">&-", "compare", source, source), 2, "stdout")
    one_line(closed(">/dev/full", "compare", source, source), 2, "stdout", "No space")
    one_line(closed(">/dev/full", "regress", ".", "."), 2, "stdout", "No space")
    assert closed("2>&-", "blur", "--sigma", -1, source, "-o", out) == Run(2, "", "")
    assert closed("2>/dev/full", "blur", "--sigma", -1, source, "-o", out) == Run(2, "", "")
    assert not out.exists()
    # No print lands in the output, whose descriptor could have the number of a closed stream.
    assert closed("<&- >&- 2>&-", *expected, "--timing", "-v") == Run(0, "", "")
    np.testing.assert_array_equal(files.read(out).pixels, files.read(source).pixels)


@pytest.mark.cases(2)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_depth_and_channels_are_kept(clpix, tmp_path, dtype, channels) -> None:
    source = picture(tmp_path / "in.png", (9, 14, channels), dtype)
    run = clpix("blur", "--sigma", 0, source, "-o", tmp_path / "out.png")
    assert run.code == 0 and not run.err
    np.testing.assert_array_equal(files.read(tmp_path / "out.png").pixels, files.read(source).pixels)


def test_losses_are_said(clpix, tmp_path) -> None:
    deep = picture(tmp_path / "deep.png", (9, 14, 3), "uint16")
    run = clpix("blur", "--sigma", 0, deep, "-o", tmp_path / "flat.jpg")
    assert run.code == 0 and "clpix: warning: " in run.err and "8-bit" in run.err
    run = clpix("blur", "--sigma", 0, SAMPLE, "-o", tmp_path / "clipped.png")
    assert run.code == 0 and "clipped" in run.err
    assert not clpix("blur", "--sigma", 0, SAMPLE, "-o", tmp_path / "quiet.png", "-q").err


def test_linear_and_encoded_space(clpix, tmp_path) -> None:
    checks = np.zeros((32, 32, 1), np.uint8)
    checks[::2, ::2] = checks[1::2, 1::2] = 255
    files.write(tmp_path / "in.png", Picture(checks))
    for space, level in (("linear", 188), ("encoded", 128)):  # half the light is sRGB code 188
        out = tmp_path / f"{space}.png"
        assert clpix("blur", "--sigma", 8, "--space", space, tmp_path / "in.png", "-o", out).code == 0
        assert abs(int(files.read(out).pixels[16, 16, 0]) - level) <= 1


def test_alpha_weighs_colour(clpix, tmp_path) -> None:
    pixels = np.zeros((16, 16, 4), np.uint8)
    pixels[:, :8] = (255, 0, 0, 255)
    pixels[:, 8:] = (0, 255, 0, 0)  # invisible green must not bleed into the red
    files.write(tmp_path / "in.png", Picture(pixels, alpha=True))
    assert clpix("blur", "--sigma", 2, tmp_path / "in.png", "-o", tmp_path / "out.png").code == 0
    result = files.read(tmp_path / "out.png").pixels
    assert (result[:, :12, 0] == 255).all() and not result[..., 1].any()
    assert (
        clpix("blur", "--sigma", 2, "--alpha", "drop", tmp_path / "in.png", "-o", tmp_path / "rgb.png").code
        == 0
    )
    assert files.read(tmp_path / "rgb.png").pixels.shape == (16, 16, 3)


def test_timing_is_complete(clpix, tmp_path) -> None:
    report = tmp_path / "t.json"
    blur = ("blur", "--sigma", 2, "--method", "local", SAMPLE, "-o", tmp_path / "o.exr", "--repeat", 3)
    run = clpix(*blur, "--timing", "--timing-file", report)
    assert run.code == 0
    for word in ("decode", "upload", "compute", "download", "encode", "unaccounted", "wall", "gaussian x"):
        assert word in run.err
    data = json.loads(report.read_text())
    names = {phase["name"] for phase in data["phases"]}
    assert {"import", "platform", "context", "decode", "upload", "compute", "download", "encode"} <= names
    blurs = [kernel for kernel in data["kernels"] if kernel["name"].startswith("gaussian")]
    assert len(blurs) == 1 and all(kernel["count"] == 3 and kernel["min_ms"] > 0 for kernel in blurs)
    spent = sum(phase["ms"] for phase in data["phases"])
    assert data["totals"]["unaccounted_ms"] == pytest.approx(data["totals"]["wall_ms"] - spent, abs=0.01)


@each(command__code__kernels=[("info", 0, {"reduce direct": 6}), ("compare", 1, {"counts": 3, "ssim": 3})])
def test_timing_of_what_writes_no_picture(clpix, tmp_path, command, code, kernels) -> None:
    report, two = tmp_path / "t.json", [picture(tmp_path / f"{k}.png", seed=k) for k in range(2)]
    options = ("--repeat", 3, "--timing-file", report, *(["--stats"] if command == "info" else []))
    assert clpix(command, *two, *options).code == code
    result = json.loads(report.read_text())
    assert kernels.items() <= {kernel["name"]: kernel["count"] for kernel in result["kernels"]}.items()
    assert {"decode", "upload", "compute", "download"} <= {phase["name"] for phase in result["phases"]}


# The command and its output, the options, and the one that would have no effect.
WITHOUT_EFFECT = [
    ("blur o.png", "--sigma 1 --radius 2", "--radius"),
    ("blur o.png", "--sigma 1 --sigma-x 1 --sigma-y 1", "--sigma"),
    ("blur o.png", "--kind box --radius 2 --truncate 3", "--truncate"),
    ("blur o.png", "--kind disc --radius 2 --length 1", "--length"),
    ("blur o.png", "--sigma 3 --angle 30", "--angle"),
    ("blur o.png", "--preset d3d11 --border wrap", "--border"),
    ("blur o.png", "--sigma 1 --format png", "--format"),
    ("bloom o.png", "--knee 0.2", "--knee"),
    ("bloom o.png", "--method gaussians --karis", "--karis"),
    ("bloom o.png", "--method gaussians --reads local", "--reads"),
    ("bloom o.png", "--no-karis --exposure 1", "--exposure"),
    ("tonemap o.png", "--seed 3", "--seed"),
    ("tonemap o.png", "--exposure 1 --method local", "--method"),
    ("tonemap o.exr", "--dither", "--dither"),
    ("tonemap o.exr", "--transfer srgb", "--transfer"),
    ("fft o.npz", "--order 3", "--order"),
    ("fft o.npz", "--filter lowpass --cutoff 0.1 --order 3", "--order"),
    ("fft o.npz", "--dtype uint8", "--dtype"),
    ("fft o.png", "--half", "--half"),
    ("fft o.png", "--norm forward", "--norm"),
    ("fft o.png", "--precision half", "--precision"),
    ("fft o.png", "--alpha keep", "--alpha"),
    ("ifft o.png", "--space linear", "--space"),
    ("ifft o.png", "--layer a", "--layer"),
    ("dwt o.npz", "--dtype half", "--dtype"),
    ("dwt o.png", "--alpha drop", "--alpha"),
    ("compare", "--dtype uint16", "--dtype"),
    ("info", "--stats --dtype half", "--dtype"),
    ("info", "--histogram", "--histogram"),
    ("info", "--device cpu", "--device"),
]


@pytest.mark.parametrize(("command", "options", "name"), WITHOUT_EFFECT, ids=str)
def test_options_that_would_do_nothing_are_refused(
    clpix, tmp_path, monkeypatch, command, options, name
) -> None:
    monkeypatch.chdir(tmp_path)
    picture(tmp_path / "in.png")
    operation, *output = command.split()
    where = ["-o", *output] if output else ["in.png"] if operation == "compare" else []
    one_line(clpix(operation, "in.png", *where, *options.split()), 2, f": leave out {name} (")
    assert [path.name for path in tmp_path.iterdir()] == ["in.png"]


@pytest.mark.parametrize(("command", "options"), [
    ("blur", "--sigma 0 --border wrap --truncate 3 --method local"),
    ("blur", "--kind box --radius 0 --border wrap --overwrite"),
    ("bloom", "--strength 0 --radius 0.2 --threshold 0 --knee 0.1 --exposure 1"),
    ("dwt", "--levels 0 --wavelet haar --threshold 1"),
])  # fmt: skip
def test_values_without_effect_are_values(clpix, tmp_path, command, options) -> None:
    assert clpix(command, picture(tmp_path / "in.png"), "-o", tmp_path / "o.png", *options.split()).code == 0


@pytest.mark.parametrize(("options", "word"), [
    ("--kind box --radius 2.5", "whole number"), ("--kind disc", "--radius"),
    ("--kind median --radius 16", "15"), ("--kind bilateral --sigma 2", "--sigma-color"),
    ("--kind motion --angle 30", "--length"), ("--preset d3d11 --method fft", "--method"),
])  # fmt: skip
def test_blurs_that_cannot_be(clpix, tmp_path, options, word) -> None:
    one_line(clpix("blur", picture(tmp_path / "in.png"), "-o", tmp_path / "o.png", *options.split()), 2, word)
    assert not (tmp_path / "o.png").exists()


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "--sigma 10",
            r"2 values are NaN or infinite and spoil the result up to (6|7)\d pixels away",
        ),  # devices plan it differently
        ("--kind box --radius 2", "up to 2 pixels away"),
        ("--kind median --radius 2", ""),
        ("--sigma 0", ""),
    ],
)
def test_what_is_not_finite_is_said_to_spread(clpix, tmp_path, options, words) -> None:
    pixels = np.ones((300, 40, 3), np.float16)
    pixels[3, 4, 1], pixels[250, 30, 2] = np.nan, np.inf
    files.write(tmp_path / "in.exr", Picture(pixels, linear=True))
    run = clpix("blur", tmp_path / "in.exr", "-o", tmp_path / "out.exr", *options.split())
    assert run.code == 0 and run.err.count("\n") == bool(words) and re.search(words, run.err)


def test_a_field_that_templates_do_not_have(clpix, tmp_path) -> None:
    source = picture(tmp_path / "in.png")
    for field in ("{steam}", "{index:03}", "{stem!r}"):
        one_line(clpix("blur", "--sigma", 1, source, "-o", tmp_path / f"{field}.png"), 2, field, "{stem}")
    (tmp_path / "{odd}").mkdir()
    assert clpix("blur", "--sigma", 1, source, "-o", tmp_path / "{odd}" / "{stem}.png").code == 0
    assert (tmp_path / "{odd}" / "in.png").exists()


def test_dump_kernels_writes_the_sources(tmp_path) -> None:
    run = program("blur", "--sigma", 2, SAMPLE, "-o", tmp_path / "o.exr", "--dump-kernels", tmp_path / "k")
    assert run.returncode == 0 and any("both" in path.name for path in (tmp_path / "k").iterdir())
