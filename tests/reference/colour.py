"""Colour by the formulas of their sources, and ICC profiles byte by byte: references for tests, in double precision."""

import struct
from collections.abc import Sequence

import numpy as np

#: Published matrices to linear Rec. 709, white adapted by Bradford: ITU-R BT.2087 (Rec. 2020), Apple
#: (Display P3), the ACES project (AP0, AP1).
TO_REC709 = {
    "Rec. 2020": [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]],
    "Display P3": [[1.22494, -0.22494, 0.0], [-0.04206, 1.04206, 0.0], [-0.01964, -0.07864, 1.09827]],
    "ACES AP0": [[2.52169, -1.13413, -0.38756], [-0.27648, 1.37272, -0.09624], [-0.01538, -0.15298, 1.16835]],
    "ACES AP1": [[1.70505, -0.62179, -0.08326], [-0.13026, 1.14080, -0.01055], [-0.02400, -0.12897, 1.15297]],
}
#: x and y of red, green, blue and white.
CHROMATICITIES = {
    "Rec. 709": (0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290),
    "Rec. 2020": (0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290),
    "Display P3": (0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290),
    "ACES AP0": (0.7347, 0.2653, 0.0, 1.0, 0.0001, -0.0770, 0.32168, 0.33767),
    "ACES AP1": (0.713, 0.293, 0.165, 0.830, 0.128, 0.044, 0.32168, 0.33767),
}


def srgb_signal(light: np.ndarray) -> np.ndarray:
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


def srgb_light(v: np.ndarray) -> np.ndarray:
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def pq_signal(light: np.ndarray) -> np.ndarray:
    """SMPTE ST 2084, of light in units of 203 cd/m²."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 4096 * 128, 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    y = (light * 203 / 10000) ** m1
    return ((c1 + c2 * y) / (1 + c3 * y)) ** m2


def pq_light(v: np.ndarray) -> np.ndarray:
    """The inverse of :func:`pq_signal`, by bisection."""
    low, high = np.zeros(np.shape(v)), np.full(np.shape(v), 10000 / 203)
    for _ in range(80):
        middle = (low + high) / 2
        below = pq_signal(middle) < v
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def matrix(space: str) -> np.ndarray:
    return np.array(TO_REC709.get(space, np.eye(3)))


def fixed(*values: float) -> bytes:
    return b"".join(struct.pack(">i", round(value * 65536)) for value in values)


def curve(*values: int) -> bytes:
    """A curveType of so many entries."""
    return b"curv" + bytes(4) + struct.pack(f">I{len(values)}H", len(values), *values)


def parametric(kind: int, *numbers: float) -> bytes:
    return b"para" + bytes(4) + struct.pack(">HH", kind, 0) + fixed(*numbers)


def d50_columns(space: str) -> np.ndarray:
    """XYZ of red, green and blue in ICC's connection space, in columns."""
    numbers = np.reshape(CHROMATICITIES[space], (4, 2))
    xyz = np.array([(x / y if y else 0, 1, (1 - x - y) / y) for x, y in numbers]).T
    to_xyz = xyz[:, :3] * np.linalg.solve(xyz[:, :3], xyz[:, 3])
    bradford = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    gains = (bradford @ [0.9642, 1, 0.8249]) / (bradford @ xyz[:, 3])
    return np.asarray(np.linalg.inv(bradford) @ np.diag(gains) @ bradford @ to_xyz)


def profile(
    tags: dict[str, bytes], space: bytes = b"RGB ", connection: bytes = b"XYZ ", version: int = 4
) -> bytes:
    head, body = struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        head += struct.pack(">4sII", name.encode(), 132 + 12 * len(tags) + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    size = 128 + len(head) + len(body)
    start = struct.pack(">I4xBBxx4s4s4s12x4s28x", size, version, 0, b"mntr", space, connection, b"acsp")
    return (start + fixed(0.9642, 1, 0.8249)).ljust(128, b"\0") + head + body


def named(text: str, version: int = 4) -> bytes:
    if version == 2:
        return b"desc" + bytes(4) + struct.pack(">I", len(text) + 1) + text.encode() + b"\0" + bytes(78)
    return (
        b"mluc"
        + bytes(4)
        + struct.pack(">II2s2sII", 1, 12, b"en", b"US", 2 * len(text), 28)
        + text.encode("utf-16-be")
    )


def rgb_profile(space: str, *curves: bytes, version: int = 4, **further: bytes) -> bytes:
    """The curves are one for all channels, or three."""
    columns = d50_columns(space)
    each: Sequence[bytes] = curves * (3 // len(curves))
    tags = {
        "desc": named(space, version),
        "cprt": named("none", version),
        "wtpt": b"XYZ " + bytes(4) + fixed(0.9642, 1, 0.8249),
    }
    for i, channel in enumerate("rgb"):
        tags |= {f"{channel}XYZ": b"XYZ " + bytes(4) + fixed(*columns[:, i]), f"{channel}TRC": each[i]}
    return profile(tags | further, version=version)


def gray_profile(data: bytes, connection: bytes = b"XYZ ") -> bytes:
    return profile(
        {
            "desc": named("gray"),
            "cprt": named("none"),
            "wtpt": b"XYZ " + bytes(4) + fixed(0.9642, 1, 0.8249),
            "kTRC": data,
        },
        b"GRAY",
        connection,
    )


def png_chunk(kind: bytes, data: bytes) -> bytes:
    import zlib

    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels: np.ndarray, *chunks: bytes) -> bytes:
    """A PNG of 8- or 16-bit pixels (height, width, channels) with these chunks after its header."""
    import zlib

    height, width, channels = pixels.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, kind, 0, 0, 0)
    big = pixels.astype(pixels.dtype.newbyteorder(">"))
    rows = b"".join(b"\0" + row.tobytes() for row in big)
    parts = (
        png_chunk(b"IHDR", head), *chunks, png_chunk(b"IDAT", zlib.compress(rows)), png_chunk(b"IEND", b""),
    )  # fmt: skip
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def bt709_signal(light: np.ndarray) -> np.ndarray:
    """ITU-R BT.709, item 1.2, and BT.2020, table 4."""
    alpha, beta = 1.09929682680944, 0.018053968510807
    return np.where(light < beta, 4.5 * light, alpha * np.maximum(light, 0) ** 0.45 - (alpha - 1))


