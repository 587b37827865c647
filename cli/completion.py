"""Completion for bash, zsh and fish, which Click's scripts ask for: options, choices, and the names below."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any

import click
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
#: The names that a value may be, where neither its type nor what stands for it lists them, by parameters' names.
NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "border": _of("gpuops.params.border", "BORDERS"),
    "device": _devices,
    "format": lambda: (extension[1:] for extension in _of("gpuops.files", "EXTENSIONS")()),
    "mode": _of("gpuops.params.dwt", "MODES"),
    "operator": _OPERATORS,
    "operators": _OPERATORS,
    "threshold": lambda: ("visu", "bayes"),
    "tonemap": _OPERATORS,
    "wavelet": _of("gpuops.params.dwt", "WAVELETS", "WAVELET_SYNONYMS"),
}


def completed(param: click.Parameter, incomplete: str, *, files: bool) -> list[CompletionItem[Any]]:
    """Completes the value of a parameter: one of its names, or a list of these; or else the path of a file."""
    names = NAMES[param.name]() if param.name in NAMES else _written(param.metavar or "")
    if not names:
        return [CompletionItem(incomplete, type="file")] if files else []
    before, comma, last = incomplete.rpartition(_COMMA)
    matches = (one for one in names if one.lower().startswith(last.lower()))
    return [CompletionItem(f"{before}{comma}{one}") for one in matches]


def _written(metavar: str) -> list[str]:
    """Returns the words of what stands for a value, up to what stands for a part of it: ``srgb|gamma:G``."""
    parts = (re.match("[a-z][a-z0-9-]*:?", part) for part in metavar.split("|"))
    return [part[0] for part in parts if part] if "FILE" not in metavar else []


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
