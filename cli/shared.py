"""The options that commands share: each one's value, default, spellings and help, and the types of values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

import click

from gpuops.errors import check_name
from gpuops.params.colours import AUTO, INPUTS, NAMES, WORKING
from gpuops.params.dither import NOISES, SEEDS, Dither
from gpuops.params.storage import QUALITIES, SUBSAMPLINGS, Storage
from gpuops.records import dataclass

from .messages import near

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from gpuops.batch.options import Options

# The depths that options name, and numpy's names of them.
DTYPES = {"auto": None, "uint8": "uint8", "uint16": "uint16", "half": "float16", "float": "float32"}

# The fields of a pattern for names of outputs.
FIELDS = ("stem", "name", "ext", "dir", "op", "index", "frame")

#: The options of how files are stored, and of noise in outputs.
STORAGE = ("quality", "subsampling", "compression", "gain_map", "strip")
DITHER = ("output_dither", "output_noise", "output_seed")

#: The options that commands share, by the titles of their groups in help: each one's name, with underscores.
GROUPS = {
    "Files": ("output", "overwrite", "format", "dtype", "alpha", "layer", "drop_layers", "frames"),
    "Storage": (*STORAGE, *DITHER),
    "Colour": ("colour", "input_colour", "working", "space"),
    "Many inputs": (
        "recursive", "from0", "jobs", "skip_existing", "update", "journal", "resume", "shard", "cluster", "retries",
    ),
    "Device, memory": ("device", "memory", "device_memory", "scratch", "dump_kernels"),
    "Chain": ("explain", "save_recipe", "fuse"),
    "Messages": ("table", "progress", "timing", "timing_file", "repeat", "verbose", "quiet", "help"),
}  # fmt: skip


class TextType(click.ParamType):  # type: ignore[type-arg]  # before click 8.2 types have no parameters
    """A parameter type for what ``read`` makes of a text. Shells complete the names that there are, or else files."""

    name = "text"

    def __init__(self, read: Callable[[str], Any] = str) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.read(str(value))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from .completion import completed

        return completed(param, incomplete, files=self.read is str)


class ChoiceType(click.Choice):  # type: ignore[type-arg]
    """A parameter type for one of several names, in upper or lower case."""

    def __init__(self, choices: Iterable[str]) -> None:
        super().__init__(list(choices), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        choice = {name.lower(): name for name in self.choices}.get(str(value).lower())
        if choice is None:
            close = near(str(value), self.choices)
            hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
            self.fail(f"there is no {value!r}: {hint}use one of {', '.join(self.choices)}", param, ctx)
        return choice


class OutputOption(click.Option):
    """An option that names a further file to write, which is neither an input nor another output.

    It is one file, whatever the inputs are: its name has no fields.
    """

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Refuses fields of names."""
        if field := next((one for one in FIELDS if f"{{{one}}}" in str(value)), None):
            raise click.BadParameter(f"{value} is one file for all inputs: leave out {{{field}}}", ctx, self)
        return super().process_value(ctx, value)


