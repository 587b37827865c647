"""The text that fft_local.cl needs for a schedule: its constants, and the steps of its kernel in their order."""

from __future__ import annotations

from math import prod

from .butterflies import turned
from .schedule import SHARED, Schedule
from .tables import primitive_root


def definitions(s: Schedule, real: str) -> str:
    """OpenCL C that stands before fft_stages.cl: its constants, tables and STAGES."""
    last = len(s.radices) - 1
    lines = [
        f"GROUP {s.group}", f"ITEMS {s.items}", f"SETS {s.sets}", f"GROUP_COLUMNS {s.columns}",
        f"LOADED {s.loaded}", f"CARRIED {s.carried}", f"MOST {s.most}",
        f"POINTS {s.points}", f"PLACES {s.places}", f"PAD {s.pad}", f"LAST {last}", f"LAST_STRIDE {_stride(s, last)}",
        f"PAIRED {int(bool(s.pairs))}", f"OWN_MIRROR {int(s.own_mirror)}", f"WHOLE {int(s.whole)}",
        f"REVERSED(t) ({_reversed(s)})",
    ]  # fmt: skip
    given = {"ALONG": s.along, "HALVED": s.halved, "COMPUTED": s.computed}
    lines += [name for name, there in given.items() if there]
    for i, radix in enumerate(s.radices):
        pieces, values = s.work(i)
        lines += [
            f"RADIX_{i} {radix}", f"STRIDE_{i} {_stride(s, i)}", f"PIECES_{i} {pieces}", f"VALUES_{i} {values}",
            f"MIRRORED_{i} {int(i == s.mirrored)}",
        ]  # fmt: skip
    tables = ""
    if s.share:
        half = s.radices[SHARED] // 2
        # A block has about eight terms, and if possible all blocks have the same number.
        terms = min(range(6, 12), key=lambda terms: (half % terms > 0, abs(terms - 8)))
        lines += [f"SHARE {s.share}", f"TERMS {terms}"]
        tables += _orders(s.radices[SHARED])
    if s.mirrored is not None:
        tables += _half_turn(s.radices[s.mirrored], real)
    lines.append(" \\\n    ".join(["STAGES", *_steps(s)]))
    return "".join(f"#define {line}\n" for line in lines) + tables


def _stride(s: Schedule, index: int) -> int:
    return prod(s.radices[:index])


def _reversed(s: Schedule) -> str:
    """C for the place of sample t, which is t with its digits reversed: the last stage's is the fastest of t."""
    terms, divisor = [], 1
    for i in range(len(s.radices) - 1, 0, -1):
        digit = f"(t) / {divisor}" if i == 1 else f"(t) / {divisor} % {s.radices[i]}"
        digit = f"places[{digit}]" if s.share and i == SHARED else digit
        terms.append(f"{digit} * {_stride(s, i)}")
        divisor *= s.radices[i]
    return " + ".join(terms) or "(t)"


def _orders(prime: int) -> str:
    """C for the tables of fft_rader.cl."""
    root = primitive_root(prime)
    powers = [pow(root, j, prime) for j in range(prime - 1)]
    places = [0] + [(prime - 1 - powers.index(n)) % (prime - 1) + 1 for n in range(1, prime)]
    return "".join(
        f"__constant ushort {name}[] = {{{', '.join(map(str, values))}}};\n"
        for name, values in (("places", places), ("numbers", powers[: prime // 2]))
    )


def _half_turn(radix: int, real: str) -> str:
    """C for the function of fft_pairs.cl."""
    cases = "".join(f"    case {k}: return {turned('v', k, 2 * radix, real)};\n" for k in range(1, radix))
    return f"static inline cplx half_turn(cplx v, int k) {{\n    switch (k) {{\n{cases}    }}\n    return v;\n}}\n"


def _steps(s: Schedule) -> list[str]:
    """The calls of fft_stages.cl's steps: for each stage reading, computing and writing."""
    last = len(s.radices) - 1
    calls: list[str] = []

    def shared(index: int) -> bool:
        return s.share > 0 and index == SHARED

    def twiddle(index: int) -> list[str]:
        return [f"TWIDDLE({index})"] if _stride(s, index) > 1 and not shared(index) else []

    def dft(index: int) -> list[str]:
        return ["COMBINE" if shared(index) else f"DFT({index})"]

    def get(index: int, part: str = "") -> list[str]:
        return [f"SUM_UP({part})" if shared(index) else f"GET({index}, {part})"]

    def put(index: int, part: str = "") -> list[str]:
        return [f"SCATTER({part})" if shared(index) else f"PUT({index}, {part})"]

    def each(index: int, steps: list[str]) -> None:
        calls.append(f"EACH({index}) {{ {'REGISTERS ' * (s.items == 1)}{' '.join(steps)} }}")

    def barrier(everything: bool = False) -> None:
        """Adds a barrier; ``everything``: for global memory too, as the output may be the input."""
        if s.group > 1:
            calls.append(f"barrier(CLK_LOCAL_MEM_FENCE{' | CLK_GLOBAL_MEM_FENCE' * everything});")

    stages = [(i, twiddle(i) + dft(i)) for i in range(last + 1)]
    if s.share and s.radices[0] > 1:
        stages[0][1].append("TURN_BEFORE(0)")
    transfer = [f"READ_TRANSFER({last})"] if s.pairs == "convolve" else []
    early = (
        s.items > 1 and last > 0
    )  # read while the last stage's values are on their way through local memory
    if s.length or transfer:
        multiply = [f"FILTER({last})"] if s.length else [*transfer * (not early), f"MULTIPLY({last})"]
        stages[last][1].extend(multiply + dft(last) + twiddle(last))
        stages += [(i, dft(i) + twiddle(i)) for i in range(last - 1, -1, -1)]

    end = stages[-1][0]
    load = ["LOAD_PACKED(0)"] if s.pairs == "pack" else ["LOAD(0)"]
    store = [f"UNPACK({end})"] if s.pairs == "unpack" else [f"STORE({end})"]
    if s.joined > 1 and s.pairs != "pack":
        load.append("JOIN(0, 1, 0)")
    if s.joined > 1 and s.pairs in ("pack", "convolve"):
        store.insert(0, f"JOIN({end}, 0, 1)")

    read = load
    for number, (index, work) in enumerate(stages[:-1]):
        target = stages[number + 1][0]
        each(index, [*read, *work])
        # Values move from their places after this stage to those before the next one.
        for part in (".lo", ".hi") if s.halved else ("",):
            if part == ".hi" or shared(index):
                barrier()
            each(index, put(index, part))  # to where this work-item read: no barrier
            if part != ".hi" and number == last - 1 and transfer:
                each(target, transfer)
            barrier(everything=number == 0)
            read = get(target, part)
            if part == ".lo":
                each(target, read)
    each(end, [*read, *stages[-1][1], *store])
    return calls
