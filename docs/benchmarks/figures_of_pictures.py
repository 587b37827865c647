"""Tables of commands, filters, tone mapping, and of what `clpix bench` printed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from figures import HERE, NONE, TABLES, Row, digits, load, markdown, rows_of, table

# -- bench and commands ----------------------------------------------------------------------------------------


@table
def copy_h200() -> list[str]:
    rows = rows_of("copy-h200")
    sizes = sorted({row["mib"] for row in rows})
    found = {(row["what"], row["mib"]): digits(row["gbps"]) for row in rows}
    names = dict.fromkeys(row["what"] for row in rows)
    body = [[name, *(found.get((name, size), NONE) for size in sizes)] for name in names]
    return markdown(["GB/s", *(f"{size} MiB" for size in sizes)], body)


@table
def commands_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        total = row["totals"]
        host, device = (f"{total[f'peak_{where}_bytes'] / 1e6:.0f}" for where in ("host", "device"))
        return [row["command"], f"{total['wall_ms']:.0f}", f"{total['kernels_ms']:.2f}", host, device]

    titles = ["command", "wall ms", "kernels ms", "host MB", "device MB"]
    return markdown(titles, map(cells, rows_of("commands-h200")))


@table
def host_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        if "us" in row:
            return [row["what"], f"{row['us']:.0f} µs", f"{row['thread_us']:.0f} µs", "", ""]
        ratio = f"{row['ms'] / row['beside_ms']:.2f}"
        return [row["what"], f"{row['ms']:.0f} ms", "", f"{row['beside']}: {row['beside_ms']:.0f} ms", ratio]

    return markdown(["what", "until then", "not waiting", "beside", "ratio"], map(cells, rows_of("host-cpu")))


@table
def layers_cpu() -> list[str]:
    rows = {(row["move"], row["program"]): row for row in rows_of("layers-cpu")}
    body = []
    for move in dict.fromkeys(move for move, _ in rows):
        ours, theirs = rows[move, "clpix"], rows[move, "oiiotool"]
        sizes = f"{ours['mb']:.0f} / {theirs['mb']:.0f}"
        body.append(
            [move, f"{ours['ms']:.0f}", f"{theirs['ms']:.0f}", f"{ours['ms'] / theirs['ms']:.2f}", sizes]
        )
    return markdown(["move", "clpix ms", "oiiotool ms", "ratio", "MB written"], body)


# -- filters ---------------------------------------------------------------------------------------------------


def blurs(name: str, peer: str, ratio: bool) -> list[str]:
    def cells(row: Row) -> list[str]:
        theirs = row.get(peer, {})
        ms = theirs.get("ms")
        return [
            f"{row['sigma']:g}",
            digits(row["ms"]),
            digits(row["pixels_ms"]),
            digits(row["wall_ms"]),
            digits(ms),
            *([digits(row["wall_ms"] / ms, 2) if ms else NONE] if ratio else []),
            f"{1e6 * row['error']:.1f}",
            f"{1e6 * theirs['error']:.1f}" if theirs.get("error") is not None else NONE,
        ]

    titles = ["σ", "ms", "8 bits, ms", "call, ms", f"{peer} ms", *(["ratio"] if ratio else [])]
    return markdown([*titles, "clpix error", f"{peer} error"], map(cells, rows_of(name)))


@table
def blur_h200() -> list[str]:
    return blurs("blur-h200", "CuPy", ratio=False)


@table
def blur_cpu() -> list[str]:
    return blurs("blur-cpu", "OpenCV", ratio=True)


@table
def bloom_h200() -> list[str]:
    names = {"agx": "AgX", "aces-narkowicz": "ACES (Narkowicz)", "linear": "linear"}

    def cells(row: Row) -> list[str]:
        us = [f"{1e3 * launch['ms']:.0f}" for launch in row["launches"]]
        steps = [*us[:3], f"{us[3]} {us[4]}", us[5], f"{us[6]} {us[7]}", us[8]]
        return [names[row["operator"]], f"{1e3 * row['ms']:.0f}", *steps]

    titles = ["µs", "all", "metering", "to half size", "the next", "two at a time", "small levels", "up"]
    fused = [row for row in rows_of("bloom-h200") if row["way"] == "fused"]
    planes = [
        [
            f"{names[row['operator']]}, one pass after the other over planes",
            f"{1e3 * row['ms']:.0f}",
            *[""] * 7,
        ]
        for row in rows_of("bloom-h200")
        if row["way"] == "planes"
    ]
    return markdown([*titles, "over, operator, codes"], [*map(cells, fused), *planes])


@table
def median_h200() -> list[str]:
    rows = rows_of("median-h200")
    radii = sorted({row["radius"] for row in rows})
    found = {(row["type"], row["radius"]): f"{row['ms']:.2f}" for row in rows}
    types = dict.fromkeys(row["type"] for row in rows)
    titles = ["ms, radius", *map(str, radii)]
    return markdown(titles, [[name, *(found[name, radius] for radius in radii)] for name in types])


@table
def median_cpu() -> list[str]:
    found = {(row["type"], row["radius"]): row for row in rows_of("median-cpu")}

    def cells(radius: int) -> list[str]:
        row = found["uint8", radius]
        others = (digits(found[name, radius]["ms"], 2) for name in ("uint16", "float32"))
        return [str(radius), digits(row["ms"]), digits(row["peer_ms"]), digits(row["ratio"], 2), *others]

    titles = ["radius", "uint8", "OpenCV", "ratio", "uint16", "float32"]
    return markdown(titles, map(cells, sorted({radius for _, radius in found})))


@table
def box_h200() -> list[str]:
    rows = rows_of("box-h200")
    return markdown(
        ["radius", *(str(row["radius"]) for row in rows)], [["ms", *(f"{row['ms']:.2f}" for row in rows)]]
    )


@table
def bilateral_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        ways = [
            text
            for way in ("round", "square")
            for text in (f"{row[way]['ms']:.0f}", f"{row[way]['ratio']:.2f}")
        ]
        own = max(row[way]["error"] for way in ("round", "square"))
        errors = (f"{1e6 * error:.1f}" for error in (own, row["OpenCV"]["error"]))
        return [str(row["channels"]), str(row["win_size"]), *ways, f"{row['OpenCV']['ms']:.0f}", *errors]

    titles = ["channels", "window", "round, ms", "ratio", "square, ms", "ratio", "OpenCV ms", "clpix error"]
    return markdown([*titles, "OpenCV error"], map(cells, rows_of("bilateral-cpu")))


@table
def denoise_cpu() -> list[str]:
    rows = rows_of("denoise-cpu")
    noise = list(rows[0]["noise"])

    def cells(row: Row) -> list[str]:
        levels = (f"{row['noise'][level]:.2f}" for level in noise)
        seconds = digits(row["seconds"], 2) if row["setting"] else NONE
        return [row["program"], row["setting"], f"{row['psnr']:.2f}", *levels, seconds]

    titles = ["program", "setting", "dB, mean", *(f"{level} levels" for level in noise)]
    return markdown([*titles, "processors, s"], map(cells, rows))


@table
def resize_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        names = ("ms", "peer_ms", "ratio", "cpu_ms", "peer_cpu_ms", "cpu_ratio")
        errors = (f"{1e6 * row[name]:.2f}" if name in row else "" for name in ("error", "peer_error"))
        return [
            f"{row['to'][0]} × {row['to'][1]}",
            row["filter"],
            *(digits(row[name]) for name in names),
            *errors,
        ]

    titles = ["to", "filter", "ms", "OpenCV ms", "ratio", "processors, ms", "OpenCV's, ms", "ratio"]
    return markdown([*titles, "clpix error", "OpenCV error"], map(cells, rows_of("resize-cpu")))


@table
def metrics_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        names = ("ms", "call_ms", "peer_ms", "ratio", "cpu_ms", "peer_cpu_ms", "cpu_ratio")
        return [row["name"], row["peer"], *(digits(row[name]) for name in names), f"{row['difference']:.0e}"]

    titles = [
        "figure",
        "peer",
        "ms",
        "call, ms",
        "peer, ms",
        "ratio",
        "processors, ms",
        "peer's, ms",
        "ratio",
    ]
    return markdown([*titles, "difference"], map(cells, rows_of("metrics-cpu")))


@table
def metrics_h100() -> list[str]:
    rows = rows_of("metrics-h100")
    found = {(row["name"], row["size"][0]): row for row in rows}

    def cells(name: str) -> list[str]:
        sizes = [found[name, height] for height in (1080, 2160)]
        return [name, *(digits(row[key]) for row in sizes for key in ("ms", "call_ms"))]

    titles = ["figure", "1920 × 1080, ms", "call, ms", "3840 × 2160, ms", "call, ms"]
    return markdown(titles, map(cells, dict.fromkeys(row["name"] for row in rows)))


@table
def convolve_h200() -> list[str]:
    rows, crossovers = rows_of("convolve-h200"), load("convolve-h200")["context"]["crossovers"]
    sizes = sorted({row["size"] for row in rows})
    kernels = sorted({row["kernel"] for row in rows})
    sums = {(row["size"], row["kernel"]): digits(row["sums"]) for row in rows}

    def cells(size: int) -> list[str]:
        transforms = median(row["fft"] for row in rows if row["size"] == size)
        own = [sums.get((size, kernel), NONE) for kernel in kernels]
        return [f"{size}²", *own, digits(transforms), f"{crossovers[str(size)]:.0f}"]

    titles = ["ms, size", *(f"{kernel}²" for kernel in kernels), "by transforms", "taps where they cross"]
    return markdown(titles, map(cells, sizes))


# -- tone mapping ----------------------------------------------------------------------------------------------


@table
def tonemap_accuracy() -> list[str]:
    files = [rows_of(f"tonemap-accuracy-{device}") for device in ("cpu", "h200")]
    found = [{row["operator"]: row for row in rows if "operator" in row} for rows in files]

    def cells(operator: str) -> list[str]:
        rows = [rows[operator] for rows in found]
        errors = (
            f"{1e6 * error:.2f}" for row in rows for error in (row["error"], max(row["photographs"].values()))
        )
        return [operator, *errors, f"{1e6 * rows[1]['wrong_codes'] / rows[1]['codes']:.0f}"]

    titles = ["", "light, PoCL", "photographs", "light, H200", "photographs", "8 bits"]
    return markdown(titles, [cells(name) for name in found[0] if name != "linear"])


@table
def colour_cpu() -> list[str]:
    def cells(peer: Row | None) -> list[str]:
        return [NONE] * 2 if peer is None else [digits(peer[of], 2) for of in ("mean", "max")]

    rows = [
        [f"{row['space']}, {row['file']}", *cells(row["vips"]), *cells(row["openimageio"])]
        for row in rows_of("colour-cpu")
    ]
    return markdown(["", "vips: mean", "largest", "OpenImageIO: mean", "largest"], rows)


@table
def tonemap_h200() -> list[str]:
    found = {row["what"]: row for row in rows_of("tonemap-h200")}
    metered = ", metered, float16 → uint8"
    names = [what.removesuffix(metered) for what in found if what.endswith(metered)]

    def cells(name: str) -> list[str]:
        rows = [found[f"{name}, metered, {depth} → uint8"] for depth in ("float16", "float32")]
        shares = [f"{100 * row['of_copy']:.0f} %" if "of_copy" in row else "" for row in rows]
        return [
            name,
            *(text for row, share in zip(rows, shares, strict=True) for text in (digits(row["ms"]), share)),
        ]

    titles = ["ms, metered", "half → 8 bits", "of a copy", "float → 8 bits", "of a copy"]
    return markdown(titles, map(cells, names))


@table
def tonemap_statistics_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        return [row["what"], digits(row["ms"]), f"{row['gbps']:.0f}" if "gbps" in row else ""]

    rows = [row for row in rows_of("tonemap-h200") if "→" not in row["what"]]
    return markdown(["statistics of 3 × 8192² float32", "ms", "GB/s"], map(cells, rows))


@table
def tonemap_cpu() -> list[str]:
    rows = [row for row in rows_of("tonemap-cpu") if "float16" not in row["what"]]
    return markdown(["4096² RGB", "ms"], [[row["what"], digits(row["ms"])] for row in rows])


# -- what `clpix bench` printed --------------------------------------------------------------------------------


def bench(name: str) -> list[str]:
    """The first size of ``clpix bench --json`` as the table that it prints, less columns that no row has."""

    def size(row: Row) -> str:
        return "×".join(str(row[side]) for side in ("width", "height", "channels") if side in row)

    def mega(key: str) -> Callable[[Row], str | None]:
        return lambda row: f"{row[key] / 1e6:.2f}" if row.get(key) is not None else None

    columns: dict[str, Callable[[Row], str | None]] = {
        "variant": lambda row: row["variant"],
        "size": size,
        "launches": lambda row: str(row["launches"] if "launches" in row else len(row["kernels"])),
        "min ms": lambda row: f"{min(row['ms']):.4f}",
        "median": lambda row: f"{row['median_ms']:.4f}",
        "formula ms": lambda row: f"{row['predicted_ms']:.4f}" if row.get("predicted_ms") else None,
        "model ms": lambda row: (
            f"{row['model_bytes'] / row['copy_gbps'] / 1e6:.4f}" if row.get("copy_gbps") else None
        ),
        "µs/channel": lambda row: f"{1000 * row['channel_ms']:.1f}" if "channel_ms" in row else None,
        "× copy": lambda row: f"{row['copies']:.2f}" if "copies" in row else None,
        "× read-write": lambda row: f"{row['floors']:.2f}" if row.get("floors") is not None else None,
        "formula MB": mega("predicted_bytes"),
        "half MB": mega("predicted_half_bytes"),
        "model MB": mega("model_bytes"),
        "GB/s": lambda row: digits(row["gbps"]),
        "% of copy": lambda row: f"{100 * row['copy_share']:.1f}" if row.get("copy_share") else None,
    }
    rows = rows_of(name)
    shown = [row for row in rows if size(row) == size(rows[0])]
    cells = {title: [cell(row) for row in shown] for title, cell in columns.items()}
    kept = {title: column for title, column in cells.items() if any(column)}
    return markdown(
        list(kept), zip(*([cell or NONE for cell in column] for column in kept.values()), strict=True)
    )


for _path in sorted(HERE.glob("bench-*.json")):
    TABLES[_path.stem] = partial(bench, _path.stem)


@table
def regress_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        decoding = f"{row['decoding']:.0%}" if "decoding" in row else NONE
        rate = row["pairs"] / row["ms"] * 1e3
        few = next(
            (
                one["ms"]
                for one in rows
                if one["folder"] == "few" and one["program"] == row["program"].split(",")[0]
            ),
            None,
        )
        # What one more pair takes: without the program's start.
        more = (row["ms"] - few) / (row["pairs"] - 10) if few is not None and row["pairs"] == 40 else None
        return [
            row["folder"],
            str(row["pairs"]),
            row["program"],
            digits(row["ms"]),
            digits(rate),
            digits(more),
            decoding,
        ]

    rows = rows_of("regress-cpu")
    titles = ["pictures", "pairs", "program", "ms", "pairs/s", "ms for one more", "decoding"]
    return markdown(titles, map(cells, rows))


@table
def merge_cpu() -> list[str]:
    def cells(row: Row) -> list[str]:
        size = f"{row['width']} × {row['height']}"
        return [
            size,
            digits(row["ms"]),
            digits(row["peer_ms"]),
            digits(row["ratio"], 2),
            digits(row["passes"]),
        ]

    titles = ["pixels", "ms", "OpenCV ms", "ratio", "× copy"]
    return markdown(titles, map(cells, rows_of("merge-cpu")))


@table
def merge_h200() -> list[str]:
    def cells(row: Row) -> list[str]:
        return [f"{row['width']} × {row['height']}", digits(row["ms"]), digits(row["passes"])]

    return markdown(["pixels", "ms", "× copy"], map(cells, rows_of("merge-h200")))
