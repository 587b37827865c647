"""The file of ``clpix fft --profile``: the radial profiles of all inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpuops.fourier.radial import RadialProfile

HEADER = ("input", "colour", "radius", "frequency", "samples", "mean")


def check(path: str, *, overwrite: bool) -> None:
    """Refuses a file that cannot be written."""
    from gpuops.files.output import check_place

    if not path.lower().endswith(".csv"):
        raise click.UsageError(f"--profile writes a .csv file, not {path!r}")
    check_place(path, overwrite=overwrite)


def write(path: str, found: Iterable[tuple[str, RadialProfile]], *, overwrite: bool) -> None:
    """Writes the profile of each input."""
    import csv
    from io import StringIO

    from gpuops.files.output import write_text

    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    for source, profile in found:
        for colour, radius, frequency, samples, mean in profile.rows():
            rows.writerow((source, colour, radius, f"{frequency:.9g}", samples, f"{mean:.9g}"))
    write_text(path, text.getvalue(), overwrite=overwrite)
