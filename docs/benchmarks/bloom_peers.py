"""Times clpix's bloom with tone mapping, from interleaved half floats to 8-bit pixels, kernel by kernel.

    python docs/benchmarks/bloom_peers.py --json bloom.json [--device NAME] [--size 3840x2160]

``clpix bloom in.exr --tonemap agx -o out.png`` from device memory to device memory: metering, the mip chain, the glow
laid over, AgX, sRGB and 8 bits; and with other operators. Milliseconds by the kernels' events, medians of 15 runs after
two that are not counted. ``planes``: the same by planar float images, unpacking, tone mapping and packing in passes of
their own. The last number is the share of the bandwidth of a copy, by the bytes that a kernel must read and write.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

from gpuops import Gpu, Report
from gpuops.bench import copies as bench
from gpuops.glow import bloom
from gpuops.image import Image
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.pixels.coding import Decoding, Encoding, pack, unpack
from gpuops.tone import tonemap

RUNS = 15
DECODING, ENCODING = Decoding(), Encoding(np.dtype(np.uint8), encode=True)
OPERATORS = ("agx", "aces-narkowicz", "linear")


def scene(height: int, width: int) -> npt.NDArray[np.float16]:
    """Dim noise, and a thousand lamps."""
    rng = np.random.default_rng(1)
    light = np.exp(rng.standard_normal((height, width, 3), np.float32) - 2)
    for y, x in zip(rng.integers(0, height, 1000), rng.integers(0, width, 1000), strict=True):
        light[y : y + 5, x : x + 5] += rng.random(3, np.float32) * 200
    return light.astype(np.float16)


def size(text: str) -> tuple[int, int]:
    """WxH as (height, width)."""
    width, height = map(int, text.lower().split("x"))
    return height, width


def by_planes(gpu: Gpu, pixels: Image, operator: str) -> tuple[Image, Image]:
    """One pass after the other."""
    image = unpack(pixels, DECODING)
    stops = float(np.log2(tonemap.exposure(gpu, image, TonemapParams())))
    image = bloom.bloom(gpu, image, BloomParams(exposure=stops), overwrite_input=True)
    shown = tonemap.tonemap(gpu, image, TonemapParams(operator, exposure=stops, transfer="linear"))
    return pack(shown, ENCODING)


def fused(gpu: Gpu, pixels: Image, operator: str) -> tuple[Image, Image]:
    """As few passes as there can be."""
    display = TonemapParams(operator, exposure=0.0, transfer="linear")
    return bloom.bloom_pixels(gpu, pixels, BloomParams(), DECODING, ENCODING, display, metered=True)


def kernels(gpu: Gpu, call: Callable[[], Any]) -> dict[str, Any]:
    """The median run's time, and every launch's with the bytes of its model."""
    runs = []
    for _ in range(RUNS + 2):
        gpu.report = Report()
        call()
        runs.append([(k, ms) for k in gpu.report.kernels() for ms in k.ms])
    runs = runs[2:]
    launches = [
        {
            "kernel": kernel.label,
            "global": list(kernel.global_size),
            "local": list(kernel.local_size or ()),
            "ms": median(run[n][1] for run in runs),
            "bytes": kernel.traffic,
        }
        for n, (kernel, _) in enumerate(runs[0])
    ]
    return {"ms": median(sum(ms for _, ms in run) for run in runs), "launches": launches}


def main() -> None:
    """Measures, prints the tables, writes the JSON."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--device", help="as clpix's --device")
    parser.add_argument("--size", type=size, default=(2160, 3840), metavar="WxH")
    options = parser.parse_args()
    gpu = Gpu(options.device, report=Report())
    mib = max(bench.sizes_that_fit(gpu))
    copied = next(m for m in bench.copy(gpu, [mib]) if m.what == "copy kernel").gbps
    pixels = gpu.array(scene(*options.size))
    print(f"{gpu.info.name}, {options.size[1]} × {options.size[0]}; a copy of {mib} MiB: {copied:.0f} GB/s")
    rows = []
    for name, way in (("fused", fused), ("planes", by_planes)):
        for operator in OPERATORS if way is fused else OPERATORS[:1]:
            row = {"way": name, "operator": operator, **kernels(gpu, partial(way, gpu, pixels, operator))}
            rows.append(row)
            print(f"\n{name}, {operator}: {row['ms']:.4f} ms in {len(row['launches'])} kernels", flush=True)
            for launch in row["launches"]:
                gbps = launch["bytes"] / launch["ms"] / 1e6 if launch["ms"] else 0.0
                shape = "×".join(map(str, launch["global"])) + " / " + "×".join(map(str, launch["local"]))
                share = gbps / copied
                print(
                    f"  {launch['kernel']:24}{launch['ms']:9.4f} ms{gbps:8.0f} GB/s{share:6.2f}   {shape}",
                    flush=True,
                )
    got, expected = (way(gpu, pixels, OPERATORS[0])[0].numpy().astype(int) for way in (fused, by_planes))
    difference = np.abs(got - expected)
    print(
        f"\nlevels between both ways: {difference.max()} at most, {(difference > 0).mean():.2e} of the values differ"
    )
    peers.save(
        options,
        gpu,
        rows,
        shape=[*options.size, 3],
        copy_gbps=copied,
        differing=float((difference > 0).mean()),
    )


if __name__ == "__main__":
    main()
