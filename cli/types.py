"""The types of options' values that click itself does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from .messages import near

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class TextType(click.ParamType):  # type: ignore[type-arg]  # before click 8.2 types have no parameters
    """A parameter type for what ``read`` makes of a text. Shells complete the names that there are, or else files."""

    name = "text"

    def __init__(self, read: Callable[[str], Any] = str) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.read(str(value))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from .completion import completed

        return completed(param.name or "", incomplete, files=self.read is str)


class ChoiceType(click.Choice):  # type: ignore[type-arg]
    """A parameter type for one of several names, in upper or lower case."""

    def __init__(self, choices: Iterable[str]) -> None:
        super().__init__(list(choices), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = {name.lower(): name for name in self.choices}.get(str(value).lower())
        if found is None:
            close = near(str(value), self.choices)
            hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
            self.fail(f"there is no {value!r}: {hint}use one of {', '.join(self.choices)}", param, ctx)
        return found


class OutputOption(click.Option):
    """An option that names a further file to write, which is neither an input nor another output.

    It is one file, whatever the inputs are: its name has no fields.
    """

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Refuses fields of names."""
        if "{" in str(value):
            from .naming import FIELDS

            for field in FIELDS:
                if f"{{{field}}}" in value:
                    raise click.BadParameter(
                        f"{value} is one file for all inputs: leave out {{{field}}}", ctx, self
                    )
        return super().process_value(ctx, value)


def byte_size(text: str) -> int:
    """Reads a number of bytes, or of K, M, G or T bytes, powers of 1024."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMGT]?)(?:i?B)?", text, re.ASCII | re.IGNORECASE)
    number = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if not number:
        said = f"{text!r} is no size of memory: give bytes, or a number with K, M or G, such as 512M"
        raise click.BadParameter(said)
    return number


def job_count(text: str) -> int | None:
    """Reads how much is done at a time: a number, or ``auto``, which is None."""
    if text.lower() == "auto":
        return None
    if not re.fullmatch(r"[1-9]\d{0,4}", text, re.ASCII):
        raise click.BadParameter(f"{text!r} is neither 'auto' nor a number from 1 on")
    return int(text)


def picture_size(text: str) -> tuple[int, int]:
    """Reads a size, written as N or WIDTHxHEIGHT, as (width, height); the library decides which sizes there are."""
    match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", text, re.ASCII)
    if not match:
        raise click.BadParameter(f"{text!r} is no size: give N or WIDTHxHEIGHT, in pixels")
    return int(match[1]), int(match[2] or match[1])
