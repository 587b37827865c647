"""Gain maps of JPEG: small pictures of the factors by which light is beyond a display's white, in files of their own.

A map covers its picture, however many pixels it has, so that a picture of another size needs no other map.
Sources: ISO 21496-1; Ultra HDR Image Format 1.1 (Android); CIPA DC-007 (the index of pictures in a file).
"""

from __future__ import annotations

import struct
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..params.moves import Move
from ..records import dataclass
from . import gain_numbers, gain_samples, jpeg_segments

#: How a segment with a map's numbers begins, and one that announces the map in the picture's file.
ISO = jpeg_segments.ISO + b":-1\0"
# The quality of a map that is made anew.
_QUALITY = 95
#: The most pixels of a map for each pixel of its picture; more is an attack.
MOST = 4
# Attributes of pictures in an index: of the first one, which represents the others, and of them.
_FIRST, _OTHER = 0x030000, 0
_STATEMENTS = (
    b'<rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'
    b' xmlns:Container="http://ns.google.com/photos/1.0/container/"'
    b' xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><Container:Directory><rdf:Seq>'
    b'<rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>'
    b'<rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg"'
    b' Item:Length="%d"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>'
)
_STATEMENT_OF_APPLE = (
    b'<rdf:Description rdf:about="" xmlns:HDRGainMap="%s" HDRGainMap:HDRGainMapVersion="131072"/>'
    % jpeg_segments.OF_APPLE
)
_PACKET = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b"</rdf:RDF></x:xmpmeta>"
)


@dataclass(frozen=True)
class GainMap:
    """A gain map.

    data: its JPEG file, with what it says of itself. size: width and height of the picture that it was made for.
    announced: the segment of the picture's file that announces it (ISO 21496-1), if there is one. headroom: the stops
    above white that it reaches. move: where the picture has gone since then. changed: its pixels have changed, too.
    """

    data: bytes
    size: tuple[int, int]
    announced: bytes = b""
    headroom: float | None = None
    move: Move | None = None
    changed: bool = False

    @property
    def kind(self) -> str:
        """By whose rules it is made."""
        return (
            "Apple"
            if jpeg_segments.APPLE_MAP in self.xmp
            else "ISO 21496-1"
            if self._numbers
            else "Ultra HDR"
        )

    @property
    def dimensions(self) -> tuple[int, int]:
        """Its width and height."""
        samples = jpeg_segments.samples(jpeg_segments.segments(self.data))
        return samples.width, samples.height

    def __str__(self) -> str:
        width, height = self.dimensions
        reach = "" if self.headroom is None else f", up to {self.headroom:.3g} stops above white"
        return f"gain map ({self.kind}), {width} × {height}{reach}"

    def to_json(self) -> dict[str, Any]:
        """What is known of it."""
        return {"kind": self.kind, "size": list(self.dimensions), "headroom": self.headroom}

    @property
    def xmp(self) -> bytes:
        """Its own XMP, empty if it has none."""
        return jpeg_segments.xmp_of(self.data)

    @property
    def _numbers(self) -> bytes:
        """What a segment says of the map, by ISO 21496-1."""
        segments = jpeg_segments.segments(self.data)
        return next((data[len(ISO) :] for _, data in segments if data.startswith(ISO)), b"")

    def moved(self, move: Move) -> GainMap:
        """Returns the map of the moved picture."""
        return replace(self, move=(self.move or Move.none(*self.size)).then(move))

    def stripped(self) -> GainMap:
        """Returns the map without what does not concern its look: EXIF, comments."""
        kept = [_segment(marker, data) for marker, data in jpeg_segments.segments(self.data) if _looks(data)]
        body = self.data[jpeg_segments.first_table(self.data) :]
        return replace(self, data=self.data[:2] + b"".join(kept) + body)

    # -- its own pixels ---------------------------------------------------------------------------------------

    def pixels(self) -> NDArray[np.uint8]:
        """Returns the factors as they are coded, (height, width, 1 or 3).

        Raises ValueError or OSError if they are damaged, or no gain map's.
        """
        import PIL.Image

        width, height = self.dimensions
        if width * height > MOST * self.size[0] * self.size[1]:
            raise ValueError("is larger than a map of its picture")
        with PIL.Image.open(BytesIO(self.data), formats=("JPEG",)) as image:
            if image.mode not in ("L", "RGB"):
                raise ValueError(f"has pixels of the kind {image.mode}")
            codes = np.asarray(image)
        return codes if codes.ndim == 3 else codes[:, :, None]

    def file(self) -> bytes:
        """Returns the map's file for the moved picture: the very same, if that shows all of what it showed, as it was.

        Raises ValueError or OSError if a map that has to be made anew is damaged.
        """
        if self.move is None or (self._fits_as_it_is(self.move)):
            return self.data
        values = gain_samples.moved(self.pixels(), self.size, self.move)
        segments = jpeg_segments.segments(self.data)
        kept = [one for one in segments if one[0] != 0xE0 and _looks(one[1])]
        return coded(np.rint(values).astype(np.uint8), *kept)

    def _fits_as_it_is(self, move: Move) -> bool:
        """Whether the picture was resized at most, and has as many pixels as the map."""
        (across, down), (width, height) = self.size, self.dimensions
        whole = move.a > 0 < move.d and move.b == move.c == move.left == move.top == 0
        same = abs(move.a * across - move.width) < 0.5 and abs(move.d * down - move.height) < 0.5
        return whole and same and width <= move.width and height <= move.height

    # -- in the picture's file --------------------------------------------------------------------------------

    def packet(self, xmp: bytes | None, length: int) -> bytes | None:
        """Returns the picture's XMP, which tells of a map of so many bytes if the map itself says what it is in XMP."""
        if jpeg_segments.OF_GAIN_MAP in self.xmp:
            said = _STATEMENTS % length
        elif self.kind == "Apple" and jpeg_segments.OF_APPLE not in (xmp or b""):
            said = _STATEMENT_OF_APPLE
        else:
            return xmp
        head, end, rest = (xmp if xmp and b"</rdf:RDF>" in xmp else _PACKET).rpartition(b"</rdf:RDF>")
        return head + said + end + rest

    def behind(self, picture: bytes, own: bytes) -> bytes:
        """Returns the JPEG file of a picture with the map's own file behind it, and what says so before it."""
        at = jpeg_segments.first_table(picture)
        announced = _segment(0xE2, self.announced) if self.announced else b""
        head = picture[:at] + announced
        length = len(head) + len(_index(0, 0, 0)) + len(picture) - at
        # Offsets count from the index's own header, which is behind its marker, its length and its name.
        offset = length - len(head) - 4 - len(jpeg_segments.MPF)
        return head + _index(length, len(own), offset) + picture[at:] + own


