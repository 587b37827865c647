"""A job: a file that is read, what is done to it, and the files that its result is written to.

job = Job("in.exr", Chain(BlurParams((2, 2)), TonemapParams("agx")), "out.png")
run_job(gpu, job)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .. import files
from ..errors import FileError, ParameterError
from ..files import Format
from ..params.colours import AUTO, DATA, WORKING
from ..params.dither import Dither
from ..params.files import STREAM
from ..params.storage import USUAL
from .options import Options

if TYPE_CHECKING:
    from ..chain import Chain
    from ..gpu import Gpu
    from ..ops.write import WriteParams
    from ..params.kinds import Params
    from .access import Access
    from .item import Item

#: Work on an item that no chain describes.
Work = Callable[["Item"], Any]

#: The transfers of a tone mapping whose result is light, or its signal by sRGB's curve: they leave its encoding open.
USUAL_TRANSFERS = ("auto", "srgb")


@dataclass(frozen=True)
class Job:
    """One file on its way; it can be sent to another process.

    Attributes
    ----------
    source, target : str
        The paths of the input and of the output; ``-`` is standard input and output.
    work : Chain or callable
        The operations, or other work that is given an :class:`~gpuops.batch.item.Item`.
    asides : str
        A path for each ``write`` step of the chain, in their order.

    Raises
    ------
    ParameterError
        There are not as many asides as such steps, two outputs have the same path, or the format of one does not know
        how it is to be stored.
    """

    source: str
    work: Chain | Work
    target: str
    asides: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        writes: list[WriteParams] = []
        if self.chain is not None:
            from ..ops.write import WriteParams

            writes = [step for step in self.chain if isinstance(step, WriteParams)]
        if len(writes) != len(self.asides):
            raise ParameterError(
                f"{len(writes)} steps write on the way, and there are {len(self.asides)} paths for them"
            )
        transfers = {getattr(step, "transfer", "auto") for step in self.chain or ()}
        if not transfers.issubset(USUAL_TRANSFERS) and self.options.colour != AUTO:
            raise ParameterError("--transfer and --colour both say how the result is encoded: leave out one")
        if self.options.dtype is None and "pq" in transfers:
            fmt = self.options.format_of(self.target)
            if fmt.is_for_display and "uint16" in fmt.dtypes:  # 8 bits are too few for PQ
                object.__setattr__(self, "options", replace(self.options, dtype="uint16"))
        if (
            self.chain is not None
            and not self.options.drop_layers
            and any(map(self._holds_layers, self.outputs))
        ):
            object.__setattr__(self, "options", replace(self.options, layers=True))
        if self.chain is not None:
            object.__setattr__(
                self, "options", replace(self.options, smaller_for=self._smaller_for(self.chain))
            )
        self._dither_at_the_end()
        if len(set(self.outputs)) < len(self.outputs):
            raise ParameterError("two outputs of a job have the same path")
        stored = (self.options.storage, *(step.storage for step in writes))
        for path, storage in zip(self.outputs, stored, strict=True):
            if storage == USUAL and self.options.dither is None:
                continue
            with suppress(FileError):  # no format has this name, as will be said
                name = "stdout" if path == STREAM else path
                fmt = replace(self.options, storage=storage).format_of(path)
                self._check_dither(name, fmt)
                fmt.check(storage, name)

    def _smaller_for(self, chain: Chain) -> Params | None:
        """The first step that does something, if a decoder may make the picture smaller for it."""
        from ..operation import operation_of

        how = self.options
        first = next((step for step in chain if not operation_of(step).identity(step)), None)
        if first is None or how.layer is not None or DATA in (how.input_colour, how.usual_colour):
            return None
        return first if operation_of(first).shrinks is not None else None

    def _holds_layers(self, path: str) -> bool:
        with suppress(FileError):  # no format has this name, as will be said
            return self.options.format_of(path).read_all is not None
        return False

    def _dither_at_the_end(self) -> None:
        """Moves the dither of the last step to the output, where the output's encoding rounds in place of the step."""
        how = self.options
        if self.chain is None or (how.colour == AUTO and how.working == WORKING[0] and how.fuse):
            return
        *before, last = self.chain
        if getattr(last, "dither", None):
            from ..chain import Chain

            params = cast("Any", last)
            object.__setattr__(self, "work", Chain(*before, replace(params, dither=None)))
            object.__setattr__(
                self, "options", replace(how, dither=how.dither or Dither(params.noise, params.seed))
            )

    def _check_dither(self, name: str, fmt: Format) -> None:
        """Raises ParameterError if pixels are to be dithered in a format, or of a depth, that is not rounded."""
        floats = files.output_dtype(fmt, self.options.dtype or fmt.dtypes[0]).kind == "f"
        if self.options.dither is not None and floats:
            raise ParameterError(f"{name}: holds floats, which are not rounded: leave out --dither")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The paths of all files that are written."""
        return self.target, *self.asides

    @property
    def recipe(self) -> str:
        """A digest of all that the result depends on besides the input."""
        return _digest(self.work, self.options)

    def replacing(self) -> Job:
        """Returns the job, which may replace outputs that are there."""
        return replace(self, options=replace(self.options, overwrite=True))

    @property
    def reads_numbers(self) -> bool:
        """Whether the input is a file of numbers, not a picture."""
        return getattr(self.work, "reads_numbers", False)

    @property
    def chain(self) -> Chain | None:
        """The work, if it is a chain. Other work does not wait for the import of that module."""
        return cast("Chain", self.work) if hasattr(self.work, "steps") else None


@lru_cache(maxsize=64)  # the jobs of a command have one work in common, or as many as they have frames
def _digest(work: Chain | Work, how: Options) -> str:
    from hashlib import sha256

    what = (
        cast("Chain", work).digest if hasattr(work, "steps") else repr(work),
        how.layer,
        how.space,
        how.alpha,
        how.dtype,
        how.colour,
        how.working,
        how.format,
        how.storage,
        how.strip,
        how.dither,
    )
    return sha256(repr(what).encode()).hexdigest()


def run_job(gpu: Gpu, job: Job, access: Access | None = None) -> Any:
    """Reads, works and writes. Returns what the work found, such as the findings of a chain, or None.

    ``access`` gets at the job's files; by default they are read and written when they are needed. Raises FileError for
    what fails with this input, and ParameterError for parameters that do not go with its output.
    """
    with gpu.phase("import"):  # the input may be read meanwhile
        from .access import Access
        from .item import Item

        if job.chain is not None:
            from .chains import work

    rows = job.chain is not None and job.chain.takes_rows_once
    used = access or Access(job.source, job.options, rows=rows)
    item = Item(gpu, job.target, job.options, used)
    try:
        if job.chain is None:
            return cast(Work, job.work)(item)
        return work(item, job.chain, job.asides) or None
    finally:
        if access is None:
            used.finish()


# -- Shares of work for processes that know nothing of each other: share I of N ----------------------------------

T = TypeVar("T")

# The variables by which Slurm tells a task of a job array its number, the first number, the step between numbers, and
# how many tasks there are; and the values of variables that are not set.
_ARRAY = {
    "SLURM_ARRAY_TASK_ID": 1,
    "SLURM_ARRAY_TASK_MIN": 1,
    "SLURM_ARRAY_TASK_STEP": 1,
    "SLURM_ARRAY_TASK_COUNT": 1,
}
# The variables by which Slurm tells a process of srun its number, from 0 on, and how many processes there are.
_STEP = ("SLURM_PROCID", "SLURM_NTASKS")


def shard(items: Sequence[T], text: str, environment: Mapping[str, str] = os.environ) -> list[T]:
    """Returns the items of a shard, ``text``: I/N with I from 1 to N, or ``slurm`` for Slurm's number of this process.

    Each item is in one shard of N. Raises ParameterError for a shard that does not exist.
    """
    named = _of_slurm(environment) if text == "slurm" else text
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", named, re.ASCII)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        said = "" if named == text else f" of {named}"
        raise ParameterError(f"--shard {text}{said}: write I/N with I from 1 to N, such as 2/4")
    return list(items[index - 1 :: count])


def _of_slurm(environment: Mapping[str, str]) -> str:
    numbers = {
        name: int(value) for name in (*_ARRAY, *_STEP) if (value := environment.get(name, "")).isdecimal()
    }
    if "SLURM_ARRAY_TASK_ID" in numbers:
        task, first, step, count = (numbers.get(name, usual) for name, usual in _ARRAY.items())
        return f"{(task - first) // max(1, step) + 1}/{count}"
    if all(name in numbers for name in _STEP):
        return f"{numbers[_STEP[0]] + 1}/{numbers[_STEP[1]]}"
    raise ParameterError(
        "--shard slurm: Slurm's variables are not set; this is no task of a job array, and no process of srun"
    )
