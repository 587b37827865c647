"""OpenCL C of a large prime's stage, at which several work-items share each butterfly.

All samples but number 0 are in the order of powers of a primitive root g: x[k] is sample g^(−k), as Rader (1968) found.
With h = (p − 1) / 2, s = x[k] + x[k + h] and d = x[k] − x[k + h], the results with numbers ±g^j are
x0 + Σ s·cos(2π·g^(j−k) / p) ∓ i · Σ d·sin(2π·g^(j−k) / p), 0 ≤ k < h. The values stay in local memory. A work-item has
the sums of some neighbouring j in registers, for which each next k needs the same cosines but one; the next work-items
have the sums of the same j of other butterflies.
"""

from __future__ import annotations

from .pieces import Body, Number, Pieces
from .schedule import SHARED
from .tables import primitive_root


def orders(prime: int) -> str:
    """C for the tables of the samples' places and of the numbers of the first half of the results."""
    root = primitive_root(prime)
    powers = [pow(root, j, prime) for j in range(prime - 1)]
    places = [0] + [(prime - 1 - powers.index(n)) % (prime - 1) + 1 for n in range(1, prime)]
    return "".join(
        f"__constant ushort {name}{prime}[] = {{{', '.join(map(str, values))}}};\n"
        for name, values in (("places", places), ("numbers", powers[: prime // 2]))
    )


class Shared(Pieces):
    """The stage :data:`SHARED`; its piece t is the q-th piece of butterfly b, with the results from q·share on."""

    def piece(self, part: str, const: str = "") -> list[str]:
        count = self.count(SHARED)
        return [f"const uint b = t % {count}, q = t / {count};", *self.pointers(SHARED, part, const)]

    def at(self, k: str, slot: int) -> str:
        """C for element k of a butterfly of the sequence in ``slot``."""
        return f"at_t[({k}) * {self.offset(SHARED, 1, 0)} + {self.offset(SHARED, 0, slot)}]"

    def turns(self, x: int) -> list[str]:
        """Lines for the stage before, which multiply its results by the twiddles of this stage."""
        stride, prime = self.strides[SHARED], self.s.radices[SHARED]
        per_digit = self.count(0) // prime

        def line(k: Number, slot: int, name: str) -> str:
            digit = f"({self.butterfly_of(0, slot)} / {per_digit})"
            table = f"({digit} ? tables[{digit} * {stride} + {k + -1}] : (real2)(1, 0))"
            w = f"root({digit} * ({k}), {stride * prime})" if self.s.computed else table
            return f"{name} = times({name}, {w});"

        return self.values(0, x, line, first=1)

    def sums(self, part: str) -> Body:
        """Lines for the sums of a piece, over the values or over a ``part`` of each: x gets ``share`` sums with
        cosines, behind them those with sines, then the sum of all values.

        Terms are summed block by block, and then the blocks' sums, which keeps the error small.
        """
        s, kind = self.s, "real" if part else "cplx"
        half, share, slots = s.radices[SHARED] // 2, s.share, self.slots(SHARED)
        names = [(slot, i, f"{slot}_{i}") for slot in range(len(slots)) for i in range(share)]
        tables = s.points * (3 if s.twin else 1) + half - 1

        def block(terms: int) -> list[str]:
            lines = [f"{kind} {', '.join(f'e{n} = 0, o{n} = 0' for *_, n in names)};"]
            lines += [f"{kind} {', '.join(f'r{slot} = 0' for slot in range(len(slots)))};"]
            lines += [f"const real2 w{n + terms} = w[{n}];" for n in range(1 - terms, share)]
            for k in range(terms):
                lines.append("{")
                for slot in range(len(slots)):
                    a, z = self.at(f"k + {k}", slot), self.at(f"k + {k + half}", slot)
                    lines.append(f"    const {kind} a{slot} = {a}, z{slot} = {z};")
                    lines.append(
                        f"    const {kind} u{slot} = a{slot} + z{slot}, d{slot} = a{slot} - z{slot};"
                    )
                    lines.append(f"    r{slot} += u{slot};")
                for slot, i, n in names:
                    w = f"w{i - k + terms}"
                    lines.append(f"    e{n} += {w}.x * u{slot}; o{n} += {w}.y * d{slot};")
                lines.append("}")
            lines += [f"c{n} += e{n}; s{n} += o{n};" for *_, n in names]
            return lines + [f"all{slot} += r{slot};" for slot in range(len(slots))]

        def body(x: int) -> list[str]:
            # A block has about eight terms, and if possible all blocks have the same number.
            terms = min(range(6, 12), key=lambda terms: (half % terms > 0, abs(terms - 8)))
            blocks = half // terms * terms
            lines = [
                *self.piece(part, "const "),
                f"__global const real2 *w = tables + {tables} + q * {share};",
                *(f"{kind} all{slot} = {self.at('0', slot)};" for slot in range(len(slots))),
                f"{kind} {', '.join(f'c{n} = all{slot}, s{n} = 0' for slot, _, n in names)};",
                f"uint k = 1; ROLLED for (; k <= {blocks}; k += {terms}, w -= {terms}) {{",
                *(f"    {line}" for line in block(terms)),
                "}",
                *(block(half - blocks) if half > blocks else []),
            ]
            for slot, start in enumerate(slots):
                first = start + x
                for i in range(share):
                    lines.append(
                        f"x[{first + i}]{part} = c{slot}_{i}; x[{first + share + i}]{part} = s{slot}_{i};"
                    )
                lines.append(f"x[{first + 2 * share}]{part} = all{slot};")
            return lines

        return body

    def combined(self, x: int) -> list[str]:
        """Lines that make the two results of each pair from its two sums."""
        share = self.s.share
        return [
            f"{{ const cplx y = turned(x[{k + share}]); x[{k + share}] = x[{k}] + y; x[{k}] -= y; }}"
            for start in self.slots(SHARED)
            for k in range(start + x, start + x + share)
        ]

    def scattered(self, part: str) -> Body:
        """Lines that write a piece's results to their places; the last piece may have fewer. The first piece writes the
        sum of all values."""
        prime, share, slots = self.s.radices[SHARED], self.s.share, self.slots(SHARED)

        def body(x: int) -> list[str]:
            lines = self.piece(part)
            for i in range(share):
                guard = f"if (q * {share} + {i} < {prime // 2}) " if prime // 2 % share else ""
                lines.append(f"{guard}{{ const uint n = numbers{prime}[q * {share} + {i}];")
                for slot, start in enumerate(slots):
                    k = start + x + i
                    lines.append(f"  {self.at('n', slot)} = x[{k}]{part};")
                    lines.append(f"  {self.at(f'{prime} - n', slot)} = x[{k + share}]{part};")
                lines.append("}")
            everything = [
                f"{self.at('0', slot)} = x[{a + x + 2 * share}]{part};" for slot, a in enumerate(slots)
            ]
            return [*lines, f"if (q == 0) {{ {' '.join(everything)} }}"]

        return body
