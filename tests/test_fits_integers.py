"""FITS files of integers: what has only moved is stored as it was, as astropy and numpy find it."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import files

from .choices import each
from .conftest import in_blocks

fits = pytest.importorskip("astropy.io.fits")
wcs = pytest.importorskip("astropy.wcs")

#: The types of values, as numpy has them: FITS has those with and without a sign by BZERO.
KINDS = ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
BLANK = 7
SKY = {
    "CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CRVAL1": 150.1, "CRVAL2": 2.2, "CRPIX1": 11.25, "CRPIX2": 5.5,
    "CD1_1": -2e-4, "CD1_2": 3e-5, "CD2_1": 2e-5, "CD2_2": 2.1e-4, "OBJECT": "M 31's core",
}  # fmt: skip


def image(rng, kind, shape, **cards):  # type: ignore[no-untyped-def]
    """An HDU of whole numbers that floats hold."""
    ends = np.iinfo(kind)
    values = rng.integers(max(ends.min, 1 - 2**24), min(ends.max, 2**24 - 1), shape, endpoint=True)
    return fits.ImageHDU(values.astype(kind), fits.Header({**SKY, **cards}))


def stored(path, number=0):  # type: ignore[no-untyped-def]
    """The numbers in a file, and the header; it is by the standard."""
    with fits.open(path) as file:
        file.verify("exception")
    with fits.open(path, do_not_scale_image_data=True) as file:
        return file[number].data, file[number].header


def storage(header):  # type: ignore[no-untyped-def]
    return [header.get(name) for name in ("BITPIX", "BSCALE", "BZERO", "BLANK")]


def moved(array, move):  # type: ignore[no-untyped-def]
    """The array whose last axes are rows and columns, and the words that do the same; rows come from the top."""
    top = array[..., ::-1, :]
    if move in ("horizontal", "vertical", "both"):
        words = ["flip", "--axis", move]
        top = top[..., :: -1 if move != "horizontal" else 1, :: -1 if move != "vertical" else 1]
    elif isinstance(move, int):
        words, top = ["rotate", "--angle", move], np.rot90(top, -move // 90, (-2, -1))
    elif move == "nothing":
        words = ["convert"]
    else:
        left, above, right, below = move
        rows, columns = top.shape[-2] - above - below, top.shape[-1] - left - right
        words = ["crop", "--region", f"{left},{above},{columns},{rows}"]
        top = top[..., above : above + rows, left : left + columns]
    return top[..., ::-1, :], words


MOVES = st.one_of(
    st.sampled_from(["horizontal", "vertical", "both", 90, 180, 270, "nothing"]),
    st.tuples(*[st.integers(0, 2)] * 4),
)


@settings(max_examples=30)
@given(
    moves=st.lists(MOVES, min_size=1, max_size=4),
    kind=st.sampled_from(KINDS),
    planes=st.sampled_from([(), (3,)]),
    blank=st.booleans(),
    tiled=st.booleans(),
    by_rows=st.booleans(),
)
def test_chains_of_moves(clpix, tmp_path, rng, moves, kind, planes, blank, tiled, by_rows) -> None:
    """Stored numbers are those that numpy has moved, cards stay, and a pixel's place in the sky is the one it had."""
    tiled = tiled and kind[-2:] != "64"
    hdu = image(rng, kind, (*planes, 19, 23), **({"BLANK": BLANK} if blank else {}))
    path, made, number = tmp_path / "in.fits", tmp_path / "out.fits", 0
    fits.PrimaryHDU(hdu.data, hdu.header).writeto(path, overwrite=True)
    numbers, before = stored(path)
    if tiled:
        hdu = fits.CompImageHDU(hdu.data, hdu.header, compression_type="RICE_1")
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, overwrite=True)
        number = 1
    y, x = np.indices(numbers.shape[-2:]) + 1
    words: list[object] = []
    for move in moves:
        numbers, step = moved(numbers, move)
        (x, _), (y, _) = moved(x, move), moved(y, move)
        words += ["then", *step] if words else [step[0], path, *step[1:]]
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 500)
        run = clpix(*words, "-o", made, "--overwrite")
    assert (run.code, run.err) == (0, "")
    result, after = stored(made)
    np.testing.assert_array_equal(result, numbers)
    assert result.dtype == numbers.dtype
    assert storage(after) == storage(before) and after["OBJECT"] == "M 31's core"
    at = np.indices(x.shape)[::-1] + 1
    with fits.open(path) as file:
        was = wcs.WCS(file[number].header, naxis=2).all_pix2world(x.ravel(), y.ravel(), 1)
    now = wcs.WCS(after, naxis=2).all_pix2world(*(axis.ravel() for axis in at), 1)
    assert np.abs(np.subtract(was, now)).max() * 3600 < 1e-8


