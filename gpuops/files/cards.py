"""The cards of FITS headers: read, written, and kept as they are.

Source: the FITS Standard 4.0, 3.1, 4.1 and 4.2: a header is a number of blocks of 2880 bytes, with cards of 80
characters; a keyword takes 8 of them, and a value stands behind "= ".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: The bytes of a block and of a card.
BLOCK, CARD = 2880, 80
#: Cards that say how values are stored, and what of them would not be true of others.
_STRUCTURE = re.compile(
    r"(SIMPLE|XTENSION|BITPIX|NAXIS\d*|PCOUNT|GCOUNT|GROUPS|BSCALE|BZERO|BLANK|EXTEND|CHECKSUM|DATASUM|DATAMIN|DATAMAX"
    r"|DATE|END|TFIELDS|THEAP|(TTYPE|TFORM|TUNIT|TDIM|TNULL|ZNAXIS|ZTILE|ZNAME|ZVAL)\d+"
    r"|Z(IMAGE|CMPTYPE|BITPIX|NAXIS|QUANTIZ|DITHER0|BLANK|SCALE|ZERO|MASKCMP|SIMPLE|TENSION|EXTEND|BLOCKED|PCOUNT|GCOUNT"
    r"|HECKSUM|DATASUM)|)"
)
#: A value with what may follow it: a text between quotes, or anything up to a comment.
_VALUE = re.compile(r"\s*('(?:[^']|'')*'|[^/]*)(.*)", re.DOTALL)

Value = str | float | int | bool | None


def keyword(card: str) -> str:
    """Returns a card's keyword."""
    return card[:8].rstrip()


def value(card: str) -> Value:
    """Returns a card's value; None if it has none."""
    if card[8:10] != "= ":
        return None
    match = _VALUE.match(card[10:])
    text = match[1].strip() if match else ""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'").rstrip()
    if text in ("T", "F"):
        return text == "T"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text.upper().replace("D", "E"))
    except ValueError:
        return None


def values(cards: Iterable[str]) -> dict[str, Value]:
    """Returns the values of cards by keyword; of several the first one counts."""
    known: dict[str, Value] = {}
    for card in cards:
        known.setdefault(keyword(card), value(card))
    return known


def number(known: Mapping[str, Value], name: str, usual: float) -> float:
    """Returns the number of a keyword, or the usual one where there is none."""
    stated = known.get(name, usual)
    return usual if isinstance(stated, str | bool) or stated is None else stated


def card(name: str, what: str | float | bool, before: str = "") -> str:
    """Returns a card with a value, and the comment of the card that was there ``before``."""
    if isinstance(what, bool):
        text = ("T" if what else "F").rjust(20)
    elif isinstance(what, str):
        text = f"'{what.replace(chr(39), 2 * chr(39)):<8}'".ljust(20)
    else:
        text = repr(what).upper().rjust(20)
    match = _VALUE.match(before[10:]) if before else None
    comment = match[2].strip() if match else ""
    return f"{name:<8}= {text}{f' {comment}' if comment else ''}"[:CARD].ljust(CARD)


def kept(cards: Iterable[str]) -> tuple[str, ...]:
    """Returns the cards that describe what is seen, not how it is stored."""
    return tuple(one for one in cards if one.strip() and not _STRUCTURE.fullmatch(keyword(one)))


def changed(cards: Iterable[str], wanted: Mapping[str, str | float | bool | None]) -> tuple[str, ...]:
    """Returns cards with other values, in their places or behind the last one; those of which the value is None go."""
    left, result = dict(wanted), list[str]()
    for one in cards:
        name = keyword(one)
        if name not in wanted or one[8:10] != "= ":
            result.append(one)
        elif (what := left.pop(name, None)) is not None:
            result.append(card(name, what, one))
    return (*result, *(card(name, what) for name, what in left.items() if what is not None))


def header(cards: Iterable[str]) -> bytes:
    """Returns the blocks of a header with these cards."""
    text = "".join(cards) + "END".ljust(CARD)
    return text.encode("ascii", "replace").ljust(-(-len(text) // BLOCK) * BLOCK)