def byte_size(text: str) -> int:
    """Reads a number of bytes, or of K, M, G or T bytes, powers of 1024."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMGT]?)(?:i?B)?", text, re.ASCII | re.IGNORECASE)
    number = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if not number:
        said = f"{text!r} is no size of memory: give bytes, or a number with K, M or G, such as 512M"
        raise click.BadParameter(said)
    return number


def job_count(text: str) -> int | None:
    """Reads how much is done at a time: a number, or ``auto``, which is None."""
    if text.lower() == "auto":
        return None
    if not re.fullmatch(r"[1-9]\d{0,4}", text, re.ASCII):
        raise click.BadParameter(f"{text!r} is neither 'auto' nor a number from 1 on")
    return int(text)


def picture_size(text: str) -> tuple[int, int]:
    """Reads a size, written as N or WIDTHxHEIGHT, as (width, height); the library decides which sizes there are."""
    match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", text, re.ASCII)
    if not match:
        raise click.BadParameter(f"{text!r} is no size: give N or WIDTHxHEIGHT, in pixels")
    return int(match[1]), int(match[2] or match[1])


def option(help: str, metavar: str | None = None, *spellings: str, default: Any = None, **how: Any) -> Any:
    """Declares an option. Without ``spellings`` its name is the field's; ``how``: what else it is given.

    A ``type`` may be the names that there are.
    """
    return field(default=default, metadata={"spellings": spellings, "help": help, "metavar": metavar, **how})


def flag(help: str, *spellings: str) -> Any:
    """Declares an option that has no value."""
    return option(help, None, *spellings, default=False)


def file_option(help: str, metavar: str = "FILE") -> Any:
    """Declares an option that names a further file to write."""
    return option(help, metavar, cls=OutputOption)


def shown(default: Any, help: str, metavar: str | None = None, *spellings: str, **how: Any) -> Any:
    """Declares an option whose help shows its default."""
    return option(help, metavar, *spellings, default=default, show_default=True, **how)


@dataclass(frozen=True)
class Shared:
    """The values of all shared options.

    ``lists``: the files that name inputs. ``below``: for each input the folder that it is in, below one that was named.
    ``frame_of``: the frame of each, if frames were asked for; ``layer_of``: the layer that holds this frame, None for
    files with one picture. ``draft_of``: the animation that outputs are the frames of, each under its number.
    ``failed``: how many inputs, of which each has been told, could not be asked for their
    frames.
    """

    inputs: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    frame_of: tuple[int, ...] = ()
    layer_of: tuple[str | None, ...] = ()
    failed: int = 0
    draft_of: str | None = None
    output: str | None = option(
        "A file, or for several inputs a folder or a template of {stem} {name} {ext} {op} {index}. '-' is stdout.",
        "OUTPUT", "-o", "--output",
    )  # fmt: skip
    overwrite: bool = flag("Replace existing outputs (never an input).")
    format: str | None = option("The format of stdout ('-') as the output, such as png.", "EXT")
    layer: str | None = option("The layer to read from a file of several.", "NAME")
    drop_layers: bool = flag("Write the picture alone, without the other layers of an EXR file.")
    frames: str | None = option(
        "Take these frames or pages, each to a file of its own, or all to one .tif, .fits, .gif, .webp or .apng.",
        "all|N|N:M",
    )
    device: str | None = option(
        "The device (see `clpix devices`); also CLPIX_DEVICE. The default is the best one that works. Several, such "
        "as 0,1, share the inputs of a batch. 'all' is every GPU, or every CPU if there is no GPU.",
        "gpu|cpu|N|NAME|all",
        envvar="CLPIX_DEVICE",
    )
    memory: int | None = option(
        "Use no more of the host's memory for pictures. Larger ones are processed by rows.",
        "SIZE",
        type=byte_size,
    )
    device_memory: int | None = option(
        "Use no more of the device's memory, such as 512M or 2G. Larger images are split.",
        "SIZE",
        type=byte_size,
    )
    scratch: str | None = option(
        "A folder for what memory has no room for while a picture is turned or transformed. It stays empty.",
        "DIR",
    )
    dtype: str = option("Depth of the output.", default="auto", type=DTYPES)
    colour: str = option(
        "The colour space of the output. 'input' is that of each input.",
        None, "--colour", "--color",
        default=AUTO,
        type=NAMES,
    )  # fmt: skip
    input_colour: str | None = option(
        "What the inputs' values are, whatever the files say; 'data' are numbers without a colour. "
        "CLPIX_INPUT_COLOUR is for files that say nothing.",
        None, "--input-colour", "--input-color",
        type=INPUTS,
    )  # fmt: skip
    working: str = option("Primaries of the light that steps work on.", default=WORKING[0], type=WORKING)
    quality: int | None = option(
        "The quality (1 … 100) of JPEG (default 95), lossy WebP, AVIF and HEIC (90), and video (65).",
        "Q",
        type=click.IntRange(*QUALITIES),
    )
    subsampling: str | None = option(
        "Resolution of colours in JPEG, AVIF and HEIC (4:4:4).", type=SUBSAMPLINGS
    )
    compression: str | None = option(
        "PNG: none, deflate:0 … 9; TIFF: none, lzw, deflate, zstd, packbits; EXR: none, rle, zips, zip, piz, "
        "pxr24, b44, b44a, dwaa, dwab, htj2k32, htj2k256; WebP: lossy, lossless; NPZ: none, deflate.",
        "NAME[:LEVEL]",
        type=str.lower,
    )
    gain_map: bool = flag("Write light into a JPEG, by a gain map (Ultra HDR) that HDR displays apply.")
    strip: bool = flag("Write no metadata but the colour space, and turn pixels upright first.")
    output_dither: bool = flag("Add noise before colours are rounded to integers.", "--dither")
    output_noise: str = option(
        "The noise of --dither: white, or seen less.", None, "--noise", default="blue", type=NOISES
    )
    output_seed: int = option(
        "Another seed gives another noise.", "N", "--seed", default=0, type=click.IntRange(*SEEDS)
    )
    space: str = option(
        "Work on linear light or on the stored values.", default="auto", type=["auto", "linear", "encoded"]
    )
    alpha: str = option("Keep alpha, or leave it out.", default="keep", type=["keep", "drop"])
    timing: bool = flag("Show where the time went, on stderr.")
    timing_file: str | None = file_option("Write the timing report as .json, .csv or .trace.json.")
    table: str | None = file_option("Write what is measured of each input, page or frame, as .csv or .jsonl.")
    repeat: int = option("Run the operation N times (for timing).", "N", default=1, type=click.IntRange(1))
    progress: bool | None = option(
        "Show progress over several inputs or frames.", None, "--progress/--no-progress"
    )
    jobs: int | None = option("How many files to read and write at a time.", "auto|N", type=job_count)
    recursive: bool = flag("Take the pictures in folders, and keep their tree.")
    from0: str | None = option(
        "Read the inputs' names from a file or '-'. Each name ends with a 0 byte.", "FILE"
    )
    skip_existing: bool = flag("Leave out inputs whose outputs exist.")
    update: bool = flag("Leave out inputs whose outputs are up to date, and replace others.")
    journal: str | None = file_option("Note in this file what is done.")
    resume: str | None = file_option("Leave out what is done according to this journal, and continue it.")
    shard: str | None = option("Take only share I of N shares of the inputs.", "I/N|slurm")
    cluster: str | None = option(
        "Let the workers of a Dask scheduler (its address or file) do the work, or N processes here.",
        "ADDRESS|FILE|local:N",
    )
    retries: int = option(
        "With --cluster: how often a failed input is tried again.", "N", default=2, type=click.IntRange(0)
    )
    dump_kernels: str | None = option("Write the OpenCL source of every kernel that is built.", "DIR")
    verbose: int = option("Print more messages.", None, "-v", "--verbose", default=0, count=True)
    quiet: bool = flag("Print no warnings.", "-q", "--quiet")

    explain: bool = flag("Print what would be done, and do nothing.")
    save_recipe: str | None = file_option("Also write the operations as a recipe for `clpix run`.")
    fuse: bool = option(
        "Let steps share a kernel with reading and writing, or not.", None, "--fuse/--no-fuse", default=True
    )

    def of_job(self) -> Options:
        """Returns the options that say how files are read and written."""
        from gpuops.batch.options import Options

        usual = os.environ.get("CLPIX_INPUT_COLOUR") or None
        if usual is not None:
            check_name("CLPIX_INPUT_COLOUR", usual, INPUTS)
        same = {one.name: getattr(self, one.name) for one in fields(Options) if hasattr(self, one.name)}
        changed = {
            "usual_colour": usual,
            "alpha": self.alpha == "keep",
            "dtype": DTYPES[self.dtype],
            "storage": Storage(self.quality, self.subsampling, self.compression, self.gain_map),
            "dither": Dither(self.output_noise, self.output_seed) if self.output_dither else None,
        }
        return Options(**{**same, **changed})
