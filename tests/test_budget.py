"""Where memory is too little, one line says how much would do: as much is enough, and a fifth less is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import files
from gpuops.files import Picture

from .conftest import Run

# Formats that are read by rows, and some that are read as a whole, with a depth.
BY_ROWS = (
    ("png", "uint8"), ("png", "uint16"), ("tif", "uint8"), ("tif", "float32"), ("exr", "float16"),
    ("jpg", "uint8"),
)  # fmt: skip
WHOLE = (("bmp", "uint8"), ("hdr", "float32"), ("ppm", "uint16"))
# Commands, as which name they write to: what goes by rows, what needs the whole picture, what turns, what filters.
COMMANDS = {
    "blur --sigma 2": ("png", "tif", "exr", "jpg"),
    "rotate --angle 90 then blur --sigma 1 then flip --axis vertical": ("png", "exr"),
    "fft": ("npz", "png", "exr"),
    "compare --mask m.png": ("",),
    "idwt": ("tif",),
    "grade --exposure 1 then write MID.png then sharpen": ("png", "jpg"),
    "resize --scale 2": ("tif", "bmp"),
    "filter --kind lowpass --cutoff 0.1": ("png", "exr"),
    "deconvolve --sigma 2 then rotate --angle 90": ("tif",),
    "grade --exposure 1 then rotate --angle 7 --no-expand": ("png",),
    "fft --precision double": ("tif", "npz"),
    "ifft": ("png", "exr"),
    "dwt": ("npz",),
    "dwt --shrink visu --reconstruct": ("png",),
    "compare --metric ssim --metric pixelmatch": ("png",),
    "info --stats": ("",),
    "regress": ("",),
}
# What a codec takes: as much as it is, so that small pictures take less as a whole; and less than they do.
CODECS = (75 << 20, 20 << 10)


def saved(path: Path, shape: tuple[int, int, int], dtype: str, seed: int) -> Path:
    values, whole = np.random.default_rng(seed).random(shape), dtype.startswith("u")
    pixels = (values * np.iinfo(dtype).max).astype(dtype) if whole else values.astype(dtype)
    path.parent.mkdir(exist_ok=True)
    files.write(path, Picture(pixels, linear=not whole), overwrite=True)
    return path


@pytest.mark.cases(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_line_says_is_enough(clpix, tmp_path, monkeypatch, command) -> None:
    """Of pictures and spectra in several formats, with codecs that take little or much, and with a scratch folder."""
    monkeypatch.chdir(tmp_path)
    name, *options = command.split()
    known = st.sampled_from(BY_ROWS + WHOLE)

    @settings(max_examples=5)
    @given(
        shape=st.tuples(st.integers(70, 300), st.integers(70, 300), st.sampled_from([1, 3])),
        read=st.tuples(known, known),
        written=st.sampled_from(COMMANDS[command]),
        codec=st.sampled_from(CODECS),
        scratch=st.booleans(),
    )
    def one(shape, read, written, codec, scratch) -> None:
        saved(tmp_path / "m.png", shape, "uint8", 2)
        shape = (*shape[:2], 3) if {"hdr", "ppm"} & {*dict(read)} else shape  # which have no gray
        for folder in ("a", "b"):
            for path in (tmp_path / folder).glob("*"):
                path.unlink()
        paths = [
            saved(tmp_path / folder / f"a.{kind}", shape, dtype, seed)
            for seed, (folder, (kind, dtype)) in enumerate(
                zip("ab", read[:1] * 2 if name == "regress" else read, strict=True)
            )
        ]
        if name in ("ifft", "idwt"):
            made = tmp_path / ("a.npz" if shape[0] % 2 else "a.exr")
            assert clpix(name[1:], paths[0], "-o", made, "--overwrite").code == 0
            paths = [made]
        words = [name, *(paths if name == "compare" else ("a", "b") if name == "regress" else paths[:1])]
        words += [*options, *(("-o", f"out.{written}", "--overwrite") if written else ())]
        if scratch and written and name not in ("dwt", "idwt", "compare"):
            words += ["--scratch", "."]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gpuops.rows.budget._CODEC", codec)
            asked(
                lambda memory: clpix(*words, "--memory", memory),
                1 if name not in ("compare", "regress") else 2,
            )

    one()


@pytest.mark.parametrize("words", [("compare", "a/a.png", "b/a.png"), ("regress", "a", "b")])
def test_a_mask_larger_than_the_pictures_comes_by_rows(clpix, tmp_path, monkeypatch, words) -> None:
    monkeypatch.chdir(tmp_path)
    shape = 300, 200, 1
    for seed, folder in enumerate("ab"):
        saved(tmp_path / folder / "a.png", shape, "uint8", seed)
    mask = np.zeros((*shape[:2], 4), np.float32)
    mask[100:150, 20:90] = 1
    files.write("m.tif", Picture(mask, alpha=True, linear=True))
    words = (*words, "--mask", "m.tif")
    usual = clpix(*words)
    monkeypatch.setattr("gpuops.metrics.pair.Pair.of", None)  # which reads the mask as a whole
    few = clpix(*words, "--memory", str(8 * 300 * 200))
    assert few == usual and few.code == 1 and "56500" in few.out


def asked(run: Callable[[int], Run], refused: int) -> None:
    """Runs a command with too little memory, with as much as it asks for, and with a fifth less."""
    enough = None
    for share in (0.001, 0.3, 0.8):
        told = run(int(share * enough) if enough else 100)
        text = told.err + told.out
        assert told.code == refused and told.err.count("\n") <= 1, (share, enough, told)
        found = re.search(r"are allowed.*: raise --memory to (\d+)([KM])", text)
        assert found is not None, told
        said = int(found[1]) << {"K": 10, "M": 20}[found[2]]
        assert enough in (None, said), (share, enough, told)
        enough = said
    told = run(enough)
    assert told.code < refused and "--memory" not in told.err + told.out, (enough, told)
