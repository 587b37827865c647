"""XMP packets without what is only true of the file that they come from."""

from __future__ import annotations

import re

#: The namespace of statements on a gain map.
GAIN_MAP = b"http://ns.adobe.com/hdr-gain-map/"
# The namespace of a list of the pictures that follow in the file.
_CONTAINER = b"http://ns.google.com/photos/1.0/container/"
# The declaration of a namespace, whose address begins so, with its prefix.
_DECLARATION = rb"""\s+xmlns:([\w.-]+)\s*=\s*(["'])%s[^"']*\2"""
# An attribute, or an element with all that is in it, of a namespace's prefix.
_STATEMENT = (
    rb"""\s+%s:[\w.-]+\s*=\s*(?:"[^"]*"|'[^']*')|<(%s:[\w.-]+)(?:\s[^>]*)?(?:/>|(?<!/)>.*?</\1\s*>)"""
)


def without_gain_map(packet: bytes) -> bytes | None:
    """The packet without what it says of a gain map and of further pictures; None where that cannot be cut out.

    All other bytes stay as they are.
    """
    for namespace in (GAIN_MAP, _CONTAINER):
        declaration = re.compile(_DECLARATION % re.escape(namespace))
        for prefix in {re.escape(found[1]) for found in declaration.finditer(packet)}:
            packet = re.sub(_STATEMENT % (prefix, prefix), b"", packet, flags=re.DOTALL)
        packet = declaration.sub(b"", packet)
    return None if GAIN_MAP in packet else packet