@each(by_rows=[False, True], kind=["int32", "uint32", "int64", "uint64"], planes=[(), (3,)])
def test_numbers_that_floats_round(clpix, tmp_path, rng, by_rows, kind, planes) -> None:
    """The result is floats, and a line says so, whichever rows have the large numbers; a part without any is exact."""
    hdu = image(rng, kind, (*planes, 29, 31))
    hdu.data[..., 3, 5] = 2**24 + 1
    fits.PrimaryHDU(hdu.data, hdu.header).writeto(tmp_path / "in.fits")
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 500)
        whole = clpix("flip", tmp_path / "in.fits", "--axis", "both", "-o", tmp_path / "out.fits")
        part = clpix("crop", tmp_path / "in.fits", "--region", "0,2,31,20", "-o", tmp_path / "part.fits")
    assert whole.code == part.code == 0
    assert whole.err.count("\n") == 1 and "holds whole numbers beyond 16777215" in whole.err
    result, header = stored(tmp_path / "out.fits")
    assert storage(header) == [-32, None, None, None] and header["OBJECT"] == "M 31's core"
    np.testing.assert_array_equal(result, hdu.data[..., ::-1, ::-1].astype(np.float32))
    numbers, before = stored(tmp_path / "in.fits")
    result, header = stored(tmp_path / "part.fits")
    assert storage(header) == storage(before)
    np.testing.assert_array_equal(result, numbers[..., 7:27, :])


@each(
    words=[
        ("blur", "--sigma", "1"), ("resize", "--scale", "50%"), ("rotate", "--angle", "10"),
        ("flip", "--axis", "both", "--dtype", "float"), ("flip", "--axis", "both", "then", "blur", "--sigma", "1"),
    ],
    by_rows=[False, True],
)  # fmt: skip
def test_what_computes_gives_floats(clpix, tmp_path, rng, words, by_rows) -> None:
    image(rng, "int16", (29, 31)).writeto(tmp_path / "in.fits")
    name, *options = words
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 500)
        assert clpix(name, tmp_path / "in.fits", *options, "-o", tmp_path / "out.fits").code == 0
    assert storage(stored(tmp_path / "out.fits")[1]) == [-32, None, None, None]


@each(
    options=[
        ("--strip",),
        ("--input-colour", "data"),
        ("then", "resize", "--scale", "200%", "--filter", "nearest"),
    ]
)
def test_what_leaves_integers_alone(clpix, tmp_path, rng, options) -> None:
    image(rng, "uint16", (9, 7)).writeto(tmp_path / "in.fits")
    run = clpix("flip", tmp_path / "in.fits", "--axis", "vertical", *options, "-o", tmp_path / "out.fits")
    assert (run.code, run.err) == (0, "")
    numbers, before = stored(tmp_path / "in.fits", 1)
    result, after = stored(tmp_path / "out.fits")
    assert storage(after) == storage(before)
    times = result.shape[0] // 9
    np.testing.assert_array_equal(result[::times, ::times], numbers[::-1])


def test_scaled_numbers_are_floats(clpix, tmp_path, rng) -> None:
    hdu = image(rng, "int16", (9, 7))
    hdu.header["BSCALE"] = 0.5
    hdu.writeto(tmp_path / "in.fits")
    assert clpix("convert", tmp_path / "in.fits", "-o", tmp_path / "out.fits").err == ""
    assert storage(stored(tmp_path / "out.fits")[1]) == [-32, None, None, None]


def test_other_pixels_of_a_picture(tmp_path, rng) -> None:
    """Whoever changes the pixels of a picture gets these, as floats where integers do not hold them."""
    from dataclasses import replace

    image(rng, "int16", (9, 7), BLANK=BLANK).writeto(tmp_path / "in.fits")
    picture = files.read(tmp_path / "in.fits")
    for change, bits in (
        (0.5, -32),
        (np.nan, 16),
        (np.inf, -32),
        (4e9, -32),
        (BLANK, -32),
        (-(2**31), -32),
        (3, 16),
    ):
        pixels = picture.pixels.copy()
        pixels[4, 2] = change
        files.write(tmp_path / "out.fits", replace(picture, pixels=pixels), overwrite=True)
        with fits.open(tmp_path / "out.fits") as file:
            file.verify("exception")
            assert file[0].header["BITPIX"] == bits
            np.testing.assert_array_equal(file[0].data[::-1], pixels[..., 0])


def observation(rng, path):  # type: ignore[no-untyped-def]
    """A file as observatories have them: an empty image, science, errors, a table, flags of another size, a cube."""
    table = fits.BinTableHDU.from_columns([fits.Column("x", "J", array=np.arange(3))])
    kinds = [("uint16", (9, 11)), ("int32", (9, 11)), ("uint8", (8, 12)), ("int32", (4, 9, 11))]
    names = ("SCI", "ERR", "DQ", "CUBE")
    images = [image(rng, *kind, EXTNAME=name) for kind, name in zip(kinds, names, strict=True)]
    *others, flags, cube = images
    cube.header["CRPIX3"], cube.data[2, 3, 4] = 1.0, 2**24 + 1
    fits.HDUList([fits.PrimaryHDU(), *others, table, flags, cube]).writeto(path)
    return images


