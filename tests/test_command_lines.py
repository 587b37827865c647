"""Command lines that cannot be meant: every command, every option, one line that names the right thing."""

import sys
from itertools import product
from pathlib import Path

import click
import numpy as np
import pytest
from clpix.commands import Strict, leaves, near, option_names
from clpix.main import cli

from gpuops import DeviceError, files
from gpuops.files import Picture, locations

from .choices import each
from .conftest import run_python
from .test_cli import one_line, picture

ROOT = click.Context(cli)
COMMANDS = dict(leaves(cli, ROOT))
every_command = pytest.mark.parametrize("path", list(COMMANDS), ids=" ".join)
# The options that may be given more than once, which their help says.
REPEATABLE = {"--cutoff", "--ignore", "--metric", "--others", "--parameter", "--set", "--tag", "--verbose"}


def options_of(path: tuple[str, ...]) -> list[click.Option]:
    """All options of a command, without --help."""
    return [option for option in COMMANDS[path].params if isinstance(option, click.Option)]


def spellings(option: click.Option) -> list[str]:
    """All names of an option, those that switch it off included."""
    return [*option.opts, *option.secondary_opts]


def given(name: str, option: click.Option) -> list[str]:
    """The option in one of its spellings, with any value if it takes one."""
    return [name] if option.is_flag or option.count else [name, "1"]


@every_command
def test_an_option_given_twice_is_refused(clpix, tmp_path, monkeypatch, path) -> None:
    monkeypatch.chdir(tmp_path)
    repeatable = REPEATABLE | ({"--size"} if path[0] == "bench" else set())
    for option in options_of(path):
        several = option.multiple or option.count
        assert several == bool(repeatable.intersection(option.opts)), option.opts
        for one, other in () if several else product(spellings(option), repeat=2):
            run = clpix(*path, "in.png", *given(one, option), *given(other, option))
            one_line(run, 2, max(option.opts, key=len), "is given 2 times: give it once")
    assert not list(tmp_path.iterdir())


def test_the_environment_and_an_option_are_one_value(clpix, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CLPIX_DEVICE", "no such device")
    source = picture(tmp_path / "in.png")
    assert clpix("blur", source, "--sigma", 0, "-o", tmp_path / "o.png", "--device", "0").code == 0


def test_repeatable_options_repeat(clpix, tmp_path) -> None:
    source = picture(tmp_path / "in.png")
    run = clpix("compare", source, source, "--metric", "psnr", "--metric", "max", "-v", "-v")
    assert run.code == 0 and "psnr" in run.out and "max" in run.out
    twice = ("--operator", "sigmoid", "--parameter", "contrast=1", "--parameter", "Contrast=2")
    one_line(clpix("tonemap", source, "-o", tmp_path / "o.png", *twice), 2, "contrast is given twice")


@pytest.mark.cases(10)
@every_command
def test_a_value_that_is_an_option_is_a_missing_value(clpix, path) -> None:
    for option in options_of(path):
        for name in () if option.is_flag or option.count else option.opts:
            run = clpix(*path, "in.png", name, "--help")
            one_line(run, 2, f"{max(option.opts, key=len)} needs a value, but --help follows")
            if name.startswith("--"):
                one_line(clpix(*path, "in.png", name), 2, f"'{name}' requires an argument")
                one_line(clpix(*path, "in.png", name, ""), 2, f"{max(option.opts, key=len)} is empty")
                one_line(clpix(*path, "in.png", name[1:], "1"), 2, f"write {name}")


def test_every_command_is_of_the_kind_that_refuses() -> None:
    assert len(COMMANDS) > 15 and all(isinstance(command, Strict) for command in COMMANDS.values())


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "path", [("blur",), ("tonemap",), ("fft",), ("compare",), ("bench", "fft")], ids=" ".join
)
def test_suggestions_are_near(clpix, path) -> None:
    own = option_names(COMMANDS[path], ROOT)
    for name in sorted({name for other in COMMANDS.values() for name in option_names(other, ROOT)} - own):
        run = clpix(*path, "in.png", name)
        one_line(run, 2, f"there is no option {name}")
        # The message suggests a name that differs by a few letters, or the commands that have the option.
        if "did you mean" in run.err:
            assert near(name, own) and name != "--json", run.err
        else:
            assert " has it" in run.err or " have it" in run.err, run.err
    one_line(clpix(*path, "in.png", "--xyzzy"), 2, "there is no option --xyzzy (")
    for name in own - {"-h", "-o", "-q", "-v"}:
        slip = name[:-2] + name[-1] if len(name) > 6 else f"{name}{name[-1]}"
        if slip not in own:
            assert name in near(slip, own)


