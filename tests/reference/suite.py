"""A small suite with every status, and pictures of every depth, for tests of reports."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuops import files
from gpuops.regress.outcome import Limit, Outcome, PairedPicture, Run, WorstPixel

Pixels = NDArray[np.generic]

#: A name with markup, which has to stay a name.
MARKUP = "evil/<img src=x onerror=alert(1)>&amp;</noscript><script>alert(2)</script>.png"
#: Where the results differ: rows and columns.
BLOCK = (slice(8, 20), slice(30, 50))
HEIGHT, WIDTH = 40, 64


def ramp(channels: int) -> NDArray[np.float64]:
    """A picture whose values differ at every pixel, within 0.1 … 0.6."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([0.1 + 0.5 * (x + k * y) / (WIDTH + k * HEIGHT) for k in range(channels)], axis=2)


@dataclass
class Suite:
    """The pictures in a folder, and the outcomes of their comparison."""

    folder: Path
    pictures: dict[str, tuple[Pixels, Pixels]]

    def write(self, name: str, pixels: Pixels, *, linear: bool = False) -> PairedPicture:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        alpha = pixels.shape[2] in (2, 4)
        files.write(path, files.Picture(np.ascontiguousarray(pixels), alpha, linear), overwrite=True)
        channels = {1: "Y", 2: "YA", 3: "RGB", 4: "RGBA"}[pixels.shape[2]]
        return PairedPicture(
            str(path), name, "0" * 64, "base", pixels.shape[1], pixels.shape[0], channels, pixels.dtype.name
        )

    def outcome(
        self, name: str, reference: Pixels, result: Pixels, status: str = "failed", tags: Iterable[str] = ()
    ) -> Outcome:
        """Writes both pictures and says how they differ."""
        self.pictures[name] = reference, result
        linear = name.endswith(".exr")
        top = np.iinfo(result.dtype).max if result.dtype.kind == "u" else 1
        apart = np.abs(result.astype(np.float64) - reference.astype(np.float64)).max(axis=2) / top
        largest = float(np.nanmax(apart))
        row, column = np.unravel_index(np.nanargmax(apart), apart.shape)
        limits = (Limit("max", largest, 0.01),)
        return Outcome(
            name,
            status,
            self.write(f"results/{name}", result, linear=linear),
            self.write(f"references/{name}", reference, linear=linear),
            {"max": largest, "psnr": 31.25},
            {"max": 0.01},
            limits if status == "failed" else (),
            limits if status == "warned" else (),
            WorstPixel(
                int(column), int(row),
                tuple(map(float, result[row, column])), tuple(map(float, reference[row, column])),
            ),
            tags=tuple(tags),
            command=f"render {name}",
            seconds=0.5,
        )  # fmt: skip


def small(folder: Path, equal: int = 130) -> tuple[Suite, Run]:
    """A run of a dozen cases that need attention, and many that do not."""
    suite = Suite(folder, {})
    light, changed = ramp(3), ramp(3)
    changed[BLOCK] += 0.25
    levels = [np.rint(255 * part).astype(np.uint8) for part in (light, changed)]
    deep = [np.rint(65535 * part).astype(np.uint16) for part in (light, changed)]
    half = [(4 * part).astype(np.float16) for part in (light, changed)]
    half[1][2, 3] = (np.nan, np.inf, -1)
    single = [part.astype(np.float32) for part in (light, changed)]
    cover = [np.dstack([part, np.rint(255 * ramp(1)).astype(np.uint8)]) for part in levels]
    first = suite.outcome("depth/8.png", *levels, tags=["fast"])
    whole = first.reference
    assert whole is not None
    outcomes = [
        first,
        suite.outcome("depth/16.png", *deep),
        suite.outcome("depth/half.exr", *half, tags=["hdr", "a<b"]),
        suite.outcome("depth/single.exr", *single, tags=["hdr"]),
        suite.outcome("depth/gray.png", levels[0][..., :1], levels[1][..., :1]),
        suite.outcome("alpha.png", *cover, status="warned"),
        Outcome(MARKUP, "error", first.result, first.reference, message=f"says {MARKUP}", tags=("fast",)),
        Outcome("lost.png", "missing", None, whole, output="\x1b[31mno <b>memory</b>\x1b[0m\x07"),
        Outcome("new.png", "new", first.result),
        Outcome("gone.png", "failed", whole._replace(path="/nowhere/gone.png"), whole),
        Outcome("moved.png", "renamed", message="equals other.png"),
        Outcome("gpu.png", "skipped", message="needs a GPU"),
        *(Outcome(f"equal/{k:03}.png", "equal") for k in range(equal)),
        *(Outcome(f"passed/{k}.png", "passed", figures={"max": 0.001}, tags=("fast",)) for k in range(5)),
    ]
    context = {"clpix": "0.1.0", "device": "PoCL <cpu>", "command": "clpix regress results references"}
    return suite, Run(sorted(outcomes, key=lambda outcome: outcome.name), context)
