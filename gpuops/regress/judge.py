"""Results beside their references: which belong together, and the verdict on each pair.

Equal bytes are not decoded; other files are measured on the device.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Event

from .. import files, notes
from ..batch.access import Access
from ..batch.comparison import TOGETHER, paired
from ..batch.options import Options
from ..errors import DeviceMemoryError, FileError, ParameterError
from ..figures import worst_of
from ..files.formats.png import DeferredUnfilter, Undo
from ..gpu import Gpu
from ..metrics import variance as variances
from ..metrics.compare import channels
from ..params.comparing import Comparing, MeasuredPair
from ..params.thresholds import Limit, Thresholds
from ..process import signals
from ..rows.budget import Budget
from .outcome import Outcome, PairedPicture, excess
from .references import References, digests_if_unlike, pictures_in, sha256_of

# The verdicts on a pair, from the nearest reference on.
_NEARNESS = ("equal", "passed", "warned", "failed", "size", "error")
# Pairs that are decoded ahead of the one that is measured, for each thread.
_AHEAD = 2


@dataclass(frozen=True)
class FilePair:
    """The files of a result and of its reference; ``of`` says which reference that is.

    ``variance``: the file of the reference's variance, empty if there is none. ``others``: the pairs of the result with
    the further valid references.
    """

    name: str
    result: str
    reference: str
    of: str
    variance: str = ""
    others: tuple[FilePair, ...] = ()


def pairs(
    results: str | Path,
    references: References,
    places: Sequence[str],
    wanted: Collection[str] | None = None,
    spare: dict[str, list[PairedPicture]] | None = None,
) -> Iterator[FilePair | Outcome]:
    """Gives the pairs of a folder's pictures, and the verdict on those that have no other half, in the order of names.

    ``places``: see :meth:`References.valid`. ``wanted``: the only names that count. A new picture that has the bytes of
    a reference of a missing one is that one, renamed; ``spare`` are further missing ones, by name, from which those are
    taken away.
    """
    spare = {} if spare is None else spare
    there = (
        set(pictures_in(results)) if wanted is None else {n for n in wanted if (Path(results) / n).is_file()}
    )
    known = set(references.names())
    if wanted is not None:
        known &= set(wanted)
    valid: dict[str, list[tuple[str, str]]] = {}
    unread: dict[str, str] = {}
    for name in sorted(known):
        try:
            valid[name] = references.valid(name, places)
        except FileError as error:
            unread[name] = str(error)

    def result(name: str) -> PairedPicture:
        path = str(Path(results) / name)
        return PairedPicture(path, name, sha256_of(path))

    def of_name(name: str) -> list[PairedPicture]:
        return [PairedPicture(path, name, sha256_of(path), of) for path, of in valid.get(name, ())]

    missing = {name: of_name(name) for name in sorted(known - there)}
    lost = {of.sha256: of for several in (*spare.values(), *missing.values()) for of in several}
    renamed: dict[str, PairedPicture] = {}
    gone: set[str] = set()
    for name in sorted(there - known) if lost else ():
        before = lost.get(result(name).sha256)
        if before is not None and before.name not in gone:
            renamed[name] = before
            gone.add(before.name)
    for name in sorted((there | known) - gone):
        if name in unread:
            yield Outcome(name, "error", message=unread[name])
        elif name in renamed:
            before = renamed[name]
            spare.pop(before.name, None)
            said = f"it has the bytes of the reference {before.name}, of which there is no result"
            yield Outcome(name, "renamed", result(name), before, message=said)
        elif name not in there:
            said = "there is a reference and no result"
            yield Outcome(name, "missing", None, next(iter(missing[name]), None), message=said)
        else:
            yield _pair_with(valid.get(name, []), name, str(Path(results) / name), references)


def pair_of(name: str, result: str, references: References, places: Sequence[str]) -> FilePair | Outcome:
    """Returns a result with the references of a name, or the verdict that it is new."""
    return _pair_with(references.valid(name, places), name, result, references)


def _pair_with(
    valid: list[tuple[str, str]], name: str, result: str, references: References
) -> FilePair | Outcome:
    if not valid:
        picture = PairedPicture(result, name, sha256_of(result))
        return Outcome(name, "new", picture, message="there is no reference")
    first, *others = (FilePair(name, result, at, of, references.variance_of(name, of)) for at, of in valid)
    return replace(first, others=tuple(others))


# The reference and the result, each by rows if it takes too much memory as a whole.
_Opened = list[files.Strips]


@dataclass
class _Read:
    """What reading a pair gave: reference and result of each layer, or why not; ``seconds`` is how long it took.

    If its bytes equal a further reference, it is the ``pair`` with that one.
    """

    pair: FilePair
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

    Of several valid references, the outcome is that with the nearest: one that it equals, else one within whose
    thresholds it is, else the one that it is least beyond.

    ``open_gpu`` is called when a pair has to be measured, and may return the same device each time. ``jobs`` threads
    read files meanwhile; a few pairs are in memory at a time. With a ``memory``, so many bytes of the host's, there is
    one. Pictures that take more are measured by rows.
    """
    wake = Event()  # a file waits for the device, or has been read
    undo = DeferredUnfilter(wake.set)

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

        def outcomes(pair: FilePair, first: Future[_Read]) -> Iterator[Outcome]:
            """Gives those of the valid references, up to one that is equal."""
            thresholds, future = thresholds_of(pair.name), first
            for other in (*pair.others, None):
                outcome = _verdict(result(future), how, thresholds, opened, sweeps, memory)
                yield outcome
                if outcome.status == "equal" or other is None:
                    return
                future = pool.submit(_read, other, how, memory, undo)

        try:
            take(_AHEAD * max(1, jobs) if memory is None else 1)
            while waiting:
                pair, future = waiting.popleft()
                if isinstance(pair, Outcome):
                    yield pair
                else:
                    assert future is not None
                    yield _nearest(list(outcomes(pair, future)), 1 + len(pair.others))
                take(1)
        finally:
            undo.give(None)  # nobody waits any more