@pytest.mark.parametrize(("args", "words"), [
    ("blurr", "did you mean 'blur'?"),
    ("in.png", "there are fft, "),
    ("bench fftt", "did you mean 'fft'?"),
    ("--device cpu blur in.png", "there is no option --device before the command"),
    ("tonemap a.exr --json", "here: dwt, compare, regress run, regress two folders and others have it"),
    ("blur a.png --tonemap agx", "here: bloom has it"),
    ("blur a.png -o o.png --sigma x", "'x' is no number"),
    ("blur a.png -o o.png --repeat 1.5", "'1.5' is no whole number"),
    ("blur a.png -o o.png --repeat 0", "0 is not 1 or more"),
    ("bench blur --channels 5", "5 is not of 1 … 4"),
    ("blur a.png -o o.png --sigma 1e30", "the sigma is too large"),
    ("blur a.png -o o.png --kind motion --length 1e9", "length must be from 0 to 2048"),
    ("blur a.png --SIGMA 1", "did you mean --sigma?"),
    ("bloom a.exr -o o.png --tonemap ACES", "aces-narkowicz or aces-hill"),
    ("bloom in.exr -o o.png --tonemap DRAGOO", "did you mean 'drago'?"),
    ("tonemap in.exr -o o.png --operator neutral", "did you mean 'khronos-neutral'?"),
    ("tonemap in.exr -o o.png --contact-sheet --operators agx,habl", "did you mean 'hable'?"),
    ("tonemap in.exr -o o.png --operator xyzzy", "use one of linear, reinhard,"),
    ("convert in.exr -o o.png --colour p3", "did you mean 'display-p3'"),
    ("blur in.png -o o.png --sigma 1 --border nearst", "did you mean 'nearest'?"),
    ("dwt in.png -o o.png --mode symetric", "did you mean 'symmetric'?"),
])  # fmt: skip
def test_usage_errors_name_what_is_wrong(clpix, args, words) -> None:
    one_line(clpix(*args.split()), 2, words)


def test_choices_are_of_any_case_and_near_ones_are_suggested() -> None:
    options = [option for path in COMMANDS for option in options_of(path)]
    for option in options:
        if not isinstance(option.type, click.Choice):
            continue
        for choice in option.type.choices:
            for text in (choice.upper(), choice.title(), choice):
                assert option.type.convert(text, option, None) == choice
            with pytest.raises(click.BadParameter, match=r"(?s)use one of ") as caught:
                option.type.convert(f"{choice}{choice[-1]}x", option, None)
            said = str(caught.value)
            assert len(choice) <= 5 or f"did you mean '{choice}'" in said or f"or '{choice}'" in said


