"""A chain: the parameters of operations that follow each other, as one value. It is also a recipe, and a file of TOML.

look = Chain(BlurParams((2, 2)), TonemapParams("agx"))
result = gpu.run(look, image)
text = look.to_toml()
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from .errors import ParameterError
from .operation import Given, Operation, Params, operation_of
from .ops import STEPS, operation
from .params.toml import Lines, loads, nearest

#: The version of the notation that :meth:`Chain.to_toml` writes, and the newest that can be read.
SCHEMA = 1

# The kinds of operations of which a row of the result depends on rows around.
_OF_ROWS = ("pointwise", "local", "geometry")


class Chain(tuple[Params, ...]):
    """Operations in the order in which they are done: immutable, hashable and picklable.

    Raises ParameterError if there is no step, or one that is no operation's parameters.
    """

    __slots__ = ()

    def __new__(cls, *steps: Params) -> Chain:
        if not steps:
            raise ParameterError("a chain has at least one step")
        for step in steps:
            if not isinstance(step, Params):
                raise ParameterError(f"a chain's steps are parameters such as BlurParams(…), not {step!r}")
        return super().__new__(cls, steps)

    def __getnewargs__(self) -> tuple[Params, ...]:
        return self.steps

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self))})"

    @property
    def steps(self) -> tuple[Params, ...]:
        """The parameters of each step."""
        return tuple(self)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The record of each step's operation."""
        return tuple(map(operation_of, self.steps))

    @property
    def digest(self) -> str:
        """A SHA-256 digest of what the chain does: order, comments and spelled out defaults do not change it."""
        import hashlib

        return hashlib.sha256(self.to_toml().encode()).hexdigest()

    @property
    def takes_rows_once(self) -> bool:
        """Whether rows may be worked on as they come, a single time, as far as it is known without a device."""
        return all(map(_takes_rows_once, self.operations, self.steps))

    def to_toml(self) -> str:
        """Returns the recipe. Raises ParameterError for what no recipe can hold, such as a table in memory."""
        lines = [f"schema = {SCHEMA}"]
        for params in self.steps:
            record, written = operation_of(params), params.written()
            lines += ["", "[[step]]", f"op = {_toml(record.name)}"]
            lines += [f"{name} = {_toml(value)}" for name, value in written.items()]
            if type(params).of_options(Given(written)) != params:
                raise ParameterError(f"parameters of {record.name} that have no effect together: {params}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "the recipe", folder: str = "", changes: Sequence[str] = ()
    ) -> Chain:
        """Makes a chain of a recipe's text.

        Parameters
        ----------
        name : str
            What messages call the recipe.
        folder : str
            The folder that files named in it are relative to.
        changes : sequence of str
            ``STEP.KEY=VALUE``, each in place of what the recipe says; STEP is an operation's name, with ``[N]`` behind
            it, counted from 0, where it occurs several times.

        Raises
        ------
        ParameterError
            Text that is no recipe, or of a newer version; an unknown step or key; a value that is wrong. It names the
            line.
        """
        steps, lines = _steps(text, name), Lines(text, name, "step")
        for change in changes:
            _change(steps, change)
        return cls(*(_params(values, lines, place, folder) for place, values in enumerate(steps)))


def _takes_rows_once(record: Operation, params: Params) -> bool:
    if record.identity(params):
        return True
    kind, measures = record.traits_of(params).kind, record.measure is not Operation.measure
    return record.turn is None and (kind in _OF_ROWS or (kind == "grid" and not measures))


def _steps(text: str, name: str) -> list[dict[str, Any]]:
    recipe = loads(text, name, SCHEMA, "recipe")
    steps = recipe.pop("step", None)
    if recipe:
        raise ParameterError(f"{name}: unknown key {next(iter(recipe))!r}; there are schema and [[step]]")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise ParameterError(f"{name}: has no [[step]]")
    return steps


