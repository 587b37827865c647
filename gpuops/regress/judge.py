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
from ..errors import DeviceMemoryError, FileError, ParameterError
from ..figures import FIGURES
from ..files import png_rows
from ..metrics import variance as variances
from ..metrics.variance import Variance
from ..params.comparing import Comparing
from ..params.thresholds import Limit, Thresholds
from ..process import signals
from .folders import FilePair
from .outcome import Outcome, PairedPicture
from .references import equal_bytes, sha256_of

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.comparing import MeasuredPair

# Pairs that are decoded ahead of the one that is measured, for each thread.
_AHEAD = 2


@dataclass
class _Decoded:
    """What reading a pair gave: result and reference of each layer, or why not; ``seconds`` is how long it took."""

    equal: bool = False
    layers: dict[str, tuple[files.Picture, files.Picture]] = field(default_factory=dict)
    variances: dict[str, Variance] = field(default_factory=dict)
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
) -> Iterator[Outcome]:
    """Gives the outcome of each pair, in their order; an outcome among them is passed on.

    ``open_gpu`` is called when a pair has to be measured, and may return the same device each time. ``jobs`` threads
    read files meanwhile; a few pairs are in memory at a time.
    """
    wake = Event()  # a file waits for the device, or has been read
    undo = png_rows.DeferredUnfilter(wake.set)

    def opened() -> Gpu:
        from ..pixels.unfilter import undoing

        gpu = open_gpu()
        undo.give(undoing(gpu))
        return gpu

    def read(pair: FilePair) -> _Decoded:
        with png_rows.undone_by(undo):
            return _read(pair, how)

    def result(future: Future[_Decoded]) -> _Decoded:
        future.add_done_callback(lambda _: wake.set())
        while not (future.done() or undo.known):
            wake.wait()
            wake.clear()
            if undo.awaited:
                opened()
        return future.result()

    with ThreadPoolExecutor(max(1, jobs), initializer=signals.leave_to_others) as pool:
        waiting: deque[tuple[FilePair | Outcome, Future[_Decoded] | None]] = deque()
        rest = iter(pairs)

        def take(count: int) -> None:
            for pair in islice(rest, count):
                waiting.append((pair, pool.submit(read, pair) if isinstance(pair, FilePair) else None))

        try:
            take(_AHEAD * max(1, jobs))
            while waiting:
                pair, future = waiting.popleft()
                if isinstance(pair, Outcome):
                    yield pair
                else:
                    assert future is not None
                    yield _verdict(pair, result(future), how, thresholds_of(pair.name), opened)
                take(1)
        finally:
            undo.give(None)  # nobody waits any more


def _read(pair: FilePair, how: Comparing) -> _Decoded:
    begun = time.perf_counter()
    found = _Decoded()
    try:
        if equal_bytes(pair.result, pair.reference):
            found.equal = True
        else:
            found.digests = sha256_of(pair.result), sha256_of(pair.reference)
            found.layers = _layers(pair, how.layer, found.said)
            found.variances = _variances(pair, how.layer, found)
    except FileError as error:
        found.layers, found.error, found.said = {}, str(error), []
    found.seconds = time.perf_counter() - begun
    return found


def _variances(pair: FilePair, layer: str | None, found: _Decoded) -> dict[str, Variance]:
    """Reads the variance of each layer, or none if it belongs to another reference, which is said."""
    if not pair.variance:
        return {}
    read = {name: variances.read(pair.variance, name or layer) for name in found.layers}
    if any(one.of not in ("", found.digests[1]) for one in read.values()):
        found.said.append(
            f"{pair.variance} is the variance of an older reference: calibrate again with --variance"
        )
        return {}
    return read