@pytest.mark.parametrize("compressed", [False, True])
def test_images_in_extensions(clpix, tmp_path, rng, compressed) -> None:
    """All images of a file without one at its beginning become images of one file, each of its own type and size."""
    path, made = tmp_path / "in.fits", tmp_path / "out.fits"
    before = observation(rng, path)
    if compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    flip = ("flip", path, "--axis", "vertical")
    run = clpix(*flip, "--frames", "all", "-o", made)
    assert run.code == 0 and run.err.count("\n") == 1 and "holds whole numbers beyond" in run.err
    with fits.open(made) as file:
        file.verify("exception")
        assert [hdu.name for hdu in file] == ["SCI", "ERR", "DQ", "CUBE"]
        assert [hdu.header["BITPIX"] for hdu in file] == [16, 32, 8, -32]
        assert "BZERO" in file[0].header and file[3].header["CRPIX3"] == 1
        for old, new in zip(before, file, strict=True):
            np.testing.assert_array_equal(new.data, old.data[..., ::-1, :].astype(new.data.dtype))
    names = tmp_path / "p-{frame}.fits"
    assert clpix(*flip, "--frames", "all", "-o", names).code == 0
    assert sorted(one.name for one in tmp_path.glob("p-*")) == [
        f"p-000{k}.fits" for k in (1, 2, 4, 5, 6, 7, 8)
    ]
    assert clpix(*flip, "--frames", "0:5", "-o", tmp_path / "some.fits").err == ""
    assert [hdu.name for hdu in fits.open(tmp_path / "some.fits")] == ["SCI", "ERR", "DQ"]
    run = clpix(*flip, "--frames", "0", "-o", tmp_path / "no.fits")
    assert run.code == 1 and "image 0 has no pixels; --layer names one that has: 1, 2, 4, 5" in run.err
    assert clpix(*flip, "--layer", "4", "-o", tmp_path / "one.fits").err == ""
    np.testing.assert_array_equal(stored(tmp_path / "one.fits")[0], before[2].data[::-1])
    run = clpix("info", path, "--frames", "all")
    assert run.code == 0 and run.out.count("layers 1, 2, 4, 5, 6, 7, 8; this is") == 7


def test_one_image_behind_an_empty_one(clpix, tmp_path, rng) -> None:
    hdu = image(rng, "int16", (9, 7))
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(tmp_path / "in.fits")
    run = clpix("convert", tmp_path / "in.fits", "--frames", "all", "-o", tmp_path / "out.fits")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(stored(tmp_path / "out.fits")[0], hdu.data)
    assert "layers" not in clpix("info", tmp_path / "in.fits").out
    fits.PrimaryHDU().writeto(tmp_path / "empty.fits")
    run = clpix("convert", tmp_path / "empty.fits", "--frames", "all", "-o", tmp_path / "no.fits")
    assert run.code == 1 and run.err.count("\n") == 1 and "it has no pixels" in run.err


def test_files_that_claim_too_much(clpix, tmp_path, rng) -> None:
    image(rng, "int16", (5, 9, 7)).writeto(tmp_path / "in.fits")
    data = (tmp_path / "in.fits").read_bytes()
    bad = data.replace(b"NAXIS3  =                    5", b"NAXIS3  =           9999999999")
    (tmp_path / "bad.fits.gz").write_bytes(gzip.compress(bad))
    run = clpix("info", tmp_path / "bad.fits.gz")
    assert run.code == 1 and run.err.count("\n") == 1 and "more than 1048576 images" in run.err
    bad = data.replace(b"NAXIS1  =                    7", b"NAXIS1  =           9999999999")
    (tmp_path / "bad.fits.gz").write_bytes(gzip.compress(bad))
    run = clpix("info", tmp_path / "bad.fits.gz")
    assert run.code == 1 and run.err.count("\n") == 1 and "its last rows are missing" in run.err


@pytest.mark.parametrize(
    "words", ["info --frames all", "flip --axis both --frames all", "flip --axis both --frames 0"]
)
@pytest.mark.parametrize("bad", ["cut", "ten", "name"])
def test_frames_of_damaged_files(clpix, tmp_path, monkeypatch, rng, words, bad) -> None:
    monkeypatch.chdir(tmp_path)
    image(rng, "int16", (5, 90, 70)).writeto("in.fits")
    data = Path("in.fits").read_bytes()
    damage = {"cut": data[:9000], "ten": data[:1000], "name": data.replace(b"SIMPLE", b"SAMPLE")}
    Path("bad.fits").write_bytes(damage[bad])
    name, *options = words.split()
    run = clpix(name, "bad.fits", *options, *(() if name == "info" else ("-o", "out.fits")))
    assert run.code == 1 and run.err.count("\n") == 1 and "bad.fits: " in run.err
    assert not Path("out.fits").exists()
