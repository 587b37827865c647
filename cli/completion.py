"""Completion for bash, zsh and fish, which Click's scripts ask for: options, choices, and the names below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    _resolve_context,
    _resolve_incomplete,
    add_completion_class,
)

from gpuops.ops import STEPS

# What stands between the names of a list.
_COMMA = ","


def _operators() -> Iterable[str]:
    from gpuops.params.operators import OPERATORS

    return OPERATORS


def _wavelets() -> Iterable[str]:
    from gpuops.params.dwt import WAVELET_SYNONYMS, WAVELETS

    return (*WAVELETS, *WAVELET_SYNONYMS)


def _modes() -> Iterable[str]:
    from gpuops.params.dwt import MODES

    return MODES


def _borders() -> Iterable[str]:
    from gpuops.params.border import BORDERS

    return BORDERS


def _formats() -> Iterable[str]:
    from gpuops import files

    return (extension[1:] for extension in files.EXTENSIONS)


def _devices() -> Iterator[str]:
    """Kinds, and the numbers of the devices that can be used."""
    from gpuops.device import list_devices

    yield from ("gpu", "cpu", "all")
    yield from (str(info.index) for info in list_devices() if info.usable)


def _commands() -> Iterable[str]:
    from .main import COMMANDS

    return (*COMMANDS, "options")


#: The names that a value may be, where its type does not list them, by parameters' names.
NAMES = {
    "border": _borders,
    "device": _devices,
    "exposure": lambda: ("auto",),
    "format": _formats,
    "jobs": lambda: ("auto",),
    "lut_input": lambda: ("srgb", "linear", "reinhard", "log2:"),
    "mode": _modes,
    "operator": _operators,
    "operators": _operators,
    "pad": lambda: ("none", "pow2", "fast"),
    "threshold": lambda: ("visu", "bayes"),
    "tonemap": _operators,
    "transfer": lambda: ("srgb", "gamma:", "pq", "linear"),
    "wavelet": _wavelets,
    "white_balance": lambda: ("none", "gray-world"),
    "words": _commands,
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

    def _more(self, args: list[str], incomplete: str) -> Iterator[CompletionItem[Any]]:
        """Completes the value of a parameter whose type lists none."""
        ctx = _resolve_context(self.cli, self.ctx_args, self.prog_name, args)
        param, incomplete = _resolve_incomplete(ctx, args, incomplete)
        if not isinstance(param, click.Parameter):
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


def register() -> None:
    """Makes Click complete by these classes."""
    for kind in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(type(kind.__name__, (_Completing, kind), {}), kind.name)