def _read(pair: FilePair, how: Comparing, memory: int | None, undo: Undo) -> _Read:
    begun = time.perf_counter()
    content = _Read(pair)
    try:
        unlike = []
        for one in (pair, *pair.others):
            digests = digests_if_unlike(one.result, one.reference)
            if digests is None:
                content.pair, content.equal = one, True
                break
            unlike.append(digests)
        else:
            content.digests = unlike[0]
            content.layers = _layers(pair, Options(layer=how.layer, memory=memory), undo, content.said)
            content.variance = _variance(pair, content)
    except FileError as error:
        content.layers, content.error, content.said = {}, str(error), []
    content.seconds = time.perf_counter() - begun
    return content


def _variance(pair: FilePair, content: _Read) -> str:
    """Returns the file of the variance, or none if it belongs to another reference, which is said."""
    if pair.variance and variances.digest_in(pair.variance) not in ("", content.digests[1]):
        content.said.append(f"{pair.variance} is of an older reference: calibrate again with --variance")
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
    names, there = (one.picture.layers for one in pictures)
    if options.layer is not None or names == there == ():
        said += notes_of_default
        return {"": pictures}
    if set(names) != set(there):
        here, other = (", ".join(layers) or "none" for layers in (there, names))
        raise FileError(f"layers differ: {here} and {other}; --layer NAME compares one")
    return {name: opened(name, said, len(names)) for name in names}


def _verdict(
    content: _Read,
    how: Comparing,
    thresholds: Thresholds,
    open_gpu: Callable[[], Gpu],
    pool: ThreadPoolExecutor,
    memory: int | None,
) -> Outcome:
    """Returns the outcome of a pair that was read."""
    begun, pair = time.perf_counter(), content.pair
    result = PairedPicture(pair.result, pair.name, content.digests[0])
    reference = PairedPicture(pair.reference, pair.name, content.digests[1], pair.of)
    for both in list(content.layers.values())[:1]:
        reference, result = map(_described, (reference, result), both)

    def outcome(status: str, message: str = "", measured: MeasuredPair | None = None) -> Outcome:
        names = ("figures", "missed", "warned", "worst") if measured else ()
        more = {name: getattr(measured, name) for name in names} | {"thresholds": thresholds.table}
        said = "; ".join(dict.fromkeys((*filter(None, [message]), *content.said)))
        seconds = content.seconds + time.perf_counter() - begun
        return Outcome(pair.name, status, result, reference, message=said, seconds=seconds, **more)

    if not content.layers:
        return outcome("equal" if content.equal else "error", content.error)

    from ..metrics.measure import SizeError, measure

    of_layers: dict[str, MeasuredPair] = {}
    try:
        with notes.to(content.said.append):
            gpu, among = open_gpu(), TOGETHER * len(content.layers)
            budget = Budget(f"{pair.reference} and {pair.result}", memory, among)
            for name in list(content.layers):
                both, of_layer = content.layers.pop(name), replace(how, layer=name) if name else how
                compared = paired(gpu, pool, both, budget, of_layer, thresholds, variance=content.variance)
                of_layers[name] = measure(compared, thresholds)
                del both, compared
    except SizeError as error:
        return outcome("size", str(error))
    except (ParameterError, FileError, DeviceMemoryError) as error:
        return outcome("error", str(error))
    measured = _joined(of_layers)
    verdicts = {"equal": measured.equal, "failed": measured.missed, "warned": measured.warned, "passed": True}
    status = next(name for name, holds in verdicts.items() if holds)
    undefined = (f"{metric}: {why}" for metric, why in measured.undefined.items())
    return outcome(status, "; ".join(filter(None, (measured.note, *undefined))), measured)


def _nearest(outcomes: list[Outcome], several: int) -> Outcome:
    """Returns the outcome with the nearest of several references, which it says where that is of interest."""
    nearest = min(outcomes, key=lambda one: (_NEARNESS.index(one.status), excess(one)))
    seconds = sum(one.seconds for one in outcomes)
    if several == 1 or nearest.reference is None or nearest.good:
        return replace(nearest, seconds=seconds)
    said = f"of {several} valid references the nearest is {nearest.reference.path}"
    return replace(nearest, seconds=seconds, message="; ".join(filter(None, (nearest.message, said))))


def _described(file: PairedPicture, strips: files.Strips) -> PairedPicture:
    picture = strips.picture
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
