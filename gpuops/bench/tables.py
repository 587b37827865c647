"""What all measurements have: times of several runs, a table for a person, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from .report_formats import SCHEMA_VERSION, columns, device_context, versions

if TYPE_CHECKING:
    from ..gpu import Gpu


class Timed:
    """A dataclass that has ``ms`` of several runs, in each of which it moves ``model_bytes`` by the library's model."""

    ms: tuple[float, ...]
    model_bytes: int
    #: The properties that JSON has behind the fields.
    more: ClassVar[tuple[str, ...]] = ("median_ms", "gbps")

    @property
    def median_ms(self) -> float:
        return median(self.ms)

    @property
    def gbps(self) -> float | None:
        """10⁹ model bytes a second at the median time; None where the device's clock cannot tell."""
        return self.model_bytes / self.median_ms / 1e6 if self.model_bytes and self.median_ms > 0 else None

    def plain(self) -> dict[str, Any]:
        """Returns the fields and the properties of :attr:`more` as plain values."""
        row: Any = self
        return {**asdict(row), **{name: getattr(row, name) for name in self.more}}


def cell(value: float | None, digits: int = 1, *, per: float = 1.0) -> str:
    """Returns a table's cell for ``value`` over ``per``; a dash for None."""
    return "-" if value is None else f"{value / per:.{digits}f}"


def heading(gpu: Gpu) -> str:
    """Returns the first line of a table: device and date."""
    info = gpu.info
    return f"{info.name} ({info.platform}, driver {info.driver})  ·  {versions()['date']}"


def lines(cells: Mapping[str, Callable[[Any], str]], rows: Iterable[Any]) -> list[str]:
    """Returns the lines of a table that has a column for each of ``cells``, by its heading."""
    return columns(tuple(cells), [[cell(row) for cell in cells.values()] for row in rows])


def table(gpu: Gpu, cells: Mapping[str, Callable[[Any], str]], rows: Sequence[Any], *notes: str) -> str:
    """Returns rows as text for a person: the device, such :func:`lines`, and notes."""
    return "\n".join([heading(gpu), *lines(cells, rows), *notes])


def to_json(gpu: Gpu, rows: Sequence[Any]) -> dict[str, Any]:
    """Returns rows, with the device and versions of the measurement, as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {**versions(), **device_context(gpu.info)},
        "measurements": [row.plain() for row in rows],
    }
