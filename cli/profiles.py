"""The file of ``clpix fft --profile``: the radial profiles of all inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpuops.fourier.radial import RadialProfile

HEADER = ("input", "colour", "radius", "frequency", "samples", "mean")


@contextmanager
def written(path: str | None, *, overwrite: bool) -> Iterator[Callable[[str, RadialProfile], None]]:
    """Gives a function that keeps an input's profile, and writes what it was given to ``path``, if there is one; also
    when some inputs failed."""
    rows: list[tuple[str | int, ...]] = []

    def keep(source: str, profile: RadialProfile) -> None:
        rows.extend(
            (source, colour, radius, f"{frequency:.9g}", samples, f"{mean:.9g}")
            for colour, radius, frequency, samples, mean in profile.rows()
        )

    if path is None:
        yield keep
        return
    import csv
    from io import StringIO

    from gpuops.files.output import check_place, write_text

    if not path.lower().endswith(".csv"):
        raise click.UsageError(f"--profile writes a .csv file, not {path!r}")
    check_place(path, overwrite=overwrite)
    try:
        yield keep
    finally:
        if rows:
            text = StringIO()
            csv.writer(text, lineterminator="\n").writerows([HEADER, *rows])
            write_text(path, text.getvalue(), overwrite=overwrite)