@pytest.mark.cases(1)
@pytest.mark.parametrize("args", [
    "tonemap in.png --exposure Auto --transfer Gamma:2.2",
    "tonemap in.png --operator Sigmoid --parameter Contrast=1.2",
    "blur in.png --sigma 1 --border Constant:0.5",
    "fft in.png --pad POW2 --view Phase",
    "dwt in.png --wavelet Haar --mode Periodization --threshold Bayes:1.5",
])  # fmt: skip
def test_names_are_of_any_case(clpix, tmp_path, args) -> None:
    picture(tmp_path / "in.png")
    command, source, *rest = args.split()
    run = clpix(command, tmp_path / source, "-o", tmp_path / "upper.png", *rest)
    assert run.code == 0, run.err
    lower = [text.lower() for text in rest]
    assert clpix(command, tmp_path / source, "-o", tmp_path / "lower.png", *lower).code == 0
    upper, same = (files.read(tmp_path / f"{name}.png").pixels for name in ("upper", "lower"))
    np.testing.assert_array_equal(upper, same)


@each(args=["blur folder -o out/", "resize folder -o out/", "blur folder a.png -o out/"])
def test_a_folder_is_said_before_what_is_not_given(clpix, there, args) -> None:
    run = clpix(*args.split())
    assert (run.code, run.out) == (1, "") and "folder: is a folder; name the files in it" in run.err
    run = clpix(*args.split(), "--recursive")
    assert run.code == 2 and "is a folder" not in run.err


def test_a_package_that_writes_is_missed_before_the_work(clpix, there, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    run = clpix("blur", "text.png", "--sigma", 1, "-o", "o.heic")
    assert run.code == 1 and "o.heic: HEIC needs pillow-heif: pip install 'clpix[formats]'" in run.err


@pytest.fixture
def there(tmp_path, monkeypatch) -> Path:
    """The current folder, with a picture, a file of text, an empty one, and folders."""
    monkeypatch.chdir(tmp_path)
    picture(Path("a.png"))
    picture(Path("b.png"), seed=1)
    Path("text.png").write_text("no picture")
    Path("empty.png").touch()
    Path("folder").mkdir()
    files.write("folder/x.exr", Picture(np.ones((4, 4, 3), np.float32), linear=True))
    Path("void").mkdir()
    Path("lfs.png").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12\n"
    )
    Path("hard.png").hardlink_to("a.png")
    Path("soft.png").symlink_to("a.png")
    Path("list.txt").write_text("a.png\n")
    return tmp_path


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        # Inputs that are not files: a folder, a pattern that matched nothing, and others, with any output.
        ("folder -o out/", 1, "folder: is a folder; name the files in it, such as folder/*.exr"),
        ("folder -o o.png", 1, "such as folder/*.exr"),
        ("void/ -o out/", 1, "such as void/*.png"),
        ("*.jpg -o out/", 1, "*.jpg: no file matches this pattern"),
        ("* -o out/", 1, "*: no file matches this pattern"),
        ("void/[ab].png -o o.png", 1, "no file matches this pattern"),
        ("none -o out/", 1, "none: there is no such file"),
        ("EMPTY -o o.png", 1, "an input's name is empty"),
        (
            "lfs.png -o o.png",
            1,
            "lfs.png: is a pointer of Git LFS and not the file itself: fetch it by 'git lfs pull'",
        ),
        # Outputs that cannot be written.
        ("a.png -o EMPTY", 2, "--output is empty"),
        ("a.png -o=o.png", 2, "write -o o.png"),
        ("text.png -o new/", 1, "text.png: is not a picture"),
        ("a.png -o out", 1, "add one, such as out.png, or write out/ for a folder"),
        ("a.png b.png -o out", 2, "give -o a folder, such as out/"),
        ("a.png b.png -o out/x.png", 2, "give -o a folder, such as out/"),
        ("a.png -o none/o.png", 1, "none/o.png: the folder none does not exist; create it first"),
        ("a.png -o none/none/", 1, "the folder none does not exist; create it first"),
        ("a.png -o b.png/", 1, "b.png is a file"),
        ("a.png -o b.png/o.png", 1, "b.png is a file"),
        ("a.png -o /dev/null", 1, "/dev/null: is not a regular file"),
        ("a.png -o .", 1, "a.png: is also an input"),
        ("a.png -o b.png", 1, "b.png: exists already"),
        ("a.png -o a.png --overwrite", 1, "input"),
        ("a.png -o o.png --border sideways", 2, "mirror"),
        ("a.png -o o.png --device nothing-like-this", 3, "nothing-like-this"),
        ("a.png -o o.xyz", 1, "the extension '.xyz' is unknown"),
        ("a.png a.png -o out/", 2, "a.png and a.png would both be out/a.png"),
        ("a.png -o -", 2, "--format"),
        ("- - -o out/", 2, "'-' is standard input, which can be read once"),
        ("a.png b.png -o out/ --dtype half", 2, "PNG holds no half floats"),
        ("a.png -o o.png --dump-kernels b.png", 1, "--dump-kernels: b.png is a file"),
        ("a.png -o o.png --timing-file t.txt", 2, "t.txt: a timing file is named"),
        # Nothing that is read is written, and no file twice, by whatever name and option.
        ("a.png -o file://HERE/a.png --overwrite", 1, "a.png: is also an input"),
        ("a.png -o local://HERE/hard.png --overwrite", 1, "hard.png: is also an input"),
        ("file://HERE/a.png -o soft.png --overwrite", 1, "soft.png: is also an input"),
        (
            "@list.txt -o out/ --save-recipe list.txt --overwrite",
            1,
            "--save-recipe list.txt: is also an input",
        ),
        ("a.png -o o.png --journal hard.png", 1, "--journal hard.png: is also an input"),
        ("a.png -o o.png --save-recipe file://HERE/a.png --overwrite", 1, "is also an input"),
        (
            "a.png -o t.json --save-recipe t.json",
            2,
            "--save-recipe t.json: is also written as another output",
        ),
        ("a.png -o o.npz --timing-file ./t.json --journal t.json", 2, "is also written as another output"),
        ("a.png -o o.png --journal file://HERE/o.png", 2, "--journal file://"),
        ("a.png b.png -o new-{stem}.png then write new-{op}.png", 2, "would both be new-"),
        ("a.png -o o.png then write file://HERE/o.png", 2, "/o.png would be written twice"),
    ],
)
def test_inputs_and_outputs(clpix, there, args, code, words) -> None:
    if "://" in args and "also an input" in words:
        pytest.importorskip("fsspec", reason="needs the extra s3")

    def found() -> dict[Path, bytes | None]:
        return {path: path.read_bytes() if path.is_file() else None for path in there.rglob("*")}

    before = found()
    words_given = [text.replace("EMPTY", "").replace("HERE", str(there)) for text in args.split()]
    one_line(clpix("blur", *words_given[:1], "--sigma", 0, *words_given[1:]), code, words)
    assert found() == before


