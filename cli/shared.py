"""The values of the options that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuops.params.colours import AUTO, WORKING
from gpuops.params.dither import Dither
from gpuops.params.storage import Storage

if TYPE_CHECKING:
    from gpuops.batch.job import Options

# The depths that options name, and numpy's names of them.
DTYPES = {"auto": None, "uint8": "uint8", "uint16": "uint16", "half": "float16", "float": "float32"}


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
    output: str | None = None
    draft_of: str | None = None
    format: str | None = None
    layer: str | None = None
    frames: str | None = None
    frame_of: tuple[int, ...] = ()
    layer_of: tuple[str | None, ...] = ()
    failed: int = 0
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
    gain_map: bool = False
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
        """Returns the options that say how files are read and written."""
        from gpuops.batch.job import Options

        return Options(
            layer=self.layer,
            space=self.space,
            alpha=self.alpha == "keep",
            dtype=DTYPES[self.dtype],
            colour=self.colour,
            working=self.working,
            storage=Storage(self.quality, self.subsampling, self.compression, self.gain_map),
            strip=self.strip,
            dither=Dither(self.output_noise, self.output_seed) if self.output_dither else None,
            format=self.format,
            overwrite=self.overwrite,
            repeat=self.repeat,
            memory=self.memory,
            scratch=self.scratch,
            fuse=fuse,
        )


@dataclass(frozen=True)
class ChainOptions:
    """The values of the options that chains have beside the shared ones."""

    explain: bool = False
    save_recipe: str | None = None
    fuse: bool = True
