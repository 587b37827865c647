"""Netpbm's pictures: PBM, PGM and PPM, in text and in bytes, and PAM.

Source: the formats' descriptions of Netpbm (pbm, pgm, ppm, pam). Samples 0 to maxval are spread over 8 bits, or over
16 where maxval is larger than 255. The first picture of a file is read; the lines of its header may end as Windows
has it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ... import notes
from ...errors import FileError
from ..picture import Picture, Pixels, unread
from ..read_errors import beginning, check_size, stored
from ..samples import coloured, spread
from .record import INTEGERS, Format, LayerId, Storage

#: White space and remarks between the numbers of a header.
_GAP = rb"(?:\s|#[^\n]*\n)+"
#: The sizes in a header, with the kind of line end after its kind, and the end of all headers.
_SIZES, _END = rb"(?=(\r\n)?)" + _GAP + rb"(\d+)" + _GAP + rb"(\d+)", rb"(?:\2|\s)"
#: The header of PBM: its kind, width and height.
_BITS = re.compile(rb"P([14])" + _SIZES + _END)
#: The header of PGM and PPM: the same, and the largest value.
_VALUES = re.compile(rb"P([2356])" + _SIZES + _GAP + rb"(\d+)" + _END)
#: The bytes in which a header has to end.
_LONGEST = 1 << 16

#: The channels of PAM's kinds of tuples that are pictures.
_TUPLES = {"BLACKANDWHITE": 1, "GRAYSCALE": 1, "RGB": 3}
_TUPLES |= {f"{name}_ALPHA": channels + 1 for name, channels in _TUPLES.items()}


def read(path: str, layer: LayerId) -> Picture:
    head = beginning(path, _LONGEST)
    width, height, channels, most, start = _header_in(path, head)
    check_size(path, width, height)
    if not 1 <= most <= 65535:
        raise FileError(f"{path}: is damaged: its largest value is {most}, not 1 to 65535")
    count = width * height * channels
    if head[1:2] in b"123":
        samples = _texts(path, start, count, bits=head[1:2] == b"1")
    else:
        kind, count = (
            ("u1", -(-width // 8) * height) if head[1:2] == b"4" else ("u1" if most < 256 else ">u2", count)
        )
        samples = stored(path, kind, count, start)
        with open(path, "rb") as file:
            file.seek(start + samples.nbytes)
            if re.fullmatch(rb"P[1-7]", file.read(2)):
                notes.note(f"{path}: is read without the pictures after its first")
    if head[1:2] == b"4":
        samples = np.unpackbits(samples.reshape(height, -1), axis=1, count=width)
    if samples.max() > most:
        raise FileError(f"{path}: is damaged: it has values beyond its largest one, {most}")
    if head[1:2] in b"14":  # 1 is black
        samples = 1 - samples
    pixels = spread(samples.reshape(height, width, channels), most)
    return Picture(pixels, alpha=channels in (2, 4))


def _write(path: str, picture: Picture, storage: Storage) -> None:
    """Writes PGM or PPM as the name says, either one as .pnm, in bytes."""
    kind = Path(path).suffix.lower()
    if kind == ".pgm" and picture.channels > 1:
        raise FileError(f"{path}: a .pgm file holds gray alone; name the output .ppm")
    pixels = coloured(picture.pixels) if kind == ".ppm" else picture.pixels
    head = f"P{5 if pixels.shape[2] == 1 else 6}\n{picture.width} {picture.height}\n{np.iinfo(pixels.dtype).max}\n"
    written(path, head, pixels)


def written(path: str, head: str, pixels: Pixels) -> None:
    """Writes a header, and samples in bytes."""
    with open(path, "wb") as file:
        file.write(head.encode())
        np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">")).tofile(file)


def _header_in(path: str, head: bytes) -> tuple[int, int, int, int, int]:
    """Width, height, channels, the largest value and where the pixels begin."""
    if head[1:2] == b"7":
        return _pam_header(path, head)
    match = (_BITS if head[1:2] in b"14" else _VALUES).match(head)
    if match is None:
        raise FileError(f"{path}: is damaged: its header is not complete")
    channels = 3 if match[1] in b"36" else 1
    most = int(match[5]) if match.re is _VALUES else 1
    return int(match[3]), int(match[4]), channels, most, match.end()


def _pam_header(path: str, head: bytes) -> tuple[int, int, int, int, int]:
    lines, end, _ = head.partition(b"\nENDHDR\n")
    words = [
        line.split(None, 1) for line in lines.decode("latin-1").split("\n")[1:] if line.strip()[:1] != "#"
    ]
    values = {pair[0]: pair[1].strip() for pair in words if len(pair) == 2}
    try:
        width, height, channels, most = (int(values[key]) for key in ("WIDTH", "HEIGHT", "DEPTH", "MAXVAL"))
    except (KeyError, ValueError):
        end = b""
    if not end:
        raise FileError(f"{path}: is damaged: its header is not complete")
    named = values.get("TUPLTYPE", "")
    if not 1 <= channels <= 4 or _TUPLES.get(named, channels) != channels:
        raise FileError(
            f"{path}: holds {channels} values a pixel ({named or 'of no said kind'}); convert it first"
        )
    if named not in _TUPLES and channels in (2, 4):
        notes.note(f"{path}: does not say what its channel {channels} is; it is taken as alpha")
    return width, height, channels, most, len(lines) + len(end)


def _texts(path: str, start: int, count: int, *, bits: bool) -> Pixels:
    """Numbers in text; those of bits need no space between them."""
    text = re.sub(rb"#[^\n]*", b"", Path(path).read_bytes()[start:])
    words = re.findall(rb"[01]", text) if bits else text.split()
    if len(words) < count:
        raise FileError(f"{path}: is cut off: it has {len(words)} of {count} values")
    try:
        return np.array(words[:count], dtype="S8").astype(np.uint32)
    except ValueError:
        raise FileError(f"{path}: is damaged: one of its values is no number") from None


def magic(*kinds: int) -> tuple[bytes, ...]:
    """The beginnings of files: P and a digit, then white space or a remark."""
    return tuple(b"P%d%c" % (kind, after) for kind in kinds for after in b" \t\n\r#")


def unread_in(path: str) -> Pixels:
    """An array that stands for the pixels of a file."""
    with notes.to(lambda _text: None):
        width, height, channels, most, _ = _header_in(path, beginning(path, _LONGEST))
    return unread((height, width, channels), np.uint8 if most < 256 else np.uint16)


FORMAT = Format(
    "PNM", (".pnm", ".ppm", ".pgm"), INTEGERS, read, _write, unread=unread_in, magic=magic(1, 2, 3, 4, 5, 6),
    channels=(1, 3),
)  # fmt: skip
