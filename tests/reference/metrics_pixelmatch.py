"""Pictures by formulas in whole numbers, and how many of their pixels pixelmatch itself counts.

The counts of tests/data/pixelmatch.json are those of the program on npm, 7.2.0 and, where ``old`` says so, 5.3.0. To
make them again, in a folder where ``npm install pixelmatch@7.2.0 pixelmatch5@npm:pixelmatch@5.3.0`` was done:
``python -m tests.reference.metrics_pixelmatch FOLDER``.
"""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

COUNTS = Path(__file__).parent.parent / "data" / "pixelmatch.json"
THRESHOLDS = (0.0, 0.05, 0.1, 0.3)
# Reads a list of cases, with files of raw RGBA, and prints the counts.
_PROGRAM = """
import pixelmatch from 'pixelmatch';
import pixelmatch5 from 'pixelmatch5';
import fs from 'fs';
const counts = JSON.parse(fs.readFileSync('cases.json')).map(({a, b, width, height, old, options}) =>
    (old ? pixelmatch5 : pixelmatch)(fs.readFileSync(a), fs.readFileSync(b), null, width, height, options));
console.log(JSON.stringify(counts));
"""


def discs(width: int, height: int, shift: int, alpha: bool) -> np.ndarray:
    """Discs with smooth edges, by 4 × 4 samples a pixel."""
    y, x = np.mgrid[: 4 * height, : 4 * width]
    picture = np.full((height, width, 4), (250, 248, 240, 0 if alpha else 255), np.int64)
    for k in range(9):
        cx, cy, radius = (
            (37 * k * k + 11) % (4 * width) + 4 * shift,
            (53 * k + 17) % (4 * height),
            10 + 13 * k % 47,
        )
        inside = (
            ((x - cx) ** 2 + (y - cy) ** 2 < radius**2).reshape(height, 4, width, 4).sum((1, 3))[..., None]
        )
        colour = np.array([(61 * k) % 256, (97 * k + 40) % 256, (29 * k + 90) % 256, 255])
        picture = (picture * (16 - inside) + colour * inside + 8) // 16
    return picture.astype(np.uint8)


def hashed(width: int, height: int, seed: int) -> np.ndarray:
    """Pixels without a pattern."""
    y, x, c = np.mgrid[:height, :width, :4]
    v = (x * 73856093) ^ (y * 19349663) ^ (c * 83492791) ^ (seed * 2654435761)
    v = (v ^ (v >> 13)) * 1274126177 & 0xFFFFFFFF
    return ((v ^ (v >> 16)) & 255).astype(np.uint8)


def slopes(width: int, height: int, seed: int) -> np.ndarray:
    """Slopes of colour and alpha, in which neighbours are equal or nearly so."""
    y, x, c = np.mgrid[:height, :width, :4]
    return (((c + 2) * x // 3 + (5 - c) * y // 2 + seed * (x * y % 7 == 3) * 40) % 256).astype(np.uint8)


def pictures() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pairs of pictures by name."""
    opaque = np.uint8([1, 1, 1, 0]), np.uint8([0, 0, 0, 255])
    return {
        "discs": (discs(61, 43, 0, False), discs(61, 43, 1, False)),
        "discs with alpha": (discs(47, 53, 0, True), discs(47, 53, 1, True)),
        "discs of a row": (discs(97, 1, 0, False), discs(97, 1, 2, False)),
        "pixel": (hashed(1, 1, 1), hashed(1, 1, 2)),
        "hashed": (hashed(31, 29, 1), hashed(31, 29, 2)),
        "hashed and opaque": (
            hashed(37, 23, 3) * opaque[0] + opaque[1],
            hashed(37, 23, 4) // 16 * opaque[0] + hashed(37, 23, 3) // 16 * 15 * opaque[0] + opaque[1],
        ),
        "slopes": (slopes(67, 41, 0), slopes(67, 41, 1)),
        "slopes and opaque": (
            slopes(64, 40, 0) * opaque[0] + opaque[1],
            np.roll(slopes(64, 40, 0), 1, 0) * opaque[0] + opaque[1],
        ),
    }


def cases() -> list[dict[str, Any]]:
    """What is counted: the picture's name, pixelmatch's options, and whether by the older version."""
    return [
        {
            "name": name,
            "old": old,
            "options": {"threshold": threshold, "includeAA": include_aa, "checkerboard": checkerboard},
        }
        for name, threshold, include_aa, (old, checkerboard) in product(
            pictures(), THRESHOLDS, (False, True), ((False, True), (False, False), (True, False))
        )
    ]


def delta(a: np.ndarray, b: np.ndarray, background: np.ndarray | float) -> np.ndarray:
    """δ of two pictures (rows, columns, RGBA) in float64, with Kotsarenko and Ramos's weights."""
    p, q = (
        v[..., :3] * (v[..., 3:] / 255) + background * (1 - v[..., 3:] / 255)
        for v in (a.astype(float), b.astype(float))
    )
    y, i, q_ = np.moveaxis(
        (p - q)
        @ np.transpose(
            [
                (0.29889531, 0.58662247, 0.11448223),
                (0.59597799, -0.27417610, -0.32180189),
                (0.21147017, -0.52261711, 0.31114694),
            ]
        ),
        -1,
        0,
    )
    return np.asarray(0.5053 * y**2 + 0.299 * i**2 + 0.1957 * q_**2)


def _make(folder: Path) -> None:
    wanted = cases()
    for name, pair in pictures().items():
        for side, picture in zip("ab", pair, strict=True):
            picture.tofile(folder / f"{name} {side}.raw")
    for case in wanted:
        height, width, _ = pictures()[case["name"]][0].shape
        case |= {"a": f"{case['name']} a.raw", "b": f"{case['name']} b.raw", "width": width, "height": height}
    (folder / "cases.json").write_text(json.dumps(wanted))
    (folder / "count.mjs").write_text(_PROGRAM)
    counts = json.loads(subprocess.check_output(["node", "count.mjs"], cwd=folder))
    COUNTS.write_text(json.dumps(counts) + "\n")


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