def test_names_that_differ_in_case_are_one_file_where_the_disk_says_so(there, monkeypatch) -> None:
    assert not locations._ignores_case(str(there))
    names = ("new/A.png", "new/a.png", "new/a.PNG", "b.png")
    assert [locations.Identities(names[:1]).known(name) for name in names] == ["new/A.png", None, None, None]
    monkeypatch.setattr(locations, "_ignores_case", lambda _folder: True)
    assert [locations.Identities(names[:1]).known(name) for name in names] == ["new/A.png"] * 3 + [None]


@pytest.mark.parametrize(("args", "code", "words"), [
    ("compare a.png folder", 2, "folder: is a folder; name the files in it, such as folder/*.exr"),
    ("compare a.png https://example.org/a.png", 2, "is an address; download"),
    ("compare a.png *.tif", 2, "*.tif: no file matches"),
    ("compare a.png b.png -o folder", 2, "folder: is a folder; name a file in it"),
    ("compare - -", 2, "'-' is standard input"),
    ("info folder", 1, "folder: is a folder"),
    ("info *.tif", 1, "*.tif: no file matches"),
    ("ifft folder -o out/", 1, "folder: is a folder"),
    ("idwt *.npz -o out/", 1, "*.npz: no file matches"),
    ("convolve a.png -o o.png --kernel folder", 1, "folder: is a folder"),
    ("convolve - -o o.png --kernel -", 2, "'-' is standard input"),
    ("bloom - -o o.png --kernel -", 2, "'-' is standard input"),
    ("run lfs.png a.png -o o.png", 1, "git lfs pull"),
    ("regress run lfs.png", 2, "git lfs pull"),
    ("tonemap a.png -o o.png --lut lfs.png", 1, "git lfs pull"),
    ("convolve a.png -o o.png --kernel lfs.png", 1, "git lfs pull"),
    ("ifft lfs.png -o o.png", 1, "git lfs pull"),
    ("compare a.png lfs.png", 2, "git lfs pull"),
    ("tonemap a.png -o o.png --lut folder", 1, "folder: is a folder"),
    ("tonemap folder -o out/", 1, "folder: is a folder"),
])  # fmt: skip
def test_other_commands_files(clpix, there, args, code, words) -> None:
    one_line(clpix(*args.split()), code, words)


