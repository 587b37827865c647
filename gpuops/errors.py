"""The library's errors: they have one base class, and each has a text of one line for the person."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

# The units of byte_count, each a thousand times the one before.
_UNITS = ("kB", "MB", "GB", "TB")
# Addresses within a text, a password in them, a token in place of a web server's user, and values of a query whose
# names say that they are secret.
_ADDRESS = re.compile(r"[\w+.-]+://\S+")
_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s]*@")
_TOKEN = re.compile(r"(https?://)[^/\s:@?#]+@")
_SECRET = re.compile(
    r"([?&;][^=&;]*(?:sig|token|secret|key|credential|passw|auth|pwd)[^=&;]*=)[^&;#'\"\s)]*", re.IGNORECASE
)


def masked(text: str) -> str:
    """Returns a text with ``***`` for passwords and tokens in addresses, and for keys and signatures in queries."""
    return _ADDRESS.sub(_masked, text) if "://" in text else text


def _masked(address: re.Match[str]) -> str:
    text = _TOKEN.sub(r"\1***@", _PASSWORD.sub(r"\1:***@", address[0]))
    return _SECRET.sub(r"\1***", text)


class GpuopsError(Exception):
    """Base of every error that a person can do something about; its text is one line that says what to do.

    The text has no secrets of addresses.
    """

    def __str__(self) -> str:
        return masked(super().__str__())


class ParameterError(GpuopsError, ValueError):
    """A parameter, or a combination of parameters, that has no meaning."""


class FileError(GpuopsError):
    """A file that could not be found, understood, or written."""


class DeviceError(GpuopsError):
    """No usable OpenCL device, or a device that cannot do what was asked."""


class DeviceMemoryError(DeviceError):
    """A device that has no room for what was asked.

    Attributes
    ----------
    needed : float
        Bytes that would have had to be in use, at least.
    room : str
        What the device has, in words: "12 MB are allowed".
    """

    def __init__(self, text: str, needed: float, room: str) -> None:
        super().__init__(text, needed, room)
        self.needed, self.room = needed, room

    def __str__(self) -> str:
        return str(self.args[0])


class ClusterError(GpuopsError):
    """A cluster that does not answer, or whose workers cannot do the work."""


class TooLongError(DeviceError):
    """Rows that a device's local memory cannot hold, where they cannot be transformed in several passes."""


class GpuopsWarning(UserWarning):
    """A warning of something that a person should know: a loss, a clipped value, a device passed over."""


def one_line(error: Exception) -> str:
    """Returns the text of another library's error in one line, or the error's name if it has no text."""
    return " ".join(str(error).split()) or type(error).__name__


def shortened(text: str) -> str:
    """Returns text of at most 500 characters: of a longer one the beginning, and the end with its advice."""
    return text if len(text) <= 500 else f"{text[:330]} … {text[-160:]}"


def visible(text: str) -> str:
    """Returns text without addresses' secrets, or characters that would change a terminal's colours or break a line."""
    text = masked(text)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def json_values(value: Any, odd: Callable[[float], object] = str) -> Any:
    """Returns a value as JSON can hold it: arrays are lists, named tuples and mappings tables, other types texts.

    ``odd``: what stands for NaN and infinities; by default the texts "nan", "inf" and "-inf".
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else odd(value)
    if hasattr(value, "tolist"):
        return json_values(value.tolist(), odd)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, (dict, Mapping)):
        return {str(key): json_values(item, odd) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(item, odd) for item in value]
    return str(value)


def json_text(value: object, indent: int | None = None) -> str:
    """Returns JSON of :func:`json_values` without addresses' secrets; characters that :func:`visible` would change are
    escaped."""
    import json

    text = masked(json.dumps(json_values(value), indent=indent, ensure_ascii=False))
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def are_allowed(nbytes: float) -> str:
    """Returns the words that memory is limited to so many bytes."""
    return f"{byte_count(nbytes)} are allowed"


def byte_count(nbytes: float, *, up: bool = False) -> str:
    """Returns bytes in words, such as "2.097 MB": up to four digits; ``up``: rounded up, so that as much is enough."""
    power = min(max(1, math.floor(math.log10(max(nbytes, 1)) / 3)), len(_UNITS))
    value = nbytes / 1000**power
    if up and value > 0:
        digits = 3 - math.floor(math.log10(value))
        value = math.ceil(value * 10.0**digits) / 10.0**digits
    return f"{value:.4g} {_UNITS[power - 1]}"


def meant(name: object, known: Iterable[object]) -> str:
    """Returns "did you mean 'NAME'? " with the known name most like ``name``, or "" where none is."""
    from difflib import get_close_matches

    word, names = str(name).lower(), list(map(str, known))
    near = get_close_matches(word, names, n=1, cutoff=0.7) or [one for one in names if word in one.split("-")]
    return f"did you mean {near[0]!r}? " if near else ""


def check_name(what: str, value: object, names: Collection[object]) -> None:
    """Raises ParameterError unless ``value`` is one of the names that there are of ``what``."""
    if value not in names:
        raise _unknown(what, value, names, names)


def standard_name(
    what: str, name: str, names: Collection[str], synonyms: Mapping[str, str], shown: Collection[str] = ()
) -> str:
    """Returns the standard form of a name of ``what``, in upper or lower case, or of its synonym.

    Raises ParameterError for an unknown one, with the nearest; ``shown``: the names to list, if these are not all.
    """
    key = str(name).lower()
    key = synonyms.get(key, key)
    if key not in names:
        raise _unknown(what, name, [*names, *synonyms], shown or names)
    return key


def _unknown(what: str, name: object, known: Collection[object], shown: Collection[object]) -> ParameterError:
    listed = ", ".join(map(str, shown))
    return ParameterError(f"unknown {what} {name!r}: {meant(name, known)}use one of {listed}")
