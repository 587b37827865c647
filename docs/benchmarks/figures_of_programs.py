"""The table of the page that compares clpix with other programs and libraries, and what its chart shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from figures import Row, digits, markdown, rows_of, table


class Beside(NamedTuple):
    """One task: milliseconds of clpix and of another program, on the same device in the same run."""

    task: str
    device: str
    peer: str
    ms: float
    peer_ms: float

    @property
    def times(self) -> float:
        """How many times the other program's time is clpix's."""
        return self.peer_ms / self.ms


CPU = "2 cores"


def find(name: str, /, **values: object) -> Row:
    """The first row of a file that has these values."""
    return next(row for row in rows_of(name) if all(row.get(key) == value for key, value in values.items()))


def tasks() -> Iterator[Beside]:
    """All that is compared, in the order of the table."""
    for sigma in (2, 10, 100):
        row = find("blur-cpu", sigma=sigma)
        yield Beside(f"Gaussian, σ {sigma}, 3 × 4096²", CPU, "OpenCV", row["wall_ms"], row["OpenCV"]["ms"])
    for radius in (1, 3, 15):
        row = find("median-cpu", type="uint8", radius=radius)
        yield Beside(f"median, radius {radius}, 8 bits", CPU, "OpenCV", row["ms"], row["peer_ms"])
    row = find("bilateral-cpu", channels=3, win_size=9)
    yield Beside("bilateral, window 9, colour", CPU, "OpenCV", row["round"]["ms"], row["OpenCV"]["ms"])
    for to, filter in (([400, 300], "lanczos3"), ([2000, 1500], "lanczos3"), ([6000, 4500], "lanczos3")):
        row = find("resize-cpu", to=to, filter=filter)
        yield Beside(f"resize 4000 × 3000 to {to[0]} wide", CPU, "OpenCV", row["ms"], row["peer_ms"])
    for kind in ("c2c", "r2c"):
        row = find("fft-cpu", kind=kind, rows=4096)
        yield Beside(f"FFT {kind.upper()} 4096²", CPU, "scipy", row["clpix"]["ms"], row["scipy"]["ms"])
    row = find("dwt-cpu", wavelet="bior4.4", way="forward")
    yield Beside("wavelet 9/7, 5 levels, 4096²", CPU, "PyWavelets", row["call_ms"], row["peer_ms"])
    row = find("metrics-cpu", name="FLIP, 1920 × 1080")
    yield Beside("FLIP, 1920 × 1080", CPU, row["peer"], row["call_ms"], row["peer_ms"])
    for what in ("48 JPG", "48 PNG"):
        for peer in ("OpenCV", "vips"):
            rows = [find("batch-cpu", what=what, program=program) for program in ("clpix", peer)]
            yield Beside(f"batch: {what}, files included", CPU, peer, rows[0]["ms"], rows[1]["ms"])
    for command in ("resize, 0.4", "compare, max psnr", "info --stats"):
        rows = [find("large-cpu", command=command, program=program) for program in ("clpix", "vips")]
        yield Beside(f"larger than memory: {command}", CPU, "vips", 1000 * rows[0]["s"], 1000 * rows[1]["s"])
    for peer in ("idiff", "odiff"):
        rows = [find("regress-cpu", folder="photographs", program=program) for program in ("clpix", peer)]
        yield Beside("compare 40 pairs of files", CPU, peer, rows[0]["ms"], rows[1]["ms"])
    for sigma in (2, 10, 100):
        row = find("blur-h200", sigma=sigma)
        yield Beside(f"Gaussian, σ {sigma}, 3 × 4096²", "H200", "CuPy", row["wall_ms"], row["CuPy"]["ms"])
    for kind in ("c2c", "r2c"):
        row = find("fft-h200", kind=kind, case="4096×4096", planes=1)
        for peer in ("cuFFT", "VkFFT"):
            ms = row["clpix"]["stream_ms"]
            yield Beside(f"FFT {kind.upper()} 4096²", "H200", peer, ms, row[peer]["ms"])


@table
def programs() -> list[str]:
    """The table of the page."""
    titles = ["task", "on", "clpix, ms", "other", "its ms", "its time / clpix's"]
    rows = [
        [row.task, row.device, digits(row.ms), row.peer, digits(row.peer_ms), digits(row.times, 2)]
        for row in tasks()
    ]
    return markdown(titles, rows)


@table
def start_cpu() -> list[str]:
    """Small commands from their start to their end."""
    titles = ["process", "ms", "processors, ms", "least", "peak, MB"]
    rows = [
        [
            row["what"],
            digits(row["ms"]),
            digits(row["cpu_ms"]),
            digits(row["least_cpu_ms"]),
            digits(row["peak"] / 1e6),
        ]
        for row in rows_of("start-cpu")
    ]
    return markdown(titles, rows)
