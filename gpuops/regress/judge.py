"""The verdict on a pair of files: equal bytes are not decoded, others are measured on the device."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from .. import files, notes
from ..errors import FileError, ParameterError
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..process import signals
from .folders import Pair
from .outcome import Outcome, Picture
from .references import equal_bytes, sha256_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.comparing import Measured

# Pairs that are decoded ahead of the one that is measured, for each thread.
_AHEAD = 2


@dataclass
class _Decoded:
    """What reading a pair gave: both pictures, or why not; ``seconds`` is how long it took."""

    equal: bool = False
    pictures: tuple[files.Picture, files.Picture] | None = None
    digests: tuple[str, str] = ("", "")
    error: str = ""
    said: list[str] = field(default_factory=list)
    seconds: float = 0.0


def judge(
    pairs: Iterable[Pair | Outcome],
    how: Comparing,
    thresholds_of: Callable[[str], Thresholds],
    open_gpu: Callable[[], Gpu],
    *,
    jobs: int = 2,
) -> Iterator[Outcome]:
    """Gives the outcome of each pair, in their order; an outcome among them is passed on.

    ``open_gpu`` is called when a pair has to be measured, and may return the same device each time. ``jobs`` threads
    read files meanwhile; a few pairs are in memory at a time.
    """
    with ThreadPoolExecutor(max(1, jobs), initializer=signals.leave_to_others) as pool:
        waiting: deque[tuple[Pair | Outcome, Future[_Decoded] | None]] = deque()
        rest = iter(pairs)

        def take(count: int) -> None:
            for pair in islice(rest, count):
                waiting.append((pair, pool.submit(_read, pair, how) if isinstance(pair, Pair) else None))

        take(_AHEAD * max(1, jobs))
        while waiting:
            pair, future = waiting.popleft()
            if isinstance(pair, Outcome):
                yield pair
            else:
                assert future is not None
                yield _verdict(pair, future.result(), how, thresholds_of(pair.name), open_gpu)
            take(1)


def _read(pair: Pair, how: Comparing) -> _Decoded:
    begun = time.perf_counter()
    found = _Decoded()
    try:
        if equal_bytes(pair.result, pair.reference):
            found.equal = True
        else:
            found.digests = sha256_of(pair.result), sha256_of(pair.reference)
            with notes.to(found.said.append):
                found.pictures = (
                    files.read(pair.result, layer=how.layer),
                    files.read(pair.reference, layer=how.layer),
                )
    except FileError as error:
        found.error = str(error)
    found.seconds = time.perf_counter() - begun
    return found


def _verdict(
    pair: Pair, found: _Decoded, how: Comparing, thresholds: Thresholds, open_gpu: Callable[[], Gpu]
) -> Outcome:
    """Returns the outcome of a pair that was read."""
    begun = time.perf_counter()
    result = Picture(pair.result, pair.name, found.digests[0])
    reference = Picture(pair.reference, pair.name, found.digests[1], pair.of)
    table = thresholds.table
    if found.equal:
        return Outcome(pair.name, "equal", result, reference, thresholds=table, seconds=found.seconds)
    if found.pictures is None:
        return Outcome(
            pair.name,
            "error",
            result,
            reference,
            thresholds=table,
            message=found.error,
            seconds=found.seconds,
        )
    result, reference = (
        _described(file, picture) for file, picture in zip((result, reference), found.pictures, strict=True)
    )

    def outcome(status: str, message: str = "", measured: Measured | None = None) -> Outcome:
        return Outcome(
            pair.name,
            status,
            result,
            reference,
            measured.figures if measured else {},
            table,
            measured.missed if measured else (),
            measured.warned if measured else (),
            measured.worst if measured else None,
            "; ".join(dict.fromkeys((*filter(None, [message]), *found.said))),
            seconds=found.seconds + time.perf_counter() - begun,
        )

    from ..metrics.measure import Both, SizeError, measure

    try:
        with notes.to(found.said.append):
            measured = measure(Both(open_gpu(), *found.pictures, how), thresholds)
    except SizeError as error:
        return outcome("size", str(error))
    except (ParameterError, FileError) as error:
        return outcome("error", str(error))
    status = "failed" if measured.missed else "warned" if measured.warned else "passed"
    if measured.equal:
        status = "equal"
    return outcome(status, _note(measured), measured)


def _described(file: Picture, picture: files.Picture) -> Picture:
    names = {1: "gray", 2: "gray and alpha", 3: "RGB", 4: "RGBA"}
    return file._replace(
        width=picture.width,
        height=picture.height,
        channels=names.get(picture.channels, f"{picture.channels} channels"),
        dtype=picture.pixels.dtype.name,
    )


def _note(measured: Measured) -> str:
    """Returns what people should know of a comparison."""
    notes = [measured.note] if measured.note else []
    notes += [f"{metric}: {why}" for metric, why in measured.undefined.items()]
    return "; ".join(notes)
