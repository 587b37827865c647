"""The same command gives the same bytes: on any day, at any hour, in any folder, under any temporary name."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gpuops.files import FORMATS, Metadata, Picture, oiio, write

from .choices import needs

#: Writes a picture in every format and depth with 1 to 4 channels, and arrays in every format for them.
LIBRARY = """
import sys, warnings, numpy as np
from gpuops.files import FORMATS, Metadata, Picture, write, write_data
warnings.simplefilter("ignore")
folder = sys.argv[1]
values = np.random.default_rng(1).random((40, 50, 4))
metadata = Metadata(resolution=(300.0, 150.0, "in"), attributes={"owner": ("string", "me")})
for fmt in FORMATS:
    for dtype in fmt.dtypes:
        for channels in (1, 2, 3, 4):
            most = {"uint8": 255, "uint16": 65535}.get(dtype, 1)
            pixels = (values[:, :, :channels] * most).astype(dtype)
            linear, alpha = dtype.startswith("float"), channels in (2, 4)
            write(f"{folder}/{dtype}-{channels}{fmt.extension}", Picture(pixels, alpha, linear, metadata))
for extension in (".npz", ".exr", ".tif"):
    for deflated in (False, True):
        arrays = {"a": values.astype(np.float32)[:3], "b": values.astype(np.complex64)[0]}
        write_data(f"{folder}/data-{deflated}{extension}", arrays, {"x": 1}, compress=deflated)
"""
#: Runs the program with each of the lines, in which OUT stands for the folder of the outputs.
COMMANDS = """
import sys, pathlib
from clpix.main import main
folder, source = sys.argv[1:3]
for line in pathlib.Path(sys.argv[3]).read_text().splitlines():
    try:
        main(line.replace("OUT", folder).replace("IN", source).split())
    except SystemExit as end:
        assert end.code == (" IN.exr IN.png " in line), line  # a difference found is 1
"""
#: All commands that write files; another test covers the formats.
LINES = """
blur IN.exr -o OUT/blur.exr --sigma 2 --dump-kernels OUT
bloom IN.png -o OUT/bloom.jp2
tonemap IN.exr -o OUT/tonemap.jpg --plot-curve OUT/curve.svg
convolve IN.exr -o OUT/convolve.tif --kernel IN.png
compare IN.exr IN.png -o OUT/compare.dpx
fft IN.exr -o OUT/fft.exr
fft IN.png -o OUT/fft.png --view phase
ifft OUT/fft.exr -o OUT/ifft.exr
dwt IN.png -o OUT/dwt.npz --keep 10
idwt OUT/dwt.npz -o OUT/idwt.npz
"""


def written_twice(tmp_path: Path, code: str, *args: object) -> tuple[list[str], list[str]]:
    """The names of the files that two runs wrote, and of those that differ between the runs.

    The runs are 26 hours of local time and 2 seconds of the clock apart (archives count time by 2 seconds), and
    write to folders of other names.
    """
    written: list[dict[str, str]] = []
    for zone, name in (("UTC+12", "a"), ("UTC-14", "another/folder")):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TZ", zone)
            patch.setenv("TMPDIR", str(folder))
            command = [sys.executable, "-c", code, str(folder), *map(str, args)]
            subprocess.run(command, check=True)
        written.append(
            {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir() if f.is_file()}
        )
        time.sleep(2.1 if len(written) == 1 else 0)
    names = sorted(written[0].keys() | written[1].keys())
    return names, [name for name in names if written[0].get(name) != written[1].get(name)]


@needs("pillow_heif", "formats")
def test_every_format(tmp_path) -> None:
    names, changed = written_twice(tmp_path, LIBRARY)
    assert len(names) == 4 * sum(len(fmt.dtypes) for fmt in FORMATS) + 6 and changed == []


@pytest.mark.exhaustive
def test_every_command(tmp_path, rng) -> None:
    values = rng.random((40, 50, 3)).astype(np.float32)
    dated = {"DateTime": "2001:02:03 04:05:06", "owner": "me"}
    oiio.write(str(tmp_path / "in.exr"), values, dated)
    write(tmp_path / "in.png", Picture((values * 255).astype(np.uint8), metadata=Metadata(xmp=b"<x/>")))
    (tmp_path / "lines").write_text(LINES.strip())
    names, changed = written_twice(tmp_path, COMMANDS, tmp_path / "in", tmp_path / "lines")
    named = {word[4:] for word in LINES.split() if word.startswith("OUT/")}
    assert named <= set(names) and changed == []
