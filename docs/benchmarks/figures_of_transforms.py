"""Tables of Fourier and wavelet transforms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean, median

from figures import NONE, Row, digits, markdown, rows_of, table

# -- wavelets --------------------------------------------------------------------------------------------------


def pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Neighbours: forward and inverse."""
    return zip(rows[::2], rows[1::2], strict=True)


def wavelets(name: str) -> list[str]:
    def cells(pair: tuple[Row, Row]) -> list[str]:
        there, back = pair
        mode = "" if there["mode"] == "mirror" else f" {there['mode']}"
        peer = there["peer_ms"]
        return [
            f"{there['wavelet']}{mode}, {there['size']}², {there['levels']}, {there['method']}",
            *(text for row in pair for text in (digits(row["gpixels"]), f"{row['of_copy']:.2f}")),
            f"{there['call_ms']:.2f}",
            f"{100 * there['aside']:.1f} %",
            f"{len(there['launches'])}, {len(back['launches'])}",
            digits(there["size"] ** 2 / peer / 1e6) if peer else NONE,
        ]

    titles = ["wavelet, size, levels, method", "forward", "of copy", "inverse", "of copy", "call", "aside"]
    return markdown([*titles, "launches", "peer"], map(cells, pairs(rows_of(name))))


@table
def dwt_h200() -> list[str]:
    return wavelets("dwt-h200")


@table
def dwt_cpu() -> list[str]:
    return wavelets("dwt-cpu")


@table
def dwt_split_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        pixels = row["width"] * row["height"]
        slabs = [row["slabs_median_ms"][how] for how in ("one after the other", "overlapped")]
        whole = (
            f"{NONE} (split)"
            if row["split"]
            else f"{pixels / row['wall_median_ms']['host → host'] / 1e6:.2f}"
        )
        speeds = [f"{pixels / ms / 1e6:.2f}" for ms in slabs]
        return [row["variant"], f"{row['width']}²", whole, *speeds, f"{slabs[0] / slabs[1]:.2f}"]

    rows = [row for row in rows_of("dwt-bench-h200") if row["slabs_median_ms"]]
    rows.sort(key=lambda row: -row["width"])
    titles = [
        "method",
        "size",
        "whole, pageable memory",
        "slabs, one after the other",
        "slabs, overlapped",
        "gain",
    ]
    return markdown(titles, map(cells, rows))


# -- Fourier transforms ----------------------------------------------------------------------------------------

KINDS = {"c2c": "C2C", "r2c": "R2C", "c2r": "C2R", "convolve": "convolution"}


@table
def fft_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        own = row["clpix"]
        peers = [row.get(name, {}).get("ms") for name in ("cuFFT", "VkFFT")]
        us = [f"{1e3 * ms:.1f}" if ms else NONE for ms in (own["stream_ms"], own["ms"], *peers)]
        ratios = [f"{own['stream_ms'] / ms:.2f}" if ms else NONE for ms in peers]
        size = row["case"].replace("×", " × ") + (" of bytes" if row["group"] == "bytes" else "")
        return [KINDS[row["kind"]], size, *us, *ratios]

    titles = ["", "size", "stream", "events", "cuFFT", "VkFFT", "× cuFFT", "× VkFFT"]
    return markdown(titles, map(cells, rows_of("fft-h200")))


def fft_means(name: str, groups: dict[str, str]) -> list[str]:
    rows = rows_of(name)

    def ratio(chosen: Sequence[Row], peer: str) -> str:
        times = [(row["clpix"]["stream_ms"], row.get(peer, {}).get("ms")) for row in chosen]
        found = [own / theirs for own, theirs in times if theirs]
        return f"{geometric_mean(found):.2f} ({max(found):.1f})" if found else NONE

    def cells(key: tuple[str, str]) -> list[str]:
        kind, group = key
        chosen = [row for row in rows if (row["kind"], row["group"]) == key]
        return [f"{KINDS[kind]}{groups[group]}", *(ratio(chosen, peer) for peer in ("cuFFT", "VkFFT"))]

    keys = dict.fromkeys((row["kind"], row["group"]) for row in rows)
    return markdown(["geometric mean (largest)", "× cuFFT", "× VkFFT"], map(cells, keys))


@table
def fft_means_h200() -> list[str]:
    names = {"photo": ", photographs' sizes", "planes": ", three planes", "bytes": ", three planes of bytes"}
    return fft_means("fft-h200", dict.fromkeys(KINDS, "") | names)


@table
def fft_sizes_h200() -> list[str]:
    return fft_means("fft-sizes-h200", {"sizes": ", any sizes"})


@table
def fft_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        times = [row[name]["ms"] for name in ("clpix", "scipy")]
        size = row["case"].replace("×", " × ")
        return [KINDS[row["kind"]], size, *(f"{ms:.1f}" for ms in times), f"{times[0] / times[1]:.2f}"]

    return markdown(["", "size", "clpix ms", "scipy ms", "ratio"], map(cells, rows_of("fft-cpu")))


@table
def fft_accuracy() -> list[str]:
    def largest_prime(n: int) -> int:
        prime = 1
        for divisor in range(2, n + 1):
            while n % divisor == 0:
                n, prime = n // divisor, divisor
        return prime

    body = []
    for device, name in (("H200", "fft-accuracy-h200"), ("PoCL", "fft-accuracy-cpu")):
        ratios: dict[bool, list[float]] = {True: [], False: []}
        for length, error, theirs, *_ in rows_of(name):
            if theirs:
                ratios[largest_prime(length) <= 13].append(error / theirs)
        for small, kind in ((True, "products of primes up to 13"), (False, "others")):
            found = ratios[small]
            body.append([device, kind, str(len(found)), f"{median(found):.2f}", f"{max(found):.2f}"])
    return markdown(["device", "lengths", "how many", "error over scipy's, median", "largest"], body)
