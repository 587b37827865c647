"""Options that commands share, as decorators."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from gpuops.params.colours import AUTO, NAMES, WORKING
from gpuops.params.dither import NOISES, SEEDS, Dither
from gpuops.params.storage import QUALITIES, SUBSAMPLINGS, Storage

from . import commands

if TYPE_CHECKING:
    from gpuops.batch.job import Options

Command = TypeVar("Command", bound=Callable[..., Any])

# The depths that options name, and numpy's names of them.
DTYPES = {"auto": None, "uint8": "uint8", "uint16": "uint16", "half": "float16", "float": "float32"}


#: The options that commands share, by the titles of their groups in help: each one's name, with underscores.
GROUPS = {
    "Files": ("output", "overwrite", "format", "dtype", "alpha", "layer", "frames"),
    "Storage": (
        "quality", "subsampling", "compression", "strip", "output_dither", "output_noise", "output_seed",
    ),
    "Colour": ("colour", "working", "space"),
    "Many inputs": (
        "recursive", "from0", "jobs", "skip_existing", "update", "journal", "resume", "shard", "cluster", "retries",
    ),
    "Device, memory": ("device", "memory", "device_memory", "scratch", "dump_kernels"),
    "Chain": ("explain", "save_recipe", "fuse"),
    "Messages": ("progress", "timing", "timing_file", "repeat", "verbose", "quiet", "help"),
}  # fmt: skip

# The declaration of a command: click.command, with the kind of commands that takes nothing in silence.
command = functools.partial(click.command, cls=commands.Command)


if TYPE_CHECKING:  # before click 8.2 types have no parameters
    _OneOf = click.Choice[str]
    TextType = click.ParamType[str]
    BytesType = click.ParamType[int]
    SizeType = click.ParamType[tuple[int, int]]
else:
    _OneOf = click.Choice
    TextType = BytesType = SizeType = click.ParamType


class Choice(_OneOf):
    """A parameter type for one of several names, in upper or lower case."""

    def __init__(self, choices: Iterable[str]) -> None:
        super().__init__(list(choices), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = {name.lower(): name for name in self.choices}.get(str(value).lower())
        if found is None:
            close = commands.near(str(value), self.choices)
            hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
            self.fail(f"there is no {value!r}: {hint}use one of {', '.join(self.choices)}", param, ctx)
        return found


class Word(TextType):
    """A parameter type for a name, perhaps with numbers, such as gamma:2.2; in upper or lower case."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).lower()


def given(name: str) -> bool:
    """Says whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse(reason: str, *names: str) -> None:
    """Raises a usage error if one of these options was given though it can have no effect: to accept it would mislead.

    An option that is left to ``auto``, its default, asks for nothing. That other options' values leave it nothing to
    do (a border of a blur by 0) is no reason: scripts vary values.
    """
    context = click.get_current_context()
    for option in context.command.params:
        if option.name not in names or not given(option.name):
            continue
        value = context.params[option.name]
        if value != "auto" or option.default != "auto":
            spellings = option.secondary_opts if value is False and option.secondary_opts else option.opts
            raise click.UsageError(f"{reason}: leave out {max(spellings, key=len)}")


@dataclass(frozen=True)
class Shared:
    """The values of all shared options.

    ``below``: for each input the folder that it is in, below one that was named. ``frame_of``: the frame of each, if
    frames were asked for; ``layer_of``: the layer that is it, None of files with one picture.
    """

    inputs: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    output: str | None = None
    format: str | None = None
    layer: str | None = None
    frames: str | None = None
    frame_of: tuple[int, ...] = ()
    layer_of: tuple[str | None, ...] = ()
    device: str | None = None
    memory: int | None = None
    device_memory: int | None = None
    scratch: str | None = None
    dtype: str = "auto"
    colour: str = AUTO
    working: str = WORKING[0]
    quality: int | None = None
    subsampling: str | None = None
    compression: str | None = None
    strip: bool = False
    output_dither: bool = False
    output_noise: str = "blue"
    output_seed: int = 0
    space: str = "auto"
    alpha: str = "keep"
    timing: bool = False
    timing_file: str | None = None
    repeat: int = 1
    overwrite: bool = False
    progress: bool | None = None
    jobs: int | None = None
    recursive: bool = False
    from0: str | None = None
    skip_existing: bool = False
    update: bool = False
    journal: str | None = None
    resume: str | None = None
    shard: str | None = None
    cluster: str | None = None
    retries: int = 2
    dump_kernels: str | None = None
    verbose: int = 0
    quiet: bool = False

    def of_job(self, *, fuse: bool = True) -> Options:
        """Returns those that say how files are read and written."""
        from gpuops.batch.job import Options

        return Options(
            layer=self.layer,
            space=self.space,
            alpha=self.alpha == "keep",
            dtype=DTYPES[self.dtype],
            colour=self.colour,
            working=self.working,
            storage=Storage(self.quality, self.subsampling, self.compression),
            strip=self.strip,
            dither=Dither(self.output_noise, self.output_seed) if self.output_dither else None,
            format=self.format,
            overwrite=self.overwrite,
            repeat=self.repeat,
            memory=self.memory,
            scratch=self.scratch,
            fuse=fuse,
        )


def collected(name: str, kind: type, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Adds options to a command, which receives their values as one argument ``name`` of a ``kind`` of dataclass."""

    def added(command: Command) -> Command:
        @functools.wraps(command)
        def with_one(**values: Any) -> Any:
            taken = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            return command(**{name: kind(**taken)}, **values)

        wrapped: Any = with_one
        for option in reversed(options):
            wrapped = option(wrapped)
        return cast("Command", wrapped)

    return added


