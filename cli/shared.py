"""The options that commands share: each one's value, default, spellings and help."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from gpuops.params.colours import AUTO, NAMES, WORKING
from gpuops.params.dither import NOISES, SEEDS, Dither
from gpuops.params.storage import QUALITIES, SUBSAMPLINGS, Storage

from . import types

if TYPE_CHECKING:
    from gpuops.batch.options import Options

# The depths that options name, and numpy's names of them.
DTYPES = {"auto": None, "uint8": "uint8", "uint16": "uint16", "half": "float16", "float": "float32"}

#: The options of how files are stored, and of noise in outputs.
STORAGE = ("quality", "subsampling", "compression", "gain_map", "strip")
DITHER = ("output_dither", "output_noise", "output_seed")

#: The options that commands share, by the titles of their groups in help: each one's name, with underscores.
GROUPS = {
    "Files": ("output", "overwrite", "format", "dtype", "alpha", "layer", "frames"),
    "Storage": (*STORAGE, *DITHER),
    "Colour": ("colour", "working", "space"),
    "Many inputs": (
        "recursive", "from0", "jobs", "skip_existing", "update", "journal", "resume", "shard", "cluster", "retries",
    ),
    "Device, memory": ("device", "memory", "device_memory", "scratch", "dump_kernels"),
    "Chain": ("explain", "save_recipe", "fuse"),
    "Messages": ("progress", "timing", "timing_file", "repeat", "verbose", "quiet", "help"),
}  # fmt: skip


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
    return option(help, metavar, cls=types.OutputOption)


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
    frames: str | None = option(
        "Take these frames or pages, each to a file of its own, or all to one .gif, .webp or .apng.",
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
        type=types.byte_size,
    )
    device_memory: int | None = option(
        "Use no more of the device's memory, such as 512M or 2G. Larger images are split.",
        "SIZE",
        type=types.byte_size,
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
        "pxr24, b44, b44a, dwaa, dwab; WebP: lossy, lossless; NPZ: none, deflate.",
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
    repeat: int = option("Run the operation N times (for timing).", "N", default=1, type=click.IntRange(1))
    progress: bool | None = option(
        "Show progress over several inputs or frames.", None, "--progress/--no-progress"
    )
    jobs: int | None = option("How many files to read and write at a time.", "auto|N", type=types.job_count)
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

        same = {one.name: getattr(self, one.name) for one in fields(Options) if hasattr(self, one.name)}
        changed = {
            "alpha": self.alpha == "keep",
            "dtype": DTYPES[self.dtype],
            "storage": Storage(self.quality, self.subsampling, self.compression, self.gain_map),
            "dither": Dither(self.output_noise, self.output_seed) if self.output_dither else None,
        }
        return Options(**{**same, **changed})