def test_texts_may_begin_with_a_byte_order_mark(clpix, there) -> None:
    case = '[[case]]\nname = "a"\nchain = "blur --sigma 0"\ninputs = ["a.png"]\n'
    index = '{"schema": 1, "store": "store", "pictures": {}}'
    texts = {
        "r.toml": 'schema = 1\n[[step]]\nop = "flip"\naxis = "vertical"\n',
        "s.toml": f'schema = 1\nreferences = "i.json"\n{case}',
    }
    for name, text in (texts | {"l.txt": "a.png\nb.png\n", "i.json": index}).items():
        Path(name).write_text(text, encoding="utf-8-sig")
    assert clpix("run", "r.toml", "@l.txt", "-o", "out/").code == 0
    Path("l0.txt").write_bytes(b"\xef\xbb\xbfa.png\0b.png")
    assert clpix("run", "r.toml", "--from0", "l0.txt", "-o", "out0/").code == 0
    assert sorted(path.name for path in Path("out0").iterdir()) == ["a.png", "b.png"]
    run = clpix("regress", "run", "s.toml")
    assert run.code == 2 and "1 pictures: 1 new" in run.out


def test_a_file_called_as_standard_output_is(clpix, there) -> None:
    Path("-").write_text("not standard output")
    run = run_python(
        *["-m", "clpix", "blur", "a.png", "--sigma", "0", "-o", "-", "--format", "png"], text=False
    )
    assert (run.returncode, run.stderr) == (0, b"") and run.stdout.startswith(b"\x89PNG")
    assert Path("-").read_text() == "not standard output"


def test_a_report_never_overwrites_what_is_compared(clpix, there) -> None:
    Path("b.png").rename("b.json")  # the content decides the format
    before = Path("b.json").read_bytes()
    one_line(
        clpix("compare", "a.png", "b.json", "--timing-file", "b.json", "--overwrite"), 2, "also an input"
    )
    assert Path("b.json").read_bytes() == before


@pytest.mark.exhaustive
def test_a_device_that_is_too_small_is_there(clpix, there, monkeypatch) -> None:
    """Exit code 3 says that there is no device, and a lack of memory is another failure."""
    one_line(clpix("bench", "copy", "--size", 99999999), 1, "is needed, and ", "B for one buffer")
    one_line(clpix("bench", "dwt", "--size", 64, "--device-memory", 1), 1, "raise the limit")

    def compare_nothing(*_args: object) -> None:
        raise DeviceError("too little memory")

    monkeypatch.setattr("gpuops.metrics.measure.measure", compare_nothing)
    one_line(clpix("compare", "a.png", "b.png"), 2, "too little memory")
    one_line(clpix("compare", "a.png", "b.png", "--device", "none such"), 3, "no device 'none such'")
