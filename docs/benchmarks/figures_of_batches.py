"""The tables of batches of files and of pictures that are larger than memory."""

from __future__ import annotations

from figures import NONE, Row, digits, markdown, rows_of, table


@table
def batch_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        cpu = digits(row["cpu_ms"]) if "cpu_ms" in row else NONE
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else NONE
        return [row["what"], row["program"], digits(row["ms"]), cpu, ratio]

    titles = ["files", "program", "ms", "processors, ms", "ms / (processors / 2)"]
    return markdown(titles, map(cells, rows_of("batch-cpu")))


@table
def small_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        what = f"{row['count']} {row['format'].upper()} of {row['side']} × {row['side']}"
        return [what, row["program"], digits(row["rate"]), digits(row["cpu_ms"] / row["count"])]

    return markdown(["files", "program", "files/s", "processors, ms each"], map(cells, rows_of("small-h200")))


@table
def batch_h100() -> list[str]:
    def cells(row: Row) -> list[str]:
        shares = (f"{row[key]:.2f}" if key in row else NONE for key in ("share", "share_with_start"))
        cpu = digits(row["cpu_ms"]) if "cpu_ms" in row else NONE
        return [row["what"], row["program"], digits(row["ms"]), cpu, digits(row["each_ms"]), *shares]

    titles = [
        "files", "program", "ms", "processors, ms", "ms for one more", "the codecs' part", "with the start"
    ]  # fmt: skip
    return markdown(titles, map(cells, rows_of("batch-h100")))


@table
def batch_h100x2() -> list[str]:
    def cells(row: Row) -> list[str]:
        times = (digits(row[key]) for key in ("ms", "cpu_ms", "each_ms"))
        return [row["what"], row["devices"], *times, f"{row['ratio']:.2f}"]

    titles = ["files", "devices", "ms", "processors, ms", "ms for one more", "beside one device"]
    return markdown(titles, map(cells, rows_of("batch-h100x2")))


@table
def large_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        peak, floor = (f"{row[key] / 1e6:.0f}" if key in row else NONE for key in ("peak", "floor"))
        cpu = digits(row["cpu_s"]) if "cpu_s" in row else NONE
        return [row["command"], row["program"], digits(row["s"]), cpu, peak, floor]

    titles = ["command", "program", "s", "processors, s", "peak, MB", "for 64 × 64, MB"]
    return markdown(titles, map(cells, rows_of("large-cpu")))


@table
def large_fft_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        peak, floor = (f"{row[key] / 1e6:.0f}" for key in ("peak", "floor"))
        return [row["command"], digits(row["s"]), digits(row["cpu_s"]), peak, floor]

    titles = ["command", "s", "processors, s", "peak, MB", "for 64 × 64, MB"]
    return markdown(titles, map(cells, rows_of("large-fft-cpu")))
