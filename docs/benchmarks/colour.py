"""Compares pictures in other colour spaces, shown as sRGB, with what libvips and OpenImageIO show.

    python docs/benchmarks/colour.py [FOLDER] [--json FILE] [--device NAME]

FOLDER's photographs, by default samples/, are compressed to 0 … 1 and taken for light of each space: JPEG files in
Display P3 and Adobe RGB with ICC profiles, and EXR files of ACES2065-1, ACEScg and Rec. 2020. So some colours are
beyond sRGB, which all programs clip. `clpix convert --colour srgb`, `vips icc_transform` (libvips, by Little CMS) and
OpenImageIO's ImageBufAlgo.colorconvert (by OpenColorIO's built-in config) make 8-bit sRGB of them. The difference is
CIEDE2000, of all pixels. libvips knows no primaries of EXR files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import OpenImageIO as oiio
from peers import measured_on
from skimage.color import deltaE_ciede2000, rgb2lab

from gpuops import Gpu, files
from gpuops.files import Metadata, Picture
from gpuops.pixels.spaces import named

ROOT = Path(__file__).parents[2]
CONFIG = "ocio://studio-config-latest"
SRGB = "sRGB - Texture"
#: Of each space: its name here, the kind of file, and OpenColorIO's name.
SPACES = {
    "Display P3": ("display-p3", ".jpg", "sRGB Encoded P3-D65"),
    "Adobe RGB": ("adobe-rgb", ".jpg", "Gamma 2.2 Encoded AdobeRGB"),
    "ACES2065-1": ("aces2065-1", ".exr", "ACES2065-1"),
    "ACEScg": ("acescg", ".exr", "ACEScg"),
    "Rec. 2020": ("linear-rec2020", ".exr", "Linear Rec.2020"),
}

Codes = npt.NDArray[np.uint8]


def made(photograph: Path, space: str, folder: Path) -> Path:
    """Writes a photograph as a file in a space."""
    colour, kind, _ = SPACES[space]
    light = np.maximum(files.read(photograph).pixels[..., :3].astype(np.float32), 0)
    light = light / np.median(light) * 0.3
    light = light / (1 + light)
    path = folder / f"{photograph.stem}-{colour}{kind}"
    metadata = Metadata(colour=named(colour))
    if kind == ".exr":
        files.write(path, Picture(light, linear=True, metadata=metadata))
    else:
        codes = np.rint(255 * light ** (1 / 2.2)).astype(np.uint8)
        files.write(path, Picture(codes, metadata=metadata))
    return path


def by_clpix(path: Path, device: str | None) -> Codes:
    out = path.with_suffix(".clpix.png")
    command = ["convert", str(path), "--colour", "srgb", "--dtype", "uint8", "-q", "-o", str(out)]
    if device:
        command += ["--device", device]
    subprocess.run([sys.executable, "-m", "clpix", *command], check=True)
    return np.asarray(files.read(out).pixels)


def by_vips(path: Path) -> Codes:
    out = path.with_suffix(".vips.png")
    command = ["vips", "icc_transform", str(path), str(out), "srgb", "--embedded", "--intent", "relative"]
    subprocess.run(command, check=True)
    return np.asarray(files.read(out).pixels)


def by_openimageio(path: Path, space: str) -> Codes:
    source = oiio.ImageBuf(str(path))
    shown = oiio.ImageBufAlgo.colorconvert(source, SPACES[space][2], SRGB, colorconfig=CONFIG)
    if shown.has_error:
        sys.exit(f"OpenImageIO: {shown.geterror()}")
    return np.asarray(np.rint(255 * np.clip(shown.get_pixels(oiio.FLOAT), 0, 1)).astype(np.uint8))


def difference(a: Codes, b: Codes) -> dict[str, float]:
    """CIEDE2000 of two pictures: its mean, its 99th percentile and its largest value."""
    found = deltaE_ciede2000(rgb2lab(a), rgb2lab(b))
    return {
        "mean": float(f"{found.mean():.4g}"),
        "p99": float(f"{np.percentile(found, 99):.4g}"),
        "max": float(f"{found.max():.4g}"),
    }


def row(space: str, folder: Path, photographs: list[Path], device: str | None) -> dict[str, Any]:
    """The differences in a space, over all photographs at once."""
    ours, vips, openimageio = [], [], []
    for photograph in photographs:
        path = made(photograph, space, folder)
        ours.append(by_clpix(path, device).reshape(-1, 1, 3))
        openimageio.append(by_openimageio(path, space).reshape(-1, 1, 3))
        if path.suffix == ".jpg":
            vips.append(by_vips(path).reshape(-1, 1, 3))
    joined = np.concatenate(ours)
    return {
        "space": space,
        "file": SPACES[space][1][1:].upper().replace("JPG", "JPEG"),
        "pixels": len(joined),
        "vips": difference(joined, np.concatenate(vips)) if vips else None,
        "openimageio": difference(joined, np.concatenate(openimageio)),
    }


def main() -> None:
    """Measures, prints the rows, writes the JSON."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "samples", metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--device", help="as clpix's --device")
    options = parser.parse_args()
    photographs = sorted(options.folder.glob("*.exr"))
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(space, Path(folder), photographs, options.device) for space in SPACES]
    version = subprocess.run(["vips", "--version"], capture_output=True, text=True, check=True).stdout
    context = measured_on(Gpu(options.device).info)
    context |= {"vips": version.strip(), "OpenImageIO": oiio.VERSION_STRING}
    for found in rows:
        print(found)
    if options.json:
        about = json.dumps(context, ensure_ascii=False)
        lines = ",\n".join(json.dumps(found, ensure_ascii=False) for found in rows)
        options.json.write_text(f'{{\n"context": {about},\n"rows": [\n{lines}\n]\n}}\n')


if __name__ == "__main__":
    main()
