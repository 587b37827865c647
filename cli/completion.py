"""Completion for bash, zsh and fish, which Click's scripts ask for: options, choices, and the names below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from gpuops.ops import STEPS

# What stands between the names of a list.
_COMMA = ","


def _of(module: str, *tables: str) -> Callable[[], Iterable[str]]:
    """Returns what gives the names in tables of a module, which is imported then."""
    return lambda: chain.from_iterable(getattr(import_module(module), table) for table in tables)


def _devices() -> Iterator[str]:
    """Kinds, and the numbers of the devices that can be used."""
    from gpuops.device import list_devices

    yield from ("gpu", "cpu", "all")
    yield from (str(info.index) for info in list_devices() if info.usable)


_OPERATORS = _of("gpuops.params.operators", "OPERATORS")
#: The names that a value may be, where its type does not list them, by parameters' names.
NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "border": _of("gpuops.params.border", "BORDERS"),
    "device": _devices,
    "exposure": lambda: ("auto",),
    "format": lambda: (extension[1:] for extension in _of("gpuops.files", "EXTENSIONS")()),
    "jobs": lambda: ("auto",),
    "lut_input": lambda: ("srgb", "linear", "reinhard", "log2:"),
    "mode": _of("gpuops.params.dwt", "MODES"),
    "operator": _OPERATORS,
    "operators": _OPERATORS,
    "pad": lambda: ("none", "pow2", "fast"),
    "threshold": lambda: ("visu", "bayes"),
    "tonemap": _OPERATORS,
    "transfer": lambda: ("srgb", "gamma:", "pq", "linear"),
    "wavelet": _of("gpuops.params.dwt", "WAVELETS", "WAVELET_SYNONYMS"),
    "white_balance": lambda: ("none", "gray-world"),
}


def completed(name: str, incomplete: str, *, files: bool) -> list[CompletionItem[Any]]:
    """Completes the value of a parameter: one of its :data:`NAMES`, or a list of these; or else the path of a file."""
    if (names := NAMES.get(name)) is None:
        return [CompletionItem(incomplete, type="file")] if files else []
    before, comma, last = incomplete.rpartition(_COMMA)
    found = (one for one in names() if one.lower().startswith(last.lower()))
    return [CompletionItem(f"{before}{comma}{one}") for one in found]


class _Completing(ShellComplete):
    """Completes the later parts of chains as commands of their own."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        if "then" in args:
            args = args[len(args) - args[::-1].index("then") :]
            if not args:
                steps = (item for item in STEPS.items() if item[0].startswith(incomplete))
                return [CompletionItem(name, help=text) for name, text in steps]
        return super().get_completions(args, incomplete)


def register() -> None:
    """Makes Click complete by these classes."""
    for kind in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(type(kind.__name__, (_Completing, kind), {}), kind.name)