def _params(values: dict[str, Any], lines: Lines, place: int, folder: str) -> Params:
    """Makes the parameters of one step; ``place``: its number in the recipe."""
    where = lines.of_entry(place)
    if "op" not in values:
        raise ParameterError(f"{where}the step has no 'op'")
    given = dict(values)
    op = given.pop("op")
    if not isinstance(op, str) or op not in STEPS:
        raise ParameterError(f"{where}unknown step {op!r}{nearest(str(op), STEPS)}")
    params = operation(op).params
    known = {option.name: option for option in params.options()}
    for key, value in given.items():
        line = lines.of_entry(place, key)
        if key not in known:
            raise ParameterError(f"{line}{op} has no key {key!r}{nearest(key, known)}")
        fitting = known[key].type is bool, isinstance(value, bool)
        if fitting[0] != fitting[1]:
            raise ParameterError(f"{line}{key} is {'true or false' if fitting[0] else 'not true or false'}")
        if known[key].type in (int, float) and not isinstance(value, int | float):
            raise ParameterError(f"{line}{key} is a number, not {value!r}")
        if known[key].multiple and known[key].metavar == "IMAGE" and not isinstance(value, list):
            raise ParameterError(f"{line}{key} is a list of files, not {value!r}")
        if known[key].metavar in ("IMAGE", "FILE"):
            given[key] = _relative(value, folder)
        elif known[key].metavar == "CONFIG" and (Path(folder) / str(value)).is_file():
            given[key] = _relative(value, folder)  # else it is a built-in one
    missing = [option.name for option in known.values() if option.required and option.name not in given]
    if missing:
        raise ParameterError(f"{where}{op} needs the key {missing[0]!r}")
    try:
        return params.of_options(Given(given, lambda option: option))
    except ParameterError as error:
        # Of the keys that the message names the last one is wrong; others may be what makes it useless.
        named = [word.replace("-", "_") for word in re.findall(r"[\w-]+", str(error))]
        wrong = next((word for word in reversed(named) if word in given), None)
        raise ParameterError(f"{lines.of_entry(place, wrong)}{error}") from None


def _relative(value: Any, folder: str) -> Any:
    if isinstance(value, list):
        return [_relative(one, folder) for one in value]
    if isinstance(value, Mapping) and "path" in value:
        return {**value, "path": str(Path(folder) / str(value["path"]))}
    return str(Path(folder) / value) if isinstance(value, str) else value


def _change(steps: list[dict[str, Any]], change: str) -> None:
    """Does one ``STEP.KEY=VALUE``."""
    match = re.fullmatch(r"([\w-]+)(?:\[(\d+)\])?\.([\w-]+)=(.*)", change, re.DOTALL)
    if match is None:
        raise ParameterError(f"--set is STEP.KEY=VALUE, such as blur.sigma=3, not {change!r}")
    op, number, key, value = match[1], match[2], match[3].replace("-", "_"), match[4]
    there = [step for step in steps if step.get("op") == op]
    if not there:
        names = dict.fromkeys(str(step.get("op")) for step in steps)
        raise ParameterError(f"--set {change}: there is no step {op!r}{nearest(op, names)}")
    if number is None and len(there) > 1:
        raise ParameterError(
            f"--set {change}: there are {len(there)} steps {op}: write {op}[0] to {op}[{len(there) - 1}]"
        )
    if int(number or 0) >= len(there):
        raise ParameterError(f"--set {change}: there is no {op}[{number}]: there are {len(there)}")
    known = {option.name: option for option in operation(op).params.options()} if op in STEPS else {}
    if key not in known:
        raise ParameterError(f"--set {change}: {op} has no key {key!r}{nearest(key, known)}")
    there[int(number or 0)][key] = _value(value, known[key].type, change)


def _value(text: str, kind: Any, change: str) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ParameterError(f"--set {change}: is true or false")
        return text == "true"
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise ParameterError(f"--set {change}: {text!r} is no number") from None
    return text


def _toml(value: Any) -> str:
    """Returns a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not isfinite(value):
        raise ParameterError("a recipe holds finite numbers")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    escaped = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in str(value))
    return f'"{escaped}"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
