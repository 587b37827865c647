"""A suite in TOML: cases with what makes their pictures, and the thresholds within which these pass.

    schema = 1
    references = "references"

    [defaults]
    max-flip = 0.01

    [thresholds."noise/*"]
    min-ssim = 0.9

    [[case]]
    name = "glow"
    chain = "blur --sigma 2 then bloom --strength 0.3"
    inputs = ["courtyard.exr"]
    outputs = ["glow.png"]
    tags = ["quick"]
    timeout = 20
    thresholds = {max-de2000 = 2.3}

A case has one of ``command``, any program with its arguments, ``chain``, operations of clpix as on its command line,
or ``recipe``, a file that ``clpix run`` takes. In a command ``{inputs}``, ``{input}``, ``{output}`` and ``{out}``, the
folder of the results, are replaced.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import ParameterError
from ..params.files import read_text
from ..params.thresholds import Thresholds
from ..params.toml import Lines, loads, nearest
from ..records import dataclass

# The newest version of the notation that can be read.
SCHEMA = 1
# What makes a case's pictures.
_MAKERS = ("command", "chain", "recipe")
# The keys of a suite, and of a case.
_SUITE = ("references", "defaults", "thresholds", "case")
_CASE = ("name", *_MAKERS, "inputs", "outputs", "tags", "timeout", "thresholds")
# Seconds that a case may take unless it states a limit, and those that it may state.
_TIMEOUT, _LONGEST = 300.0, 1_000_000


@dataclass(frozen=True)
class Case:
    """What makes one or several pictures.

    ``arguments`` is the program's command line, in which ``{out}`` stands for the folder of the results.
    """

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    timeout: float = _TIMEOUT
    thresholds: Thresholds = field(default_factory=Thresholds)

    def command(self, out: str) -> tuple[str, ...]:
        """Returns the command line for results in the folder ``out``."""
        return tuple(argument.replace("{out}", out) for argument in self.arguments)


@dataclass(frozen=True)
class Suite:
    """The cases of a manifest, in its order. ``folder`` is where the manifest is: commands run there."""

    folder: Path
    references: str
    cases: tuple[Case, ...]
    defaults: Thresholds = field(default_factory=Thresholds)
    patterns: Mapping[str, Thresholds] = field(default_factory=dict)

    def thresholds(self, case: Case, output: str) -> Thresholds:
        """Returns an output's thresholds: the case's, over those of patterns that it matches, over the defaults."""
        return case.thresholds.over(of_patterns(self.patterns, self.defaults, output))


def of_patterns(patterns: Mapping[str, Thresholds], defaults: Thresholds, name: str) -> Thresholds:
    """Returns the defaults, and over them the thresholds of each pattern that ``name`` matches, in their order."""
    limits = defaults
    for pattern, thresholds in patterns.items():
        if fnmatchcase(name, pattern):
            limits = thresholds.over(limits)
    return limits


def select(cases: Iterable[Case], names: Iterable[str] = (), tags: Iterable[str] = ()) -> list[Case]:
    """Returns the cases of which the name matches a pattern and which have one of the tags.

    Raises ParameterError for a pattern or a tag that no case has.
    """
    cases, tags = list(cases), tuple(tags)
    known = {tag for case in cases for tag in case.tags}
    for tag in tags:
        if tag not in known:
            raise ParameterError(f"no case has the tag {tag!r}{nearest(tag, known)}")
    wanted = matching([case.name for case in cases], names, "no case is called")
    return [case for case in cases if case.name in wanted and (not tags or {*tags} & {*case.tags})]


def matching(known: Iterable[str], patterns: Iterable[str], none: str) -> list[str]:
    """Returns the names that match a pattern, or all if there are no patterns.

    Raises ParameterError for a pattern that none matches, which begins with ``none``.
    """
    known, patterns = list(known), tuple(patterns)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ParameterError(f"{none} {pattern!r}{nearest(pattern, known)}")
    return [name for name in known if not patterns or any(fnmatchcase(name, one) for one in patterns)]


def load(path: str) -> Suite:
    """Reads a suite. Raises ParameterError with the line of what is wrong, and the nearest name of a typo."""
    return parse(read_text(path, "suite"), path)


def parse(text: str, path: str = "suite.toml") -> Suite:
    """Returns the suite that a text says; ``path`` is its file, for messages and for names in it."""
    suite = loads(text, path, SCHEMA, "suite")
    lines = Lines(text, path, "case")
    _check_keys(suite, _SUITE, lines.of)
    entries = suite.get("case", [])
    if not isinstance(entries, list) or not entries:
        raise ParameterError(f"{path}: has no [[case]]")
    tables = suite.get("thresholds", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ParameterError(f'{lines.of("thresholds")}thresholds are tables such as [thresholds."noise/*"]')
    cases = tuple(_case(entry, lines, number) for number, entry in enumerate(entries))
    _check_outputs(cases, lines)
    references = suite.get("references", "references")
    if not isinstance(references, str):
        raise ParameterError(f"{lines.of('references')}references must name a folder or an index")
    folder = Path(path).parent
    references = references if "://" in references else str(folder / references)
    defaults = _thresholds(suite.get("defaults", {}), "[defaults]", lines)
    patterns = {name: _thresholds(table, f"[thresholds.{name}]", lines) for name, table in tables.items()}
    return Suite(folder, references, cases, defaults, patterns)


def _case(entry: dict[str, Any], lines: Lines, number: int) -> Case:
    where = lines.of_entry(number)
    _check_keys(entry, _CASE, lambda key: lines.of_entry(number, key))
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ParameterError(f"{where}a case needs a name")
    where = f"{where}case {name!r}: "
    makers = [key for key in _MAKERS if key in entry]
    if len(makers) != 1:
        raise ParameterError(f"{where}give one of {', '.join(_MAKERS)}")
    inputs, outputs, tags = (_strings(entry, key, where) for key in ("inputs", "outputs", "tags"))
    outputs = outputs or (f"{name}.png",)
    for output in outputs:
        if PurePosixPath(output).is_absolute() or ".." in PurePosixPath(output).parts:
            raise ParameterError(f"{where}the output {output!r} must be inside the folder of results")
    timeout = entry.get("timeout", _TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= _LONGEST:
        raise ParameterError(f"{where}timeout must be 0 … {_LONGEST} seconds, and above 0, not {timeout!r}")
    table = entry.get("thresholds", {})
    if not isinstance(table, dict):
        raise ParameterError(f"{where}thresholds must be a table such as {{max-flip = 0.01}}")
    arguments = _arguments(makers[0], entry[makers[0]], inputs, outputs, where)
    thresholds = Thresholds.of(table, where)
    return Case(name, arguments, outputs, inputs, tags, float(timeout), thresholds)


def _check_keys(table: Iterable[str], known: Sequence[str], line_of: Callable[[str], str]) -> None:
    for key in table:
        if key not in known:
            raise ParameterError(f"{line_of(key)}unknown key {key!r}{nearest(key, known)}")


def _arguments(
    maker: str, value: object, inputs: tuple[str, ...], outputs: tuple[str, ...], where: str
) -> tuple[str, ...]:
    """Returns the command line of a case."""
    if isinstance(value, str) and value.strip():
        try:
            words = shlex.split(value) if maker != "recipe" else [value]
        except ValueError as error:
            raise ParameterError(f"{where}{maker}: {error}") from None
    elif maker != "recipe" and isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        words = value
    else:
        raise ParameterError(f"{where}{maker} must be a text{' or a list of texts' * (maker != 'recipe')}")
    target = f"{{out}}/{outputs[0]}"
    if maker == "recipe":
        return ("clpix", "run", words[0], *inputs, "-o", target, "--overwrite")
    if maker == "chain":
        return ("clpix", words[0], *inputs, *words[1:], "-o", target, "--overwrite")
    placed: list[str] = []
    for word in words:
        if word == "{inputs}":
            placed.extend(inputs)
            continue
        if "{input}" in word and not inputs:
            raise ParameterError(f"{where}the command has {{input}}, and the case has no inputs")
        placed.append(word.replace("{input}", inputs[0] if inputs else "").replace("{output}", target))
    if not any("{out}" in word for word in placed):
        raise ParameterError(f"{where}the command needs {{output}}, or {{out}} for the folder of results")
    return tuple(placed)


def _thresholds(table: object, name: str, lines: Lines) -> Thresholds:
    if not isinstance(table, dict):
        raise ParameterError(f"{lines.of(name)}{name} must be a table")
    for key, value in table.items():
        Thresholds.of({key: value}, lines.of(key))
    return Thresholds.of(table, f"{name}: ")


def _strings(entry: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ParameterError(f"{where}{key} must be a list of texts")
    return tuple(value)


def _check_outputs(cases: tuple[Case, ...], lines: Lines) -> None:
    names: set[str] = set()
    makers: dict[str, str] = {}
    for number, case in enumerate(cases):
        where = lines.of_entry(number)
        if case.name in names:
            raise ParameterError(f"{where}there are two cases called {case.name!r}")
        names.add(case.name)
        for output in case.outputs:
            if output in makers:
                both = f"{makers[output]!r} and {case.name!r}"
                raise ParameterError(f"{where}cases {both} have the same output {output!r}")
            makers[output] = case.name