def hlg_scene(light: np.ndarray) -> np.ndarray:
    """ITU-R BT.2100, table 5: the inverse OOTF, γ = 1.2 at 1000 cd/m², of light (…, 1 or 3) in units of 203 cd/m²."""
    display = light * 203 / 1000
    luminance = display @ np.array([0.2627, 0.6780, 0.0593]) if light.shape[-1] == 3 else display[..., 0]
    return np.asarray(display * np.maximum(np.abs(luminance), 1e-30)[..., None] ** ((1 - 1.2) / 1.2))


def hlg_light(v: np.ndarray) -> np.ndarray:
    """The light (…, 1 or 3) of an HLG signal −1 … 1, by table 5's inverse OETF and OOTF: 1 is 203 cd/m²."""
    a, b = 0.17883277, 1 - 4 * 0.17883277
    c = 0.5 - a * np.log(4 * a)
    scene = np.sign(v) * np.where(np.abs(v) <= 0.5, v**2 / 3, (np.exp((np.abs(v) - c) / a) + b) / 12)
    luminance = scene @ np.array([[0.2627], [0.6780], [0.0593]]) if v.shape[-1] == 3 else scene
    return np.asarray(1000 * np.abs(luminance) ** 0.2 * scene / 203)


def hlg_signal(scene: np.ndarray) -> np.ndarray:
    """ITU-R BT.2100, table 5: the OETF of scene light 0 … 1."""
    a, b = 0.17883277, 1 - 4 * 0.17883277
    c = 0.5 - a * np.log(4 * a)
    return np.where(scene <= 1 / 12, np.sqrt(3 * scene), a * np.log(np.maximum(12 * scene - b, 1e-9)) + c)


def prophoto_signal(light: np.ndarray) -> np.ndarray:
    """ISO 22028-2 (ROMM RGB)."""
    return np.where(light < 1 / 512, 16 * light, np.maximum(light, 0) ** (1 / 1.8))


#: x and y of the primaries and the white that only outputs are tested in.
CHROMATICITIES |= {
    "Adobe RGB": (0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 0.3127, 0.3290),
    "ProPhoto RGB": (0.7347, 0.2653, 0.1596, 0.8404, 0.0366, 0.0001, 0.3457, 0.3585),
}
#: The primaries and the signal of light of each space that an output can be asked for.
OUTPUTS = {
    "srgb": ("Rec. 709", srgb_signal),
    "display-p3": ("Display P3", srgb_signal),
    "adobe-rgb": ("Adobe RGB", lambda v: v ** (256 / 563)),
    "prophoto-rgb": ("ProPhoto RGB", prophoto_signal),
    "rec709": ("Rec. 709", bt709_signal),
    "rec2020": ("Rec. 2020", bt709_signal),
    "rec2100-pq": ("Rec. 2020", pq_signal),
    "rec2100-hlg": ("Rec. 2020", hlg_signal),
    "display-p3-pq": ("Display P3", pq_signal),
    "linear": ("Rec. 709", lambda v: v),
    "linear-p3": ("Display P3", lambda v: v),
    "linear-rec2020": ("Rec. 2020", lambda v: v),
    "acescg": ("ACES AP1", lambda v: v),
    "aces2065-1": ("ACES AP0", lambda v: v),
}


def output(light: np.ndarray, name: str) -> np.ndarray:
    """Linear Rec. 709 light (height, width, 1 or 3) as values of an output's space; negative light mirrors positive."""
    space, signal = OUTPUTS[name]
    if light.shape[2] == 3:
        light = light @ (np.linalg.inv(d50_columns(space)) @ d50_columns("Rec. 709")).T
    if signal is hlg_signal:
        light = hlg_scene(light)
    return np.sign(light) * signal(np.abs(light))
