"""Options that commands share, as decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from gpuops.params.colours import AUTO, NAMES, WORKING
from gpuops.params.dither import NOISES, SEEDS
from gpuops.params.storage import QUALITIES, SUBSAMPLINGS

from . import commands, types
from .shared import DTYPES, ChainOptions, Shared

Command = TypeVar("Command", bound=Callable[..., Any])

#: The options that commands share, by the titles of their groups in help: each one's name, with underscores.
GROUPS = {
    "Files": ("output", "overwrite", "format", "dtype", "alpha", "layer", "frames"),
    "Storage": (
        "quality", "subsampling", "compression", "gain_map", "strip", "output_dither", "output_noise", "output_seed",
    ),
    "Colour": ("colour", "working", "space"),
    "Many inputs": (
        "recursive", "from0", "jobs", "skip_existing", "update", "journal", "resume", "shard", "cluster", "retries",
    ),
    "Device, memory": ("device", "memory", "device_memory", "scratch", "dump_kernels"),
    "Chain": ("explain", "save_recipe", "fuse"),
    "Messages": ("progress", "timing", "timing_file", "repeat", "verbose", "quiet", "help"),
}  # fmt: skip


class OutputOption(click.Option):
    """An option that names a further file to write, which is neither an input nor another output.

    It is one file, whatever the inputs are: its name has no fields.
    """

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        if "{" in str(value):
            from .naming import FIELDS

            for field in FIELDS:
                if f"{{{field}}}" in value:
                    raise click.BadParameter(
                        f"{value} is one file for all inputs: leave out {{{field}}}", ctx, self
                    )
        return super().process_value(ctx, value)


# The declaration of a command: click.command, with the kind of commands that takes nothing in silence.
command = functools.partial(click.command, cls=commands.Command)


def given(name: str) -> bool:
    """Says whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse(reason: str, *names: str) -> None:
    """Raises a usage error if one of these options was given though it can have no effect: to accept it would mislead.

    An option that is left to ``auto``, its default, asks for nothing. An option that other options' values leave
    without effect (the border of a blur by 0) is accepted: scripts vary values.
    """
    context = click.get_current_context()
    for option in context.command.params:
        if option.name not in names or not given(option.name):
            continue
        value = context.params[option.name]
        if value != "auto" or option.default != "auto":
            spellings = option.secondary_opts if value is False and option.secondary_opts else option.opts
            raise click.UsageError(f"{reason}: leave out {max(spellings, key=len)}")


def added(command: Callable[..., Any], *options: Callable[[Any], Any]) -> Any:
    """Adds options to a command, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def collected(name: str, kind: type, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Adds options to a command, which receives their values as one argument ``name`` of a ``kind`` of dataclass."""

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_one(**values: Any) -> Any:
            taken = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            return command(**{name: kind(**taken)}, **values)

        return cast("Command", added(with_one, *options))

    return decorated


def inputs(command: Command, *, required: bool = False) -> Command:
    """Adds the argument INPUT... (``-`` is stdin). With :func:`batch` there may be none on the command line."""
    return click.argument("inputs", nargs=-1, required=required, metavar="INPUT...")(command)


def output(command: Command, *, required: bool = True) -> Command:
    """Adds -o, --overwrite and --format. If -o is not ``required`` by click, the command asks for it itself."""
    needed: dict[str, Any] = {"required": True} if required else {}
    decorated = added(
        command,
        click.option(
            "-o",
            "--output",
            metavar="OUTPUT",
            help="A file, or for several inputs a folder or a template of {stem} {name} {ext} {op} {index}. '-' is "
            "stdout." + ("" if required else "  [required]"),
            **needed,
        ),
        click.option("--overwrite", is_flag=True, help="Replace existing outputs (never an input)."),
        click.option(
            "--format", metavar="EXT", help="The format of stdout ('-') as the output, such as png."
        ),
    )
    return cast("Command", decorated)


