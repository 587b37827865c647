"""The verdict on a pair of files: equal bytes are not decoded, others are measured on the device."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING

from .. import files, notes
from ..batch.access import Access
from ..batch.comparison import TOGETHER, paired
from ..batch.options import Options
from ..errors import DeviceMemoryError, FileError, ParameterError
from ..figures import worst_of
from ..files import png_rows
from ..metrics import variance as variances
from ..metrics.compare import channels
from ..params.comparing import Comparing
from ..params.thresholds import Limit, Thresholds
from ..process import signals
from ..rows.budget import Budget
from .folders import FilePair
from .outcome import Outcome, PairedPicture
from .references import equal_bytes, sha256_of

if TYPE_CHECKING:
    from ..files.png_rows import Undo
    from ..gpu import Gpu
    from ..params.comparing import MeasuredPair

# Pairs that are decoded ahead of the one that is measured, for each thread.
_AHEAD = 2


# The reference and the result, each by rows if it takes too much memory as a whole.
_Opened = list[files.Picture | files.Strips]


@dataclass
class _Read:
    """What reading a pair gave: reference and result of each layer, or why not; ``seconds`` is how long it took."""

    equal: bool = False
    layers: dict[str, _Opened] = field(default_factory=dict)
    variance: str = ""
    digests: tuple[str, str] = ("", "")
    error: str = ""
    said: list[str] = field(default_factory=list)
    seconds: float = 0.0


def judge(
    pairs: Iterable[FilePair | Outcome],
    how: Comparing,
    thresholds_of: Callable[[str], Thresholds],
    open_gpu: Callable[[], Gpu],
    *,
    jobs: int = 2,
    memory: int | None = None,
) -> Iterator[Outcome]:
    """Gives the outcome of each pair, in their order; an outcome among them is passed on.

    ``open_gpu`` is called when a pair has to be measured, and may return the same device each time. ``jobs`` threads
    read files meanwhile; a few pairs are in memory at a time. With a ``memory``, so many bytes of the host's, there is
    one. Pictures that take more are measured by rows.
    """
    wake = Event()  # a file waits for the device, or has been read
    undo = png_rows.DeferredUnfilter(wake.set)

    def opened() -> Gpu:
        from ..pixels.unfilter import undoing

        gpu = open_gpu()
        undo.give(undoing(gpu))
        return gpu

    def result(future: Future[_Read]) -> _Read:
        future.add_done_callback(lambda _: wake.set())
        while not (future.done() or undo.known):
            wake.wait()
            wake.clear()
            if undo.awaited:
                opened()
        return future.result()

    with (
        ThreadPoolExecutor(max(1, jobs), initializer=signals.leave_to_others) as pool,
        ThreadPoolExecutor(2, initializer=signals.leave_to_others) as sweeps,
    ):
        waiting: deque[tuple[FilePair | Outcome, Future[_Read] | None]] = deque()
        rest = iter(pairs)

        def take(count: int) -> None:
            for pair in islice(rest, count):
                future = pool.submit(_read, pair, how, memory, undo) if isinstance(pair, FilePair) else None
                waiting.append((pair, future))

        try:
            take(_AHEAD * max(1, jobs) if memory is None else 1)
            while waiting:
                pair, future = waiting.popleft()
                if isinstance(pair, Outcome):
                    yield pair
                else:
                    assert future is not None
                    yield _verdict(
                        pair, result(future), how, thresholds_of(pair.name), opened, sweeps, memory
                    )
                take(1)
        finally:
            undo.give(None)  # nobody waits any more


def _read(pair: FilePair, how: Comparing, memory: int | None, undo: Undo) -> _Read:
    begun = time.perf_counter()
    found = _Read()
    try:
        if equal_bytes(pair.result, pair.reference):
            found.equal = True
        else:
            found.digests = sha256_of(pair.result), sha256_of(pair.reference)
            found.layers = _layers(pair, Options(layer=how.layer, memory=memory), undo, found.said)
            found.variance = _variance(pair, found)
    except FileError as error:
        found.layers, found.error, found.said = {}, str(error), []
    found.seconds = time.perf_counter() - begun
    return found


def _variance(pair: FilePair, found: _Read) -> str:
    """Returns the file of the variance, or none if it belongs to another reference, which is said."""
    if pair.variance and variances.digest_in(pair.variance) not in ("", found.digests[1]):
        found.said.append(
            f"{pair.variance} is the variance of an older reference: calibrate again with --variance"
        )
        return ""
    return pair.variance


def _layers(pair: FilePair, options: Options, undo: Undo, said: list[str]) -> dict[str, _Opened]:
    """Opens the layer of the options, or all layers if they name none; ``said`` receives notes about the files."""

    def opened(layer: str | None, said: list[str], layers: int = 1) -> _Opened:
        of_layer, among = replace(options, layer=layer), TOGETHER * layers
        with notes.to(said.append):
            paths = pair.reference, pair.result
            return [Access(path, of_layer, among=among).opened(undo) for path in paths]

    notes_of_default: list[str] = []
    pictures = opened(options.layer, notes_of_default)
    names, there = (_header(one).layers for one in pictures)
    if options.layer is not None or names == there == ():
        said += notes_of_default
        return {"": pictures}
    if set(names) != set(there):
        here, other = (", ".join(layers) or "none" for layers in (there, names))
        raise FileError(f"layers differ: {here} and {other}; --layer NAME compares one")
    return {name: opened(name, said, len(names)) for name in names}


def _verdict(
    pair: FilePair,
    found: _Read,
    how: Comparing,
    thresholds: Thresholds,
    open_gpu: Callable[[], Gpu],
    pool: ThreadPoolExecutor,
    memory: int | None,
) -> Outcome:
    """Returns the outcome of a pair that was read."""
    begun = time.perf_counter()
    result = PairedPicture(pair.result, pair.name, found.digests[0])
    reference = PairedPicture(pair.reference, pair.name, found.digests[1], pair.of)
    for both in list(found.layers.values())[:1]:
        reference, result = map(_described, (reference, result), map(_header, both))

    def outcome(status: str, message: str = "", measured: MeasuredPair | None = None) -> Outcome:
        names = ("figures", "missed", "warned", "worst") if measured else ()
        return Outcome(
            pair.name,
            status,
            result,
            reference,
            thresholds=thresholds.table,
            message="; ".join(dict.fromkeys((*filter(None, [message]), *found.said))),
            seconds=found.seconds + time.perf_counter() - begun,
            **{name: getattr(measured, name) for name in names},
        )

    if not found.layers:
        return outcome("equal" if found.equal else "error", found.error)

    from ..metrics.measure import SizeError, measure

    of_layers: dict[str, MeasuredPair] = {}
    try:
        with notes.to(found.said.append):
            among = TOGETHER * len(found.layers)
            budget = Budget(f"{pair.reference} and {pair.result}", memory, among)
            for name in list(found.layers):
                both, of_layer = found.layers.pop(name), replace(how, layer=name or how.layer)
                compared = paired(
                    open_gpu(), pool, both, budget, of_layer, thresholds, variance=found.variance
                )
                of_layers[name] = measure(compared, thresholds)
                del both, compared
    except SizeError as error:
        return outcome("size", str(error))
    except (ParameterError, FileError, DeviceMemoryError) as error:
        return outcome("error", str(error))
    measured = _joined(of_layers)
    status = (
        "equal"
        if measured.equal
        else "failed"
        if measured.missed
        else "warned"
        if measured.warned
        else "passed"
    )
    undefined = (f"{metric}: {why}" for metric, why in measured.undefined.items())
    return outcome(status, "; ".join(filter(None, (measured.note, *undefined))), measured)


def _header(found: files.Picture | files.Strips) -> files.Picture:
    return found.picture if isinstance(found, files.Strips) else found


def _described(file: PairedPicture, picture: files.Picture) -> PairedPicture:
    kind = channels(picture), picture.pixels.dtype.name
    return PairedPicture(*file[:4], picture.width, picture.height, *kind)


def _joined(layers: dict[str, MeasuredPair]) -> MeasuredPair:
    """Returns the worst of all layers; limits that are missed name their layer."""
    if len(layers) == 1:
        return next(iter(layers.values()))

    def named(name: str, limits: tuple[Limit, ...]) -> list[Limit]:
        return [limit._replace(name=f"{limit.name} of {name or 'the unnamed layer'}") for limit in limits]

    worst = max(layers.values(), key=lambda one: one.figures["max"])
    return replace(
        worst,
        figures=worst_of([one.figures for one in layers.values()]),
        differing=sum(one.differing for one in layers.values()),
        missed=tuple(limit for name, one in layers.items() for limit in named(name, one.missed)),
        warned=tuple(limit for name, one in layers.items() for limit in named(name, one.warned)),
    )