def inputs(command: Command, *, required: bool = False) -> Command:
    """INPUT... (``-`` is stdin); with :func:`batch` there may be none on the command line."""
    return click.argument("inputs", nargs=-1, required=required, metavar="INPUT...")(command)


def output(command: Command, *, required: bool = True) -> Command:
    """-o, --overwrite and --format; a command that is not ``required`` to have -o asks for it itself."""
    needed: dict[str, Any] = {"required": True} if required else {}
    for option in (
        click.option(
            "--format", metavar="EXT", help="The format of stdout ('-') as the output, such as png."
        ),
        click.option("--overwrite", is_flag=True, help="Replace existing outputs (never an input)."),
        click.option(
            "-o",
            "--output",
            metavar="OUTPUT",
            help="A file, or for several inputs a folder or a template of {stem} {name} {ext} {op} {index}. '-' is "
            "stdout." + ("" if required else "  [required]"),
            **needed,
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class ChainOptions:
    """The values of the options that chains have beside the shared ones."""

    explain: bool = False
    save_recipe: str | None = None
    fuse: bool = True


def chain(command: Command) -> Command:
    """These options; the command receives them as one ``chain`` argument."""
    options = (
        click.option("--explain", is_flag=True, help="Print what would be done, and do nothing."),
        click.option(
            "--save-recipe", metavar="FILE", help="Also write the operations as a recipe for `clpix run`."
        ),
        click.option(
            "--fuse/--no-fuse",
            default=True,
            help="Let steps share a kernel with reading and writing, or not.",
        ),
    )

    return collected("chain", ChainOptions, *options)(command)


device = click.option(
    "--device",
    envvar="CLPIX_DEVICE",
    metavar="gpu|cpu|N|NAME|all",
    help="The device (see `clpix devices`); also CLPIX_DEVICE. The default is the best one that works. Several, such "
    "as 0,1, share the inputs of a batch. 'all' is every GPU, or every CPU if there is no GPU.",
)


class Bytes(BytesType):
    """A parameter type for a number of bytes, or of K, M, G or T bytes, powers of 1024."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(
            r"(\d{1,12}(?:\.\d{1,6})?)([KMGT]?)(?:i?B)?", str(value), re.ASCII | re.IGNORECASE
        )
        number = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
        if not number:
            self.fail(f"{value!r} is no size of memory: give bytes, or a number with K, M or G, such as 512M")
        return number


memory = click.option(
    "--memory",
    type=Bytes(),
    metavar="SIZE",
    help="Use no more of the host's memory for pictures. Larger ones are processed by rows.",
)
device_memory = click.option(
    "--device-memory",
    type=Bytes(),
    metavar="SIZE",
    help="Use no more of the device's memory, such as 512M or 2G. Larger images are split.",
)


class Jobs(BytesType):
    """A parameter type for how much is done at a time: a number, or ``auto``, which is None."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).lower() == "auto":
            return None
        if not re.fullmatch(r"[1-9]\d{0,4}", str(value), re.ASCII):
            self.fail(f"{value!r} is neither 'auto' nor a number from 1 on")
        return int(value)


storage = (
    click.option(
        "--quality",
        type=click.IntRange(*QUALITIES),
        metavar="Q",
        help="The quality (1 … 100) of JPEG (default 95), lossy WebP, AVIF and HEIC (90), and video (65).",
    ),
    click.option(
        "--subsampling",
        type=Choice(SUBSAMPLINGS),
        help="Resolution of colours in JPEG, AVIF and HEIC (4:4:4).",
    ),
    click.option(
        "--compression",
        type=Word(),
        metavar="NAME[:LEVEL]",
        help="PNG: none, deflate:0 … 9; TIFF: none, lzw, deflate, zstd, packbits; EXR: none, rle, zips, zip, piz, "
        "pxr24, b44, b44a, dwaa, dwab; WebP: lossy, lossless; NPZ: none, deflate.",
    ),
    click.option(
        "--strip", is_flag=True, help="Write no metadata but the colour space, and turn pixels upright first."
    ),
)


# The names of these.
STORAGE = ("quality", "subsampling", "compression", "strip")


def dithering(command: Command) -> Command:
    """Adds the options of noise in outputs. An operation that has such options itself keeps its own."""
    for option in (
        click.option(
            "--seed",
            "output_seed",
            type=click.IntRange(*SEEDS),
            default=0,
            metavar="N",
            help="Another seed gives another noise.",
        ),
        click.option(
            "--noise",
            "output_noise",
            type=Choice(NOISES),
            default="blue",
            help="The noise of --dither: white, or seen less.",
        ),
        click.option(
            "--dither",
            "output_dither",
            is_flag=True,
            help="Add noise before colours are rounded to integers.",
        ),
    ):
        command = option(command)
    return command


def batch(command: Command) -> Command:
    """Adds the options of commands that take many inputs; their ``shared`` has every file as an input then."""

    @functools.wraps(command)
    def with_all(shared: Shared, **values: Any) -> Any:
        from .inputs import listed

        return command(shared=listed(shared), **values)

    options = (
        click.option(
            "--frames",
            metavar="all|N|N:M",
            help="Take these frames or pages. Each goes to its own file, or all to one .gif, .webp or .apng.",
        ),
        click.option("--recursive", is_flag=True, help="Take the pictures in folders, and keep their tree."),
        click.option(
            "--from0",
            metavar="FILE",
            help="Read the inputs' names from a file or '-'. Each name ends with a 0 byte.",
        ),
        click.option(
            "--jobs", type=Jobs(), metavar="auto|N", help="How many files to read and write at a time."
        ),
        click.option("--skip-existing", is_flag=True, help="Leave out inputs whose outputs exist."),
        click.option(
            "--update",
            is_flag=True,
            help="Leave out inputs whose outputs are up to date, and replace others.",
        ),
        click.option("--journal", metavar="FILE", help="Note in this file what is done."),
        click.option(
            "--resume",
            metavar="FILE",
            help="Leave out what is done according to this journal, and continue it.",
        ),
        click.option("--shard", metavar="I/N|slurm", help="Take only share I of N shares of the inputs."),
        click.option(
            "--cluster",
            metavar="ADDRESS|FILE|local:N",
            help="Let the workers of a Dask scheduler (its address or file) do the work, or N processes here.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(0),
            default=2,
            metavar="N",
            help="How often a cluster tries a failed input again.",
        ),
        memory,
        device_memory,
        click.option(
            "--scratch",
            metavar="DIR",
            help="A folder for data that does not fit into memory during transforms. Nothing stays there.",
        ),
    )
    wrapped: Any = with_all
    for option in reversed(options):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


def shared(command: Command) -> Command:
    """Adds the options of every image command, which receives them as one ``shared`` argument."""
    options = (
        device,
        click.option("--dtype", type=Choice(DTYPES), default="auto", help="Depth of the output."),
        click.option(
            "--colour",
            "--color",
            "colour",
            type=Choice(NAMES),
            default=AUTO,
            help="The colour space of the output. 'input' is that of each input.",
        ),
        click.option(
            "--working",
            type=Choice(WORKING),
            default=WORKING[0],
            help="Primaries of the light that steps work on.",
        ),
        *storage,
        click.option(
            "--space",
            type=Choice(["auto", "linear", "encoded"]),
            default="auto",
            help="Work on linear light or on the stored values.",
        ),
        click.option(
            "--alpha", type=Choice(["keep", "drop"]), default="keep", help="Keep alpha, or leave it out."
        ),
        click.option("--layer", metavar="NAME", help="The layer to read from a file of several."),
        click.option("--timing", is_flag=True, help="Show where the time went, on stderr."),
        click.option(
            "--timing-file", metavar="FILE", help="Write the timing report as .json, .csv or .trace.json."
        ),
        click.option(
            "--repeat",
            type=click.IntRange(1),
            default=1,
            metavar="N",
            help="Run the operation N times (for timing).",
        ),
        click.option("--progress/--no-progress", default=None, help="Show progress over several inputs."),
        click.option(
            "--dump-kernels", metavar="DIR", help="Write the OpenCL source of every kernel that is built."
        ),
        click.option("-v", "--verbose", count=True, help="Print more messages."),
        click.option("-q", "--quiet", is_flag=True, help="Print no warnings."),
    )

    return collected("shared", Shared, *options)(command)


def all_shared() -> list[click.Option]:
    """Returns every option that commands share, without --help."""

    @command("all")
    @chain
    @dithering
    @batch
    @shared
    @output
    def everything() -> None:
        pass

    return [param for param in everything.params if isinstance(param, click.Option)]
