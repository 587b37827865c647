"""What a client asks of a server that runs commands: one message of a SOCK_SEQPACKET socket, and the answers to it.

A request is ``CLPX``, then little-endian: u8 version, u8 kind, u8 which of the descriptors 0 to 2 are closed (bits),
u8 0, u32 umask, u64 ignored signals, u64 blocked signals (bit n − 1 is signal n), u32 number of arguments; then the
arguments, the first of which is the program's name, and the entries NAME=VALUE of the environment, each ended by a zero
byte. With it go the descriptors that are open, and that of the current folder.

The answer to a command is u8 1 and u32, the process that is going to run it, or u8 0 and the reason why none is, as
text. The process begins when it has got GO; the last message is i32, its wait status. The answer to the other kinds is
text.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

#: How a request begins, and the version of all this.
MAGIC, VERSION = b"CLPX", 1
#: The kinds of requests.
COMMAND, STATUS, STOP = range(3)
#: The fields before the arguments.
HEAD = struct.Struct("<4sBBBBIQQI")
#: The answers to a command.
YES, STATUS_OF_END = struct.Struct("<BI"), struct.Struct("<i")
NO, GO = b"\0", b"G"
#: Bytes of a request, at most: what Linux takes at once into a socket by default.
LARGEST = 212_992


class Request(NamedTuple):
    """A request: the arguments behind the program's name, and what the client's process is like."""

    kind: int
    closed: int
    umask: int
    ignored: int
    blocked: int
    program: bytes
    arguments: list[bytes]
    environment: dict[bytes, bytes]

    def descriptors(self) -> list[int]:
        """The standard descriptors that are open."""
        return [number for number in range(3) if not self.closed >> number & 1]


def decode(data: bytes) -> Request:
    """Returns the request of a message. Raises ValueError if it is none of this version."""
    try:
        magic, version, kind, closed, _, umask, ignored, blocked, count = HEAD.unpack_from(data)
    except struct.error:
        raise ValueError("the request is damaged") from None
    if (magic, version) != (MAGIC, VERSION) or kind > STOP:
        raise ValueError("the request is of another version")
    *words, end = data[HEAD.size :].split(b"\0")
    arguments, entries = words[:count], words[count:]
    if end or len(arguments) < count or not count:
        raise ValueError("the request is damaged")
    pairs = (entry.partition(b"=") for entry in entries)
    environment = {name: value for name, equals, value in pairs if name and equals}
    return Request(
        kind, closed & 7, umask & 0o777, ignored, blocked, arguments[0], arguments[1:], environment
    )


def signals_of(bits: int) -> set[int]:
    """The numbers of the signals whose bits are set."""
    return {number for number in range(1, 65) if bits >> (number - 1) & 1}
