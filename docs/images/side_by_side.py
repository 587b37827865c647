"""Puts pictures side by side, with the figures that clpix compare printed: side_by_side.py FOLDER OUTPUT NAME..."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

# Pixels between pictures, and the height of a line of text.
GAP, LINE = 8, 22
FIGURES = {
    "psnr": "PSNR {:.1f} dB",
    "ssim": "SSIM {:.3f}",
    "flip": "FLIP {:.3f}",
    "ssimulacra2": "SSIMULACRA {:.0f}",
}


def main(folder: Path, output: Path, names: list[str]) -> None:
    """Writes the picture."""
    pictures = [Image.open(folder / f"{name}.png").convert("RGB") for name in names]
    width, height = pictures[0].size
    sheet = Image.new(
        "RGB", ((width + GAP) * len(names) - GAP, height + LINE * (1 + len(FIGURES)) + 6), "white"
    )
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(17)
    for place, (name, picture) in enumerate(zip(names, pictures, strict=True)):
        left = place * (width + GAP)
        sheet.paste(picture, (left, 0))
        found = folder / f"{name}.json"
        figures = json.loads(found.read_text()) if found.is_file() else {}
        lines = [name] + [text.format(figures[key]) for key, text in FIGURES.items() if key in figures]
        for line, text in enumerate(lines):
            draw.text((left + 4, height + 4 + LINE * line), text, fill="black", font=font)
    sheet.save(output, quality=88)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
