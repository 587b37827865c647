"""What all measurements have: times of several runs, a table for a person, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from ..profile import Timed
from .report_formats import SCHEMA_VERSION, cells, device_context, versions

if TYPE_CHECKING:
    from ..gpu import Gpu


class Row(Timed):
    """A dataclass of measurements. JSON has the properties of :attr:`more` behind its fields."""

    more: ClassVar[tuple[str, ...]] = ("median_ms", "gbps")

    def plain(self) -> dict[str, Any]:
        """Returns the fields and the properties of :attr:`more` as plain values."""
        row: Any = self
        return {**asdict(row), **{name: getattr(row, name) for name in self.more}}


def heading(gpu: Gpu) -> str:
    """Returns the first line of a table: device and date."""
    info = gpu.info
    return f"{info.name} ({info.platform}, driver {info.driver})  ·  {versions()['date']}"


def table(gpu: Gpu, of: Mapping[str, Callable[[Any], str]], rows: Sequence[Any], *notes: str) -> str:
    """Returns rows as text for a person: the device, :func:`~.report_formats.cells`, and notes."""
    return "\n".join([heading(gpu), *cells(of, rows), *notes])


def to_json(gpu: Gpu, rows: Sequence[Any]) -> dict[str, Any]:
    """Returns rows, with the device and versions of the measurement, as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {**versions(), **device_context(gpu.info)},
        "measurements": [row.plain() for row in rows],
    }
