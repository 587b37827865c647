"""Writes gallery.md and its pictures: each is what the command beneath it makes, reduced.

python docs/gallery.py
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "gallery.md"
PICTURES = HERE / "images" / "gallery"
SAMPLES = HERE.parent / "samples"
# The width of the pictures, in pixels, and JPEG's quality.
WIDTH, QUALITY = 400, 82

HEAD = """# Gallery

Each picture is what the command beneath it makes, reduced to 400 pixels. The inputs are the photographs in `samples/`.
`photo.png` is one of them for a display: `clpix tonemap courtyard.exr -o photo.png`.

This page and its pictures are written by `python docs/gallery.py`.
"""
# Titles of sections; names of pictures, what they show, and their commands.
GALLERY = {
    "Tone mapping": {
        "agx": ("AgX, the default operator", "tonemap courtyard.exr"),
        "khronos-neutral": ("Khronos neutral", "tonemap courtyard.exr --operator khronos-neutral"),
        "aces-hill": ("ACES", "tonemap courtyard.exr --operator aces-hill"),
        "durand": ("A local operator: contrast stays in bricks", "tonemap courtyard.exr --operator durand"),
        "warm": ("White balance", "tonemap sunset.exr --white-balance 9000K"),
        "dark": ("Two stops less", "tonemap sunset.exr --exposure -2"),
    },
    "Light": {
        "bloom": ("A glow around lamps", "bloom interior.exr --strength 0.3 --tonemap agx"),
        "starburst": (
            "Rays of seven aperture blades",
            "bloom night.exr --method fft --blades 7 --strength 0.3 --tonemap agx",
        ),
    },
    "Blur and sharpness": {
        "gaussian": ("Gaussian", "blur photo.png --sigma 6"),
        "disc": ("Out of focus", "blur courtyard.exr --kind disc --radius 8 then tonemap"),
        "motion": ("A moving camera", "blur courtyard.exr --kind motion --length 40 --angle 10 then tonemap"),
        "median": ("Median: edges stay", "blur photo.png --kind median --radius 4"),
        "bilateral": (
            "Bilateral: surfaces get smooth",
            "blur photo.png --kind bilateral --sigma 5 --sigma-color 0.1",
        ),
        "sharpen": ("Unsharp mask", "sharpen photo.png --sigma 1.5 --amount 2"),
    },
    "Colour": {
        "gray": ("Without saturation, with contrast", "grade photo.png --saturation 0 --contrast 1.3"),
        "cdl": ("ASC CDL", "grade photo.png --slope 1.1,1,0.85 --power 0.95,1,1.1"),
    },
    "Transforms": {
        "spectrum": ("The spectrum's magnitude", "fft photo.png"),
        "phase": ("Its phase", "fft photo.png --view phase"),
        "pyramid": ("Wavelet bands", "dwt photo.png --levels 3"),
        "keep": (
            "One percent of the coefficients",
            "dwt photo.png --keep 1 --reconstruct",
        ),
    },
    "Shape": {
        "rotate": ("Turned", "rotate photo.png --angle 12"),
        "crop": ("A part", "crop photo.png --region 50%,20%,30%,60%"),
    },
}


def line_of(command: str, name: str) -> str:
    """The command line that a picture stands for."""
    return f"clpix {command} -o {name}.png"


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for title, pictures in GALLERY.items():
        parts.append(f"## {title}\n")
        for name, (shown, command) in pictures.items():
            parts.append(f"**{shown}**\n\n![{shown}](images/gallery/{name}.jpg)\n")
            parts.append(f"    {line_of(command, name)}\n")
    return "\n".join(parts)


def make() -> None:
    """Makes the pictures with the program."""
    from PIL import Image

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for sample in SAMPLES.glob("*.exr"):
            os.symlink(sample.resolve(), Path(folder, sample.name))
        first = ["clpix tonemap courtyard.exr -o photo.png"]
        commands = {
            name: line_of(command, name)
            for pictures in GALLERY.values()
            for name, (_, command) in pictures.items()
        }
        for line in (*first, *commands.values()):
            words = [sys.executable, "-m", *shlex.split(line), "--quiet"]
            subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for name in commands:
            picture = Image.open(Path(folder, f"{name}.png")).convert("RGB")
            picture.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
            picture.save(PICTURES / f"{name}.jpg", quality=QUALITY)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    make()
