"""Measures the largest error of each tone mapping operator, each transfer, and 8-bit codes, against float64.

    python docs/benchmarks/tonemap_accuracy.py [FOLDER] [--json FILE] [--device NAME]

Errors are absolute, relative where the reference exceeds 1, in millionths: of made light of 2^-20 … 2^20 (random
colours, grey, primaries and their mixtures, the ends of every formula's pieces, black), and of FOLDER's photographs, by
default samples/, at the metered exposure and three stops to either side. References: tests/reference/tone.py, with
its parameters; its white points are fixed, so that the operator alone is measured and not the metering.
8 bits: how many codes in a million differ from those of float64, and by how much, with the sRGB curve.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from peers import measured_on

from gpuops import Gpu, GpuopsWarning, files
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.operators import LOCAL, OPERATORS
from gpuops.pixels.coding import Decoding, Encoding, on_device
from gpuops.tone.tonemap import exposure, tonemap, tonemap_pixels

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # the tests are not installed

from tests.reference import tone  # noqa: E402
from tests.reference.colour import srgb_signal  # noqa: E402

Array = npt.NDArray[Any]
WHITE, GAMMA = 4.0, 2.2
# Where formulas change, or have an end: sRGB's line; Khronos Neutral's toe and shoulder, with and without its 0.04;
# AgX's range; Drago's series; middle grey; white.
EDGES = (0.0031308, 0.04, 0.08, 0.76, 0.8, 2**-12.47393, 2**4.026069, 0.25 * 0.18, 0.18, 0.5, 1.0, 2.0, WHITE)
TRANSFER: dict[str, Callable[[Array], Array]] = {
    "srgb": srgb_signal,
    "gamma": lambda v: np.asarray(v ** (1 / GAMMA)),
    "pq": tone.pq,
    "linear": lambda v: v,
}


@dataclass(frozen=True)
class Light:
    """Planes of linear light with the exposure in stops that they are seen at."""

    name: str
    planes: Array
    stops: float = 0.0

    @property
    def exposed(self) -> Array:
        """In float64; what is negative is black."""
        return np.asarray(np.maximum(self.planes.astype(np.float64), 0) * 2.0**self.stops)


@dataclass(frozen=True)
class Error:
    """The largest one, of which light, and what became of it."""

    error: float
    light: list[float]
    got: float
    expected: float


def made() -> Array:
    """Light of all kinds: (3, 1, pixels)."""
    rng = np.random.default_rng(1)
    random = np.exp2(rng.uniform(-20, 20, (3, 1 << 19)))
    alike = np.exp2(rng.uniform(-20, 20, 1 << 17) + rng.normal(0, 1, (3, 1 << 17)))
    grey = np.exp2(np.linspace(-20, 20, 1 << 17))
    grid = np.exp2(np.linspace(-20, 20, 1 << 14))
    mixtures = [[r, g, b] for r in (0, 1) for g in (0, 1) for b in (0, 1)]
    pure = np.concatenate([np.outer(mixture, grid) for mixture in mixtures], 1)
    edges = np.ravel(np.multiply.outer(EDGES, 1 + np.arange(-64, 65) * 2.0**-24))
    three = np.concatenate([random, alike, np.stack([grey] * 3), pure, np.stack([edges] * 3)], 1)
    return three.astype(np.float32)[:, np.newaxis]


def photographs(gpu: Gpu, folder: Path) -> Iterator[Light]:
    for path in sorted(folder.glob("*.exr")):
        planes = np.ascontiguousarray(files.read(path).pixels.astype(np.float32).transpose(2, 0, 1)[:3])
        metered = float(np.log2(exposure(gpu, gpu.array(planes), TonemapParams())))
        for stops in (0, -3, 3):
            yield Light(f"{path.stem} {stops:+} EV", planes, metered + stops)


def largest(got: Array, expected: Array, planes: Array) -> Error:
    off = np.abs(got - expected) / np.maximum(1, np.abs(expected))
    at = np.unravel_index(int(off.argmax()), off.shape)
    light = [float(f"{v:.9g}") for v in planes[:, at[1], at[2]]]
    return Error(float(f"{off[at]:.4g}"), light, float(got[at]), float(expected[at]))


def params(operator: str, light: Light, transfer: str = "linear") -> TonemapParams:
    given = tone.GIVEN.get(operator, {})
    return TonemapParams(operator, light.stops, parameters=given, transfer=transfer, gamma=GAMMA)


def of_operator(gpu: Gpu, operator: str, lights: list[Light]) -> dict[str, Any]:
    """One row: of each light the worst, and 8-bit codes."""
    errors: dict[str, Error] = {}
    codes, wrong, most = 0, 0, 0
    for light in lights:
        expected = tone.OPERATORS[operator](light.exposed, WHITE)
        got = tonemap(gpu, gpu.array(light.planes), params(operator, light)).numpy().astype(np.float64)
        errors[light.name] = largest(got, expected, light.planes)
        signal = srgb_signal(np.clip(expected, 0, 1))
        off = np.abs(eight_bits(gpu, operator, light) - np.rint(255 * signal))
        codes, wrong, most = codes + off.size, wrong + int(np.count_nonzero(off)), max(most, int(off.max()))
    made_light, *others = errors
    return {
        "operator": operator,
        **asdict(errors[made_light]),
        "photographs": {name: errors[name].error for name in others},
        "codes": codes,
        "wrong_codes": wrong,
        "most_codes_off": most,
    }


def eight_bits(gpu: Gpu, operator: str, light: Light) -> Array:
    """Codes (3, height, width), from interleaved floats to interleaved bytes in one kernel."""
    pixels = on_device(gpu, np.ascontiguousarray(light.planes.transpose(1, 2, 0)))
    encoding = Encoding(np.dtype(np.uint8), encode=True)
    codes, _ = tonemap_pixels(gpu, pixels, params(operator, light), Decoding(), encoding)
    return codes.numpy().transpose(2, 0, 1).astype(np.float64)


def of_transfer(gpu: Gpu, transfer: str, light: Light) -> dict[str, Any]:
    """One row."""
    got = tonemap(gpu, gpu.array(light.planes), params("linear", light, transfer)).numpy().astype(np.float64)
    return {"transfer": transfer, **asdict(largest(got, TRANSFER[transfer](light.exposed), light.planes))}


def show(rows: list[dict[str, Any]], transfers: list[dict[str, Any]]) -> None:
    print(f"{'':26}{'made light':>12}{'photographs':>13}{'codes / 10^6':>14}{'by':>4}  worst made light")
    for row in rows:
        print(
            f"{row['operator']:26}{1e6 * row['error']:>12.2f}"
            f"{1e6 * max(row['photographs'].values(), default=np.nan):>13.2f}"
            f"{1e6 * row['wrong_codes'] / row['codes']:>14.1f}{row['most_codes_off']:>4}  {row['light']}"
        )
    for row in transfers:
        print(f"{'transfer ' + row['transfer']:26}{1e6 * row['error']:>12.2f}")


def lines(rows: list[dict[str, Any]]) -> str:
    """JSON of a line a row."""
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "samples", metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--device", help="as clpix's --device")
    options = parser.parse_args()
    warnings.simplefilter("ignore", GpuopsWarning)
    gpu = Gpu(options.device)
    lights = [Light("made", made()), *photographs(gpu, options.folder)]
    rows = [of_operator(gpu, name, lights) for name in OPERATORS if name not in LOCAL]
    transfers = [of_transfer(gpu, transfer, lights[0]) for transfer in TRANSFER]
    context = measured_on(gpu.info)
    print("\n".join(f"{key}: {value}" for key, value in context.items()))
    show(rows, transfers)
    if options.json:
        about = json.dumps(context, ensure_ascii=False)
        options.json.write_text(f'{{\n"context": {about},\n"rows": {lines([*rows, *transfers])}\n}}\n')


if __name__ == "__main__":
    main()
