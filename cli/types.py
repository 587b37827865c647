"""The types of options' values that click itself does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .messages import near

if TYPE_CHECKING:  # before click 8.2 types have no parameters
    _OneOf = click.Choice[str]
    TextType = click.ParamType[str]
    BytesType = click.ParamType[int]
    SizeType = click.ParamType[tuple[int, int]]
else:
    _OneOf = click.Choice
    TextType = BytesType = SizeType = click.ParamType


class ChoiceType(_OneOf):
    """A parameter type for one of several names, in upper or lower case."""

    def __init__(self, choices: Iterable[str]) -> None:
        super().__init__(list(choices), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
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


class Word(TextType):
    """A parameter type for a name, perhaps with numbers, such as gamma:2.2; in upper or lower case."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).lower()


class Bytes(BytesType):
    """A parameter type for a number of bytes, or of K, M, G or T bytes, powers of 1024."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(
            r"(\d{1,12}(?:\.\d{1,6})?)([KMGT]?)(?:i?B)?", str(value), re.ASCII | re.IGNORECASE
        )
        number = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
        if not number:
            self.fail(f"{value!r} is no size of memory: give bytes, or a number with K, M or G, such as 512M")
        return number


class Jobs(BytesType):
    """A parameter type for how much is done at a time: a number, or ``auto``, which is None."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).lower() == "auto":
            return None
        if not re.fullmatch(r"[1-9]\d{0,4}", str(value), re.ASCII):
            self.fail(f"{value!r} is neither 'auto' nor a number from 1 on")
        return int(value)
