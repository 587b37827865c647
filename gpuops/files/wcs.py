"""World coordinates of FITS cards: they follow the pixels.

A move of pixels is p' = M·p + t, of FITS's positions: the middle of the first pixel is 1, and rows count from the
lowest one. So CRPIX' = M·CRPIX + t and CD' = CD·M⁻¹, and values of the world stay. SIP's polynomials become M·A(M⁻¹·u).

Sources: the FITS Standard 4.0, 8; Calabretta and Greisen, A&A 395, 1077 (2002), for CROTA; Shupe et al., ASP Conf. Ser.
347, 491 (2005), for SIP; IRAF's LTM and LTV.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import comb, cos, radians, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from ..params.moves import Move
from . import cards
from .cards import Value, number

Array = npt.NDArray[Any]
Changes = dict[str, str | float | bool | None]

#: The letters that alternative coordinates end with; "" are the first ones.
_KINDS = ("", *map(chr, range(ord("A"), ord("Z") + 1)))
#: Cards of distortions by tables, and how the names of projections end that are tables or other programs' polynomials.
_TABLES, _PROJECTIONS = re.compile(r"CPDIS\d|D2IMDIS\d|DP\d|DQ\d"), ("-TAB", "-TNX", "-ZPX")
#: All cards of coordinates.
_COORDINATES = re.compile(
    r"(WCSAXES|WCSNAME|CRPIX\d|CRVAL\d|CDELT\d|CTYPE\d|CUNIT\d|CD\d_\d|PC\d_\d|PV\d_\d+|PS\d_\d+|LONPOLE|LATPOLE)[A-Z]?"
    r"|CROTA\d|(A|B|AP|BP)_(ORDER|DMAX|\d_\d)|CPDIS\d|CPERR\d|D2IMDIS\d|DP\d|DQ\d|WAT\d_\d\d\d"
)
#: Boxes of the picture's pixels, [x1:x2,y1:y2].
_BOXES = ("DATASEC", "TRIMSEC", "BIASSEC")
_IRAF = re.compile(r"LTM\d_\d|LTV\d")
_BOX = re.compile(r"\[\s*(\d+)\s*:\s*(\d+)\s*,\s*(\d+)\s*:\s*(\d+)\s*\]")


def is_of_positions(keyword: str) -> bool:
    """Whether a card says where pixels are."""
    return bool(_COORDINATES.fullmatch(keyword) or _IRAF.fullmatch(keyword) or keyword in _BOXES)


def moved(before: tuple[str, ...], move: Move, height: int) -> tuple[tuple[str, ...], list[str]]:
    """Returns the cards of the moved picture, which had so many rows, and names of what cannot follow."""
    known, lost, wanted = cards.values(before), list[str](), Changes()
    m = np.array([[move.a, -move.b], [-move.c, move.d]])
    t = np.array([
        move.left + 0.5 - 0.5 * move.a + (height + 0.5) * move.b,
        move.height + 0.5 - move.top + 0.5 * move.c - (height + 0.5) * move.d,
    ])  # fmt: skip
    kinds = [str(known.get(f"CTYPE{axis}", "")) for axis in (1, 2)]
    if any(_TABLES.fullmatch(name) for name in known) or any(kind.endswith(_PROJECTIONS) for kind in kinds):
        before = tuple(card for card in before if not _COORDINATES.fullmatch(cards.keyword(card)))
        lost.append("world coordinates, which are distorted by tables")
        known = cards.values(before)
    for kind in _KINDS:
        wanted |= _linear(known, kind, m, t)
    for pair in (("A", "B"), ("AP", "BP")):
        wanted |= _polynomials(known, pair, m)
    wanted |= _of_iraf(known, m, t)
    boxes, gone = _boxes(known, m, t, move)
    return cards.changed(before, wanted | boxes), [*lost, *gone]


def _matrix(known: Mapping[str, Value], name: str, kind: str) -> Array | None:
    """Returns the matrix of cards such as CD1_1, or None without any; what is missing is as the standard says."""
    names = [[f"{name}{i}_{j}{kind}" for j in (1, 2)] for i in (1, 2)]
    if not any(one in known for row in names for one in row):
        return None
    usual = np.eye(2) if name != "CD" else np.zeros((2, 2))
    return np.array([[number(known, names[i][j], usual[i, j]) for j in range(2)] for i in range(2)])


def _put(name: str, matrix: Array, kind: str = "") -> Changes:
    return {f"{name}{i + 1}_{j + 1}{kind}": float(matrix[i, j]) for i in range(2) for j in range(2)}


def _linear(known: Mapping[str, Value], kind: str, m: Array, t: Array) -> Changes:
    """The reference pixel and the matrix of the coordinates of a letter."""
    if not any(f"{name}{axis}{kind}" in known for name in ("CRVAL", "CRPIX", "CTYPE") for axis in (1, 2)):
        return {}
    pixel = m @ [number(known, f"CRPIX{axis}{kind}", 0.0) for axis in (1, 2)] + t
    wanted: Changes = {f"CRPIX{axis}{kind}": float(pixel[axis - 1]) for axis in (1, 2)}
    inverse = np.linalg.inv(m)
    if (cd := _matrix(known, "CD", kind)) is not None:
        return wanted | _put("CD", cd @ inverse, kind)
    steps = [number(known, f"CDELT{axis}{kind}", 1.0) for axis in (1, 2)]
    pc = _matrix(known, "PC", kind)
    turn = radians(number(known, "CROTA2", 0.0)) if pc is None and not kind else 0.0
    if turn:
        c, s = cos(turn), sin(turn)
        cd = np.array([[steps[0] * c, -steps[1] * s], [steps[0] * s, steps[1] * c]])
        gone: Changes = dict.fromkeys(("CROTA1", "CROTA2", "CDELT1", "CDELT2"))
        return wanted | gone | _put("CD", cd @ inverse)
    if np.array_equal(m, m[0, 0] * np.eye(2)) and m[0, 0] > 0:
        if m[0, 0] != 1:
            wanted |= {f"CDELT{axis}{kind}": float(steps[axis - 1] / m[0, 0]) for axis in (1, 2)}
        return wanted
    wanted |= {
        f"CDELT{axis}{kind}": float(steps[axis - 1]) for axis in (1, 2) if f"CDELT{axis}{kind}" not in known
    }
    scaled = np.diag(steps) @ (np.eye(2) if pc is None else pc) @ inverse
    return wanted | _put("PC", scaled / np.reshape(steps, (2, 1)), kind) if all(steps) else wanted


def _polynomials(known: Mapping[str, Value], pair: tuple[str, str], m: Array) -> Changes:
    """SIP's polynomials of a pair of names, as cards."""
    orders = [known.get(f"{name}_ORDER") for name in pair]
    if not all(isinstance(order, int) and 0 <= order <= 9 for order in orders):
        return {}
    most = max(int(str(order)) for order in orders)
    inverse = np.linalg.inv(m)
    made = np.zeros((2, most + 1, most + 1))
    for which, name in enumerate(pair):
        for p in range(most + 1):
            for q in range(most + 1 - p):
                if factor := number(known, f"{name}_{p}_{q}", 0.0):
                    made[which] += factor * _expanded(p, q, inverse, most)
    made = np.einsum("ij,jpq->ipq", m, made)
    wanted: Changes = {f"{name}_ORDER": most for name in pair}
    for which, name in enumerate(pair):
        for p in range(most + 1):
            for q in range(most + 1 - p):
                if made[which, p, q] or f"{name}_{p}_{q}" in known:
                    wanted[f"{name}_{p}_{q}"] = float(made[which, p, q])
    return wanted


