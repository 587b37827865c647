"""Completion for bash, zsh and fish, which Click's scripts ask for: options, choices, and the names below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class _Completing(ShellComplete):
    """Completes what Click's own classes leave out: later parts of chains, names, and files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        if "then" in args:
            args = args[len(args) - args[::-1].index("then") :]
            if not args:
                return [
                    CompletionItem(name, help=text)
                    for name, text in STEPS.items()
                    if name.startswith(incomplete)
                ]
        found = super().get_completions(args, incomplete)
        return found or list(self._more(args, incomplete))

    def _more(self, args: Sequence[str], incomplete: str) -> Iterator[CompletionItem[Any]]:
        """Completes the value of a parameter whose type lists none."""
        if incomplete == "=":  # as some shells split --option=value
            incomplete = ""
        elif incomplete.startswith("--") and "=" in incomplete:
            name, _, incomplete = incomplete.partition("=")
            args = (*args, name)
        elif incomplete.startswith("-"):
            return
        param = _parameter(self._command(args), args[-1] if args else "")
        if param is None:
            return
        if (names := NAMES.get(param.name or "")) is not None and not isinstance(
            param.type, click.types.FloatParamType
        ):
            before, comma, last = incomplete.rpartition(_COMMA)
            for name in names():
                if name.lower().startswith(last.lower()):
                    yield CompletionItem(f"{before}{comma}{name}")
        elif isinstance(param.type, click.types.StringParamType):
            yield CompletionItem(incomplete, type="file")

    def _command(self, words: Sequence[str]) -> click.Command | None:
        """Returns the command that words call."""
        ctx, command = click.Context(self.cli, resilient_parsing=True), self.cli
        for word in words:
            if not isinstance(command, click.Group):
                break
            if (below := command.get_command(ctx, word)) is None:
                return None
            command = below
        return command


def _parameter(command: click.Command | None, last: str) -> click.Parameter | None:
    """Returns the option whose value stands behind the ``last`` word, or else the argument."""
    if command is None:
        return None
    for param in command.params:
        if isinstance(param, click.Option) and last in param.opts and not (param.is_flag or param.count):
            return param
    return next((param for param in command.params[::-1] if isinstance(param, click.Argument)), None)


def register() -> None:
    """Makes Click complete by these classes."""
    for kind in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(type(kind.__name__, (_Completing, kind), {}), kind.name)