def chain(command: Command) -> Command:
    """Adds the options of chains, which the command receives as one ``chain`` argument."""
    options = (
        click.option("--explain", is_flag=True, help="Print what would be done, and do nothing."),
        click.option(
            "--save-recipe",
            cls=OutputOption,
            metavar="FILE",
            help="Also write the operations as a recipe for `clpix run`.",
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


memory = click.option(
    "--memory",
    type=types.Bytes(),
    metavar="SIZE",
    help="Use no more of the host's memory for pictures. Larger ones are processed by rows.",
)
device_memory = click.option(
    "--device-memory",
    type=types.Bytes(),
    metavar="SIZE",
    help="Use no more of the device's memory, such as 512M or 2G. Larger images are split.",
)


storage = (
    click.option(
        "--quality",
        type=click.IntRange(*QUALITIES),
        metavar="Q",
        help="The quality (1 … 100) of JPEG (default 95), lossy WebP, AVIF and HEIC (90), and video (65).",
    ),
    click.option(
        "--subsampling",
        type=types.ChoiceType(SUBSAMPLINGS),
        help="Resolution of colours in JPEG, AVIF and HEIC (4:4:4).",
    ),
    click.option(
        "--compression",
        type=types.Word(),
        metavar="NAME[:LEVEL]",
        help="PNG: none, deflate:0 … 9; TIFF: none, lzw, deflate, zstd, packbits; EXR: none, rle, zips, zip, piz, "
        "pxr24, b44, b44a, dwaa, dwab; WebP: lossy, lossless; NPZ: none, deflate.",
    ),
    click.option(
        "--gain-map",
        is_flag=True,
        help="Write light into a JPEG, by a gain map (Ultra HDR) that HDR displays apply.",
    ),
    click.option(
        "--strip", is_flag=True, help="Write no metadata but the colour space, and turn pixels upright first."
    ),
)


# The names of the storage options.
STORAGE = ("quality", "subsampling", "compression", "gain_map", "strip")


def dithering(command: Command) -> Command:
    """Adds the options of noise in outputs. An operation that has such options itself keeps its own."""
    decorated = added(
        command,
        click.option(
            "--dither",
            "output_dither",
            is_flag=True,
            help="Add noise before colours are rounded to integers.",
        ),
        click.option(
            "--noise",
            "output_noise",
            type=types.ChoiceType(NOISES),
            default="blue",
            help="The noise of --dither: white, or seen less.",
        ),
        click.option(
            "--seed",
            "output_seed",
            type=click.IntRange(*SEEDS),
            default=0,
            metavar="N",
            help="Another seed gives another noise.",
        ),
    )
    return cast("Command", decorated)


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
            help="Take these frames or pages, each to a file of its own, or all to one .gif, .webp or .apng.",
        ),
        click.option("--recursive", is_flag=True, help="Take the pictures in folders, and keep their tree."),
        click.option(
            "--from0",
            metavar="FILE",
            help="Read the inputs' names from a file or '-'. Each name ends with a 0 byte.",
        ),
        click.option(
            "--jobs", type=types.Jobs(), metavar="auto|N", help="How many files to read and write at a time."
        ),
        click.option("--skip-existing", is_flag=True, help="Leave out inputs whose outputs exist."),
        click.option(
            "--update",
            is_flag=True,
            help="Leave out inputs whose outputs are up to date, and replace others.",
        ),
        click.option("--journal", cls=OutputOption, metavar="FILE", help="Note in this file what is done."),
        click.option(
            "--resume",
            cls=OutputOption,
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
            help="A folder for what memory has no room for while a picture is turned or transformed. It stays empty.",
        ),
    )
    return cast("Command", added(with_all, *options))


def shared(command: Command) -> Command:
    """Adds the options of every image command, which receives them as one ``shared`` argument."""
    options = (
        device,
        click.option("--dtype", type=types.ChoiceType(DTYPES), default="auto", help="Depth of the output."),
        click.option(
            "--colour",
            "--color",
            "colour",
            type=types.ChoiceType(NAMES),
            default=AUTO,
            help="The colour space of the output. 'input' is that of each input.",
        ),
        click.option(
            "--working",
            type=types.ChoiceType(WORKING),
            default=WORKING[0],
            help="Primaries of the light that steps work on.",
        ),
        *storage,
        click.option(
            "--space",
            type=types.ChoiceType(["auto", "linear", "encoded"]),
            default="auto",
            help="Work on linear light or on the stored values.",
        ),
        click.option(
            "--alpha",
            type=types.ChoiceType(["keep", "drop"]),
            default="keep",
            help="Keep alpha, or leave it out.",
        ),
        click.option("--layer", metavar="NAME", help="The layer to read from a file of several."),
        click.option("--timing", is_flag=True, help="Show where the time went, on stderr."),
        click.option(
            "--timing-file",
            cls=OutputOption,
            metavar="FILE",
            help="Write the timing report as .json, .csv or .trace.json.",
        ),
        click.option(
            "--repeat",
            type=click.IntRange(1),
            default=1,
            metavar="N",
            help="Run the operation N times (for timing).",
        ),
        click.option(
            "--progress/--no-progress", default=None, help="Show progress over several inputs or frames."
        ),
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
