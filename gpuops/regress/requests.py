"""Requests to compare two files, each a line of JSON, and their answers: what ``clpix regress serve`` reads and writes.

The lines are JSON as in JSON Lines (jsonlines.org): UTF-8, one value a line. An answer to a request that was understood
is an outcome, as ``report.schema.json`` says, and its exit code.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, get_type_hints

from .. import notes
from ..batch import comparison
from ..batch.access import Access
from ..batch.item import Item
from ..batch.options import Options
from ..errors import FileError, GpuopsError, ParameterError, json_values
from ..files import Identities
from ..files.output import check_output
from ..gpu import Gpu
from ..metrics.measure import measure
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..params.toml import nearest
from ..process import signals
from .judge import FilePair, judge, pair_of
from .outcome import SCHEMA, Outcome, typed
from .references import References, fault_of_name

#: The bytes that a request may have.
LONGEST = 1 << 20
# What a request may say, and of which types: the files, and how they are compared.
_KEYS: dict[str, Any] = {
    "result": str, "reference": str, "name": str, "thresholds": dict[str, float], "diff": str, "overwrite": bool,
}  # fmt: skip
_HOW = ("metrics", "space", "alpha", "layer", "mask", "ignore", "ppd", "exposures", "white")
# The verdicts on two pictures of one size.
_MEASURED = ("failed", "warned", "passed")

OpenReferences = Callable[[], tuple[References, Sequence[str]]]


@dataclass(frozen=True)
class Requests:
    """What answers requests, one after the other.

    Attributes
    ----------
    how, thresholds : Comparing, Thresholds
        What holds where a request says nothing else.
    open_gpu : callable
        Returns the device, the same each time.
    open_references : callable, optional
        Returns the references as they are now, and the names of where this runs, for requests that have a ``name``.
    """

    how: Comparing
    thresholds: Thresholds
    open_gpu: Callable[[], Gpu]
    open_references: OpenReferences | None = None

    def answers(self, lines: IO[bytes]) -> Iterator[str]:
        """Gives a line that says that all is ready, and one for each line with a request, until the lines end."""
        yield json.dumps({"ready": True, "schema": SCHEMA})
        while line := lines.readline(LONGEST + 1):
            if len(line) > LONGEST:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(LONGEST)
                yield _dumped({"id": None, "error": f"the request has more than {LONGEST} bytes"})
            elif line.strip():
                yield _dumped(self.answer(line))

    def answer(self, line: bytes) -> dict[str, Any]:
        """Returns the answer to a request: it has the request's ``id``, and an ``error`` if there is no outcome.

        It raises nothing, whatever the request is.
        """
        number = None
        try:
            request = _table(line)
            number = request.pop("id", None)
            return {"id": number, **self._outcome(_checked(request))}
        except GpuopsError as error:
            said = str(error)
        except MemoryError:
            said = "there is not enough memory for this"
        except Exception as error:  # whatever it is, the next request gets its answer
            traceback.print_exc()
            said = f"this went wrong: {type(error).__name__}: {error}"
        return {"id": number, "error": said}

    def _outcome(self, request: dict[str, Any]) -> dict[str, Any]:
        how = replace(self.how, **{name: request[name] for name in _HOW if name in request})
        thresholds = Thresholds.of(request.get("thresholds", {})).over(self.thresholds)
        inputs = [request[name] for name in ("result", "reference") if name in request]
        inputs += filter(None, [how.mask])
        for path in inputs:
            if not os.path.isfile(path):  # a pipe would never end
                raise FileError(f"{path}: {'is no file' if os.path.exists(path) else 'no such file'}")
        pair = self._pair(request)
        if isinstance(pair, FilePair):
            inputs += [one.reference for one in (pair, *pair.others)]
        target = request.get("diff")
        if target:
            check_output(target, overwrite=request.get("overwrite", False), inputs=Identities(inputs))
        (outcome,) = judge([pair], how, lambda _name: thresholds, self.open_gpu, jobs=1)
        if target and outcome.status in _MEASURED:
            self._write_difference(outcome, how, thresholds, target)
        else:
            target = None
        return {**vars(outcome), "exit_code": outcome.exit_code(), "diff": target}

    def _pair(self, request: dict[str, Any]) -> FilePair | Outcome:
        result, name = request["result"], request.get("name")
        if name is None:
            return FilePair(Path(result).name, result, request["reference"], "base")
        if fault := fault_of_name(name):
            raise ParameterError(fault)
        if self.open_references is None:
            raise ParameterError("'name' needs references: start 'clpix regress serve REFERENCES'")
        return pair_of(name, result, *self.open_references())

    def _write_difference(
        self, outcome: Outcome, how: Comparing, thresholds: Thresholds, target: str
    ) -> None:
        assert outcome.reference is not None and outcome.result is not None
        options, gpu = Options(layer=how.layer, overwrite=True), self.open_gpu()
        accesses = [
            Access(one.path, options, among=comparison.TOGETHER)
            for one in (outcome.reference, outcome.result)
        ]
        item = Item(gpu, target, options, accesses[0])
        with notes.silence(), ThreadPoolExecutor(2, initializer=signals.leave_to_others) as pool:
            pair = comparison.opened(gpu, pool, accesses, how, thresholds, item.output)
            measured = item.run(measure, pair, thresholds)
            comparison.write_difference(pair, pool, item.output, measured.gain)


def _table(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"the request is no JSON ({error})") from None
    if not isinstance(request, dict):
        raise ParameterError(
            'the request is no object of JSON, such as {"id": 1, "result": …, "reference": …}'
        )
    if not isinstance(request.get("id"), str | int | float | None):
        raise ParameterError("the request's id is neither a text nor a number")
    return request


def _checked(request: dict[str, Any]) -> dict[str, Any]:
    """Returns what a request says, by type. Raises GpuopsError for an unknown key, and what has another type."""
    hints = get_type_hints(Comparing)
    kinds = {**_KEYS, **{name: hints[name] for name in _HOW}}
    for key, value in request.items():
        if key not in kinds:
            raise ParameterError(f"the request has an unknown key {key!r}{nearest(key, kinds)}")
        if isinstance(value, str) and "\0" in value:
            raise ParameterError(f"the request: {key} is no name of a file: it has a NUL")
    if not request.get("result"):
        raise ParameterError("the request lacks 'result', the file to compare")
    if ("reference" in request) == ("name" in request):
        raise ParameterError("the request needs either 'reference', a file, or 'name', that of a reference")
    return {key: typed(kinds[key], value, f"the request: {key}") for key, value in request.items()}


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(json_values(value), allow_nan=False)