def coded(codes: NDArray[np.uint8], *segments: tuple[int, bytes]) -> bytes:
    """Returns the JPEG file of a map's codes (height, width, 1 or 3), with segments of these markers and contents."""
    import PIL.Image

    stream = BytesIO()
    image = PIL.Image.fromarray(codes[:, :, 0] if codes.shape[2] == 1 else codes)
    image.save(stream, "JPEG", quality=_QUALITY, subsampling="4:4:4")
    made = stream.getvalue()
    at = jpeg_segments.first_table(made)
    return made[:at] + b"".join(_segment(*one) for one in segments) + made[at:]


def of_jpeg(
    pictures: list[bytes], size: tuple[int, int], announced: bytes, block: bytes | None, xmp: bytes | None
) -> GainMap | None:
    """Returns the gain map among the further pictures of a file; None if there is none.

    ``size``: width and height of the first one; ``block`` and ``xmp``: its EXIF and XMP.
    """
    for data in pictures:
        one = GainMap(data, size, announced)
        if one._numbers or jpeg_segments.OF_GAIN_MAP in one.xmp or jpeg_segments.APPLE_MAP in one.xmp:
            return replace(
                one, headroom=gain_numbers.stops(one.kind, one._numbers, one.xmp, xmp or b"", block)
            )
    return None


def _looks(data: bytes) -> bool:
    """Whether a segment concerns the look of a picture: the resolution, a profile, a gain map's numbers."""
    names = (b"JFIF\0", b"ICC_PROFILE\0", ISO, jpeg_segments.XMP)
    return data.startswith(names)


def _segment(marker: int, data: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", 2 + len(data)) + data


def _index(first: int, second: int, offset: int) -> bytes:
    """The segment of an index of two pictures, of so many bytes (CIPA DC-007, 5.2)."""
    entries = struct.pack(">IIIHH", _FIRST, first, 0, 0, 0) + struct.pack(
        ">IIIHH", _OTHER, second, offset, 0, 0
    )
    tags = struct.pack(">HHI4s", 0xB000, 7, 4, b"0100") + struct.pack(">HHII", 0xB001, 4, 1, 2)
    tags += struct.pack(">HHII", 0xB002, 7, len(entries), 8 + 2 + 3 * 12 + 4)
    header = b"MM\0*" + struct.pack(">IH", 8, 3) + tags + bytes(4)
    return _segment(0xE2, jpeg_segments.MPF + header + entries)