def _expanded(p: int, q: int, inverse: Array, most: int) -> Array:
    """Returns the factors of uⁱ·vʲ in (a·u + b·v)ᵖ · (c·u + d·v)^q, by the binomial theorem."""
    (a, b), (c, d) = inverse
    made = np.zeros((most + 1, most + 1))
    for k in range(p + 1):
        for n in range(q + 1):
            made[k + n, p + q - k - n] += comb(p, k) * a**k * b ** (p - k) * comb(q, n) * c**n * d ** (q - n)
    return made


def _of_iraf(known: Mapping[str, Value], m: Array, t: Array) -> Changes:
    matrix = _matrix(known, "LTM", "")
    if matrix is None and not {"LTV1", "LTV2"} & known.keys():
        return {}
    vector = m @ [number(known, f"LTV{axis}", 0.0) for axis in (1, 2)] + t
    at: Changes = {f"LTV{axis}": float(vector[axis - 1]) for axis in (1, 2)}
    return at | _put("LTM", m @ (np.eye(2) if matrix is None else matrix))


def _boxes(known: Mapping[str, Value], m: Array, t: Array, move: Move) -> tuple[Changes, list[str]]:
    wanted, lost = Changes(), list[str]()
    for name in _BOXES:
        match = _BOX.fullmatch(str(known.get(name, "")).strip())
        if match is None:
            continue
        x1, x2, y1, y2 = map(int, match.groups())
        ends = m @ np.array([[x1 - 0.5, x2 + 0.5], [y1 - 0.5, y2 + 0.5]]) + t[:, None]
        low, high = np.rint(ends.min(1) + 0.5).astype(int), np.rint(ends.max(1) - 0.5).astype(int)
        straight = move.transposes or move.b == 0 == move.c
        if not straight or (low < 1).any() or high[0] > move.width or high[1] > move.height:
            wanted[name] = None
            lost.append(name)
        else:
            wanted[name] = f"[{low[0]}:{high[0]},{low[1]}:{high[1]}]"
    return wanted, lost