def _layers(
    pair: FilePair, layer: str | None, said: list[str]
) -> dict[str, tuple[files.Picture, files.Picture]]:
    """Reads the layer of that name, or all layers if there is none; ``said`` receives notes about the files."""

    def read(name: str | None, said: list[str]) -> tuple[files.Picture, files.Picture]:
        with notes.to(said.append):
            return files.read(pair.result, layer=name), files.read(pair.reference, layer=name)

    notes_of_default: list[str] = []
    result, reference = read(layer, notes_of_default)
    if layer is not None or result.layers == reference.layers == ():
        said += notes_of_default
        return {"": (result, reference)}
    if set(result.layers) != set(reference.layers):
        here, there = (", ".join(picture.layers) or "none" for picture in (result, reference))
        raise FileError(f"layers differ: {here} and {there}; --layer NAME compares one")
    return {name: read(name, said) for name in reference.layers}


def _verdict(
    pair: FilePair, found: _Decoded, how: Comparing, thresholds: Thresholds, open_gpu: Callable[[], Gpu]
) -> Outcome:
    """Returns the outcome of a pair that was read."""
    begun = time.perf_counter()
    result = PairedPicture(pair.result, pair.name, found.digests[0])
    reference = PairedPicture(pair.reference, pair.name, found.digests[1], pair.of)
    for pictures in list(found.layers.values())[:1]:
        result, reference = map(_described, (result, reference), pictures)

    def outcome(status: str, message: str = "", measured: MeasuredPair | None = None) -> Outcome:
        return Outcome(
            pair.name,
            status,
            result,
            reference,
            measured.figures if measured else {},
            thresholds.table,
            measured.missed if measured else (),
            measured.warned if measured else (),
            measured.worst if measured else None,
            "; ".join(dict.fromkeys((*filter(None, [message]), *found.said))),
            seconds=found.seconds + time.perf_counter() - begun,
        )

    if not found.layers:
        return outcome("equal" if found.equal else "error", found.error)

    from ..metrics.measure import Pair, SizeError, measure

    of_layers: dict[str, MeasuredPair] = {}
    try:
        with notes.to(found.said.append):
            for name, pictures in found.layers.items():
                both = Pair.of(open_gpu(), *pictures, how, found.variances.get(name))
                of_layers[name] = measure(both, thresholds)
    except SizeError as error:
        return outcome("size", str(error))
    except (ParameterError, FileError, DeviceMemoryError) as error:
        return outcome("error", str(error))
    measured = _joined(of_layers)
    status = "failed" if measured.missed else "warned" if measured.warned else "passed"
    if measured.equal:
        status = "equal"
    return outcome(status, _note(measured), measured)


def _described(file: PairedPicture, picture: files.Picture) -> PairedPicture:
    names = {1: "gray", 2: "gray and alpha", 3: "RGB", 4: "RGBA"}
    return file._replace(
        width=picture.width,
        height=picture.height,
        channels=names.get(picture.channels, f"{picture.channels} channels"),
        dtype=picture.pixels.dtype.name,
    )


def _joined(layers: dict[str, MeasuredPair]) -> MeasuredPair:
    """Returns the worst of all layers; limits that are missed name their layer."""
    if len(layers) == 1:
        return next(iter(layers.values()))

    def named(name: str, limits: tuple[Limit, ...]) -> list[Limit]:
        return [limit._replace(name=f"{limit.name} of {name or 'the unnamed layer'}") for limit in limits]

    worst = max(layers.values(), key=lambda one: one.figures["max"])
    figures: dict[str, float] = {}
    for one in layers.values():
        for metric, value in one.figures.items():
            before = figures.get(metric, value)
            figures[metric] = value if FIGURES[metric].worse(value, before) else before
    return replace(
        worst,
        figures=figures,
        differing=sum(one.differing for one in layers.values()),
        missed=tuple(limit for name, one in layers.items() for limit in named(name, one.missed)),
        warned=tuple(limit for name, one in layers.items() for limit in named(name, one.warned)),
    )


def _note(measured: MeasuredPair) -> str:
    """Returns what people should know of a comparison."""
    notes = [measured.note] if measured.note else []
    notes += [f"{metric}: {why}" for metric, why in measured.undefined.items()]
    return "; ".join(notes)
