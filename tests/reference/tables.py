"""ICC profiles of tables, written byte by byte as ICC.1:2022 10.8 to 10.12 has them, for tests of their reader."""

import struct
from collections.abc import Callable

import numpy as np

from .colour import d50_columns, fixed, named, parametric, profile

#: From CIE XYZ of ICC's white D50 to linear sRGB.
D50_TO_SRGB = np.linalg.inv(d50_columns("Rec. 709"))


def grid(n: int, channels: int = 3) -> np.ndarray:
    """All colours of n steps an axis, the last channel's following each other, as tables have them: (n³, 3)."""
    steps = [np.linspace(0, 1, n)] * channels
    return np.stack([axis.ravel() for axis in np.meshgrid(*steps, indexing="ij")], axis=-1)


def codes(values: np.ndarray, largest: int) -> bytes:
    rounded = np.rint(np.clip(values, 0, 1) * largest)
    return rounded.astype(">u2" if largest > 255 else np.uint8).tobytes()


def lut16(
    n: int, of: Callable[[np.ndarray], np.ndarray], gamma: float = 1.0, after: float = 1.0, channels: int = 3
) -> bytes:
    """A lut16Type (10.10) of n steps: ``of`` gives fractions; curves of 64 entries are powers."""
    head = b"mft2" + bytes(4) + bytes((channels, 3, n, 0)) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    before, behind = np.linspace(0, 1, 64) ** gamma, np.linspace(0, 1, 64) ** after
    colours = codes(of(grid(n, channels)), 65535)
    tables = codes(before, 65535) * channels + colours + codes(behind, 65535) * 3
    return head + struct.pack(">HH", 64, 64) + tables


def lut8(n: int, of: Callable[[np.ndarray], np.ndarray], channels: int = 3) -> bytes:
    """A lut8Type (10.11), whose curves are straight lines."""
    head = b"mft1" + bytes(4) + bytes((channels, 3, n, 0)) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    line = bytes(range(256))
    return head + line * channels + codes(of(grid(n, channels)), 255) + line * 3


def lut_a_to_b(
    n: int, of: Callable[[np.ndarray], np.ndarray], gamma: float = 1.0, channels: int = 3
) -> bytes:
    """A lutAToBType (10.12): powers, a table of 16 bits, and straight lines behind it."""
    power, line = parametric(0, gamma), parametric(0, 1.0)
    clut = bytes((n,) * channels).ljust(16, b"\0") + bytes((2, 0, 0, 0)) + codes(of(grid(n, channels)), 65535)
    clut += bytes(-len(clut) % 4)
    b_at = 32
    clut_at = b_at + 3 * len(line)
    a_at = clut_at + len(clut)
    head = b"mAB " + bytes(4) + bytes((channels, 3, 0, 0)) + struct.pack(">5I", b_at, 0, 0, clut_at, a_at)
    return head + line * 3 + clut + power * channels


def table_profile(
    table: bytes,
    connection: bytes,
    tag: str = "A2B0",
    version: int = 4,
    space: bytes = b"RGB ",
    name: str = "scanner",
) -> bytes:
    tags = {"desc": named(name), "cprt": named("none"), "wtpt": b"XYZ " + bytes(4) + fixed(0.9642, 1, 0.8249)}
    return profile(tags | {tag: table}, space, connection, version)


def lab16(lab: np.ndarray) -> np.ndarray:
    """CIELAB as fractions of 16 bits in a lut16Type, whose L* ends at FF00h (10.10, table 42)."""
    return (
        np.stack([lab[..., 0] / 100, (lab[..., 1] + 128) / 255, (lab[..., 2] + 128) / 255], -1)
        * 65280
        / 65535
    )


def lab8(lab: np.ndarray) -> np.ndarray:
    """CIELAB as fractions of 8 bits."""
    return np.stack([lab[..., 0] / 100, (lab[..., 1] + 128) / 255, (lab[..., 2] + 128) / 255], -1)


def light_of_lab(lab: np.ndarray) -> np.ndarray:
    """Linear sRGB of CIELAB under D50: CIE 15:2018."""
    fy = (lab[..., 0] + 16) / 116
    f = np.stack([fy + lab[..., 1] / 500, fy, fy - lab[..., 2] / 200], -1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * (0.9642, 1.0, 0.8249)
    return np.asarray(xyz @ D50_TO_SRGB.T)
