"""FITS files: cards stay, and world coordinates follow the pixels, as astropy reads them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import FileError, GpuopsWarning, files
from gpuops.files import Picture

from .choices import each
from .conftest import in_blocks

fits = pytest.importorskip("astropy.io.fits")
wcs = pytest.importorskip("astropy.wcs")

WIDTH, HEIGHT = 60, 40
BASE = {
    "CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CRVAL1": 150.1, "CRVAL2": 2.2, "CRPIX1": 21.25, "CRPIX2": 15.5,
    "CUNIT1": "deg", "CUNIT2": "deg",
}  # fmt: skip
#: Ways to say the same kind of coordinates.
KINDS = {
    "CD": {"CD1_1": -2e-4, "CD1_2": 3e-5, "CD2_1": 2e-5, "CD2_2": 2.1e-4},
    "PC": {"CDELT1": -2e-4, "CDELT2": 2.1e-4, "PC1_1": 0.98, "PC1_2": -0.2, "PC2_1": 0.19, "PC2_2": 0.97},
    "CDELT": {"CDELT1": -2e-4, "CDELT2": 2.1e-4},
    "CROTA2": {"CDELT1": -2e-4, "CDELT2": 2.1e-4, "CROTA2": 17.0},
    "SIP": {
        "CTYPE1": "RA---TAN-SIP", "CTYPE2": "DEC--TAN-SIP", "CD1_1": -2e-4, "CD1_2": 3e-5, "CD2_1": 2e-5,
        "CD2_2": 2.1e-4, "A_ORDER": 2, "B_ORDER": 2, "A_2_0": 1e-5, "A_1_1": -3e-5, "A_0_2": 2e-5, "B_2_0": 3e-5,
        "B_1_1": 2e-5, "B_0_2": -1e-5,
    },
}  # fmt: skip
MOVES = {
    "flip across": ("flip", "--axis", "horizontal"), "flip down": ("flip", "--axis", "vertical"),
    "quarter": ("rotate", "--angle", "90"), "back": ("rotate", "--angle", "270"), "half": ("rotate", "--angle", "180"),
    "tilt": ("rotate", "--angle", "33"), "crop": ("crop", "--region", "7,3,40,30"),
    "shrink": ("resize", "--scale", "50%", "--filter", "catmull-rom"),
    "stretch": ("resize", "--size", "90x31", "--fit", "stretch", "--filter", "catmull-rom"),
}  # fmt: skip


def sky(path):  # type: ignore[no-untyped-def]
    """A file's coordinates; it is by the standard."""
    with fits.open(path) as file:
        file.verify("exception")
        return wcs.WCS(file[0].header, naxis=2)


@pytest.fixture
def coordinates(tmp_path):  # type: ignore[no-untyped-def]
    """Writes a file whose three planes are x and y, as FITS counts them, and 1."""

    def write(cards, **more):  # type: ignore[no-untyped-def]
        x, y = np.meshgrid(np.arange(1, WIDTH + 1), np.arange(1, HEIGHT + 1))
        header = fits.Header()
        for name, value in {**BASE, **cards, **more}.items():
            header[name] = value
        data = np.stack([x, y, np.ones_like(x)]).astype(np.float32)
        fits.PrimaryHDU(data, header).writeto(tmp_path / "in.fits", overwrite=True)
        return tmp_path / "in.fits"

    return write


@each(kind__move=[(kind, move) for kind in KINDS for move in MOVES])
def test_the_sky_follows(clpix, tmp_path, coordinates, kind, move) -> None:
    """A pixel of the result has the place in the sky of the pixel that it was."""
    check(clpix, tmp_path, coordinates(KINDS[kind]), [MOVES[move]])


@pytest.mark.exhaustive
@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([move for move in MOVES if move != "crop"]), min_size=2, max_size=3).filter(
        lambda moves: moves.count("shrink") < 2  # 5 rows are edges alone, where filters bend a ramp
    ),
    st.sampled_from(list(KINDS)),
    st.booleans(),
)
def test_the_sky_follows_chains(clpix, tmp_path, coordinates, moves, kind, by_rows) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        check(clpix, tmp_path, coordinates(KINDS[kind]), [MOVES[move] for move in moves])


def check(clpix, tmp_path, path, steps) -> None:  # type: ignore[no-untyped-def]
    words: list[object] = []
    for name, *options in steps:
        words += ["then", name, *options] if words else [name, path, *options]
    run = clpix(*words, "-o", tmp_path / "out.fits", "--overwrite")
    assert (run.code, run.err) == (0, "")
    before, after = sky(path), sky(tmp_path / "out.fits")
    x, y, there = fits.getdata(tmp_path / "out.fits").astype(float)
    rows, columns = x.shape
    inside = np.abs(there - 1) < 1e-5
    inside[: rows // 4], inside[-(rows // 4) :] = False, False
    inside[:, : columns // 4], inside[:, -(columns // 4) :] = False, False
    row, column = np.nonzero(inside)
    picked = np.linspace(0, len(row) - 1, 50).astype(int)
    row, column = row[picked], column[picked]
    was, now = np.stack([x[row, column], y[row, column]], -1), np.stack([column + 1, row + 1], -1)
    error = np.array(before.all_pix2world(was, 1)) - np.array(after.all_pix2world(now, 1))
    assert np.median(np.abs(error)) < 0.02 * 2e-4  # of a pixel, in degrees


@each(move=MOVES)
def test_the_sky_is_exact(clpix, tmp_path, coordinates, move) -> None:
    """The sky of 50 points, by the formulas of the moves, in arc seconds."""
    path = coordinates(KINDS["SIP"])
    name, *options = MOVES[move]
    assert clpix(name, path, *options, "-o", tmp_path / "out.fits").err == ""
    before, after = sky(path), sky(tmp_path / "out.fits")
    points = np.random.default_rng(4).uniform(5, 30, (50, 2))
    x, y = points[:, 0] - 0.5, HEIGHT + 0.5 - points[:, 1]  # from the upper left corner
    rows = fits.getdata(tmp_path / "out.fits").shape[1]
    columns = fits.getdata(tmp_path / "out.fits").shape[2]
    c, s = np.cos(np.radians(33)), np.sin(np.radians(33))
    x, y = {
        "flip across": (WIDTH - x, y), "flip down": (x, HEIGHT - y), "quarter": (HEIGHT - y, x),
        "back": (y, WIDTH - x), "half": (WIDTH - x, HEIGHT - y), "crop": (x - 7, y - 3), "shrink": (x / 2, y / 2),
        "stretch": (x * 90 / WIDTH, y * 31 / HEIGHT),
        "tilt": (
            c * (x - WIDTH / 2) - s * (y - HEIGHT / 2) + columns / 2,
            s * (x - WIDTH / 2) + c * (y - HEIGHT / 2) + rows / 2,
        ),
    }[move]  # fmt: skip
    there = np.stack([x + 0.5, rows + 0.5 - y], -1)
    error = np.array(before.all_pix2world(points, 1)) - np.array(after.all_pix2world(there, 1))
    assert np.abs(error).max() * 3600 < 1e-9


CARDS = {
    "OBJECT": "M 31's core",
    "EXPTIME": 30.5,
    "FILTER": "r",
    "DATE-OBS": "2026-01-02T03:04:05",
    "GOOD": True,
}


def test_cards_stay_as_they_are(clpix, tmp_path, coordinates) -> None:
    path = coordinates({}, **CARDS, LTV1=0.0, LTM1_1=1.0, DATASEC="[11:50,6:25]")
    with fits.open(path, mode="update") as file:
        file[0].header["HISTORY"] = "flat fielded"
        file[0].header["COMMENT"] = "a long comment that says nothing at all but is kept"
        file[0].header.comments["EXPTIME"] = "seconds"
    before = fits.getheader(path)
    assert clpix("blur", path, "--sigma", "1", "-o", tmp_path / "out.fits").err == ""
    after = fits.getheader(tmp_path / "out.fits")
    kept = [
        card
        for card in before.cards
        if card.keyword not in ("SIMPLE", "BITPIX", "EXTEND") and card.keyword[:5] != "NAXIS"
    ]
    assert [str(card) for card in kept] == [str(card) for card in list(after.cards)[-len(kept) :]]
    assert clpix("crop", path, "--region", "10,10,40,30", "-o", tmp_path / "cut.fits").err == ""
    cut = fits.getheader(tmp_path / "cut.fits")
    assert (cut["DATASEC"], cut["LTV1"], cut["CRPIX1"]) == ("[1:40,6:25]", -10, 11.25)
    assert cut.comments["EXPTIME"] == "seconds" and cut["OBJECT"] == "M 31's core"
    run = clpix("crop", path, "--region", "20,10,40,30", "-o", tmp_path / "less.fits")
    assert run.code == 0 and "the DATASEC cannot follow the pixels: left out" in run.err
    assert "OBJECT  = 'M 31''s core'" in clpix("info", path).out
    run = clpix("convert", path, "-o", tmp_path / "out.tif")
    assert run.code == 0 and run.err.count("\n") == 1
    assert "TIFF cannot hold the world coordinates, FITS cards (" in run.err


def test_distortions_by_tables_are_left_out(clpix, tmp_path, coordinates) -> None:
    path = coordinates({**KINDS["CD"], "CTYPE1": "RA---TNX", "CTYPE2": "DEC--TNX"}, OBJECT="x")
    run = clpix("flip", path, "--axis", "horizontal", "-o", tmp_path / "out.fits")
    assert (
        run.code == 0
        and run.err.count("\n") == 1
        and "world coordinates, which are distorted by tables" in run.err
    )
    header = fits.getheader(tmp_path / "out.fits")
    assert "CRVAL1" not in header and header["OBJECT"] == "x"
    assert clpix("blur", path, "--sigma", "1", "-o", tmp_path / "same.fits").err == ""
    assert fits.getheader(tmp_path / "same.fits")["CTYPE1"] == "RA---TNX"


def test_planes_of_a_cube_are_pages(clpix, tmp_path, rng) -> None:
    data = rng.integers(-32768, 32768, (2, 4, 6, 7)).astype(np.int16)
    header = fits.Header({"CTYPE3": "WAVE", "CRPIX3": 1.0, "CRVAL3": 5e-7, "CDELT3": 1e-9})
    fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(data, header), fits.ImageHDU(data[0, 0])]).writeto(
        tmp_path / "in.fits"
    )
    with pytest.warns(GpuopsWarning, match="holds 9 images; number 1 is used"):
        first = files.read(tmp_path / "in.fits")
    np.testing.assert_array_equal(first.pixels[::-1, :, 0], data[0, 0])
    for number in range(8):
        picture = files.read(tmp_path / "in.fits", layer=number + 1)
        np.testing.assert_array_equal(picture.pixels[::-1, :, 0], data.reshape(8, 6, 7)[number])
    run = clpix(
        "flip", tmp_path / "in.fits", "--axis", "vertical", "--layer", "4", "-o", tmp_path / "out.fits"
    )
    assert (run.code, run.err) == (0, "")
    assert fits.getheader(tmp_path / "out.fits")["CRPIX3"] == -2
    run = clpix(
        "flip",
        tmp_path / "in.fits",
        "--axis",
        "vertical",
        "--frames",
        "1:3",
        "-o",
        tmp_path / "out-{frame}.fits",
    )
    assert (run.code, run.err) == (0, "")


@each(by_rows=[False, True], dtype=["u1", "i2", "i4", "i8", "f4", "f8"])
def test_types_by_rows(clpix, tmp_path, rng, by_rows, dtype) -> None:
    data = rng.integers(0, 200, (3, 23, 31)).astype(dtype)
    header = fits.Header({"BSCALE": 0.5, "BZERO": 10.0}) if dtype == "i4" else None
    fits.PrimaryHDU(data, header).writeto(tmp_path / "in.fits")
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        assert clpix("flip", tmp_path / "in.fits", "--axis", "both", "-o", tmp_path / "out.fits").err == ""
    np.testing.assert_array_equal(
        fits.getdata(tmp_path / "out.fits"), fits.getdata(tmp_path / "in.fits")[:, ::-1, ::-1]
    )


@pytest.mark.exhaustive
@given(st.data())
@settings(max_examples=300)
def test_damage_is_one_line(tmp_path, data) -> None:
    """Any bytes in any place give a picture, or one line."""
    if not (tmp_path / "in.fits").exists():
        fits.PrimaryHDU(np.ones((4, 5, 6), np.int16), fits.Header(KINDS["SIP"] | BASE)).writeto(
            tmp_path / "in.fits"
        )
    raw = bytearray((tmp_path / "in.fits").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + 3] = data.draw(st.binary(min_size=1, max_size=3))
    (tmp_path / "bad.fits").write_bytes(bytes(raw[: data.draw(st.sampled_from([len(raw), 3000, 100]))]))
    try:
        picture = files.read(tmp_path / "bad.fits", layer=0)
    except FileError as error:
        assert "\n" not in str(error)
        return
    assert isinstance(picture, Picture)


def image(rng, kind: str, shape: tuple[int, ...]):  # type: ignore[no-untyped-def]
    """A sky of stars: whole numbers, or floats with NaN and 0."""
    values = 100 + 8 * rng.standard_normal(shape)
    values[..., ::7, ::11] += 3000
    if kind.startswith("float"):
        values.flat[5::31], values.flat[6::17] = np.nan, 0
        return values.astype(kind)
    return np.clip(values, 0, 250 if kind == "uint8" else None).astype(kind)


@each(
    way=[
        {"compression_type": "RICE_1"},
        {"compression_type": "GZIP_1"},
        {"compression_type": "GZIP_2"},
        {"compression_type": "NOCOMPRESS"},
        {"compression_type": "RICE_1", "quantize_method": 1, "dither_seed": 9877},
        {"compression_type": "GZIP_1", "quantize_method": 2, "dither_seed": 13},
        {"compression_type": "RICE_1", "quantize_method": -1},
        {"compression_type": "GZIP_2", "quantize_level": 0.0},
        {"compression_type": "RICE_1", "quantize_level": 16},
    ],
    kind=["uint8", "int16", "int32", "float32", "float64", "uint16"],
    shape=[(40, 60), (5, 40, 61), (3, 23, 37), (101, 1), (1, 257)],
    tile=[None, (7, 16), (64, 64)],
    by_rows=[False, True],
)
@pytest.mark.parametrize("second", ["float32", "int16"])
def test_tiles(clpix, tmp_path, rng, way, kind, shape, tile, by_rows, second) -> None:
    """The pixels of a compressed image are those that astropy decompresses, and the cards are kept."""
    kind = second if "quantize" in str(way) else kind
    values = image(rng, kind, shape)
    header = fits.Header(
        {"OBJECT": "M 31", "ZPOINT": 25.5, "CRPIX1": 3.0, "CRVAL1": 10.0, "CTYPE1": "LINEAR"}
    )
    options = {"tile_shape": (*[2] * (len(shape) - 2), *tile)} if tile else {}
    hdu = fits.CompImageHDU(values, header, name="SCI", **way, **options)
    path, made = tmp_path / "in.fits.fz", tmp_path / "out.fits"
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix("flip", path, "--axis", "vertical", "-o", made)
    pages = 1 if len(shape) < 3 or shape[0] == 3 else shape[0]
    assert run.code == 0 and run.err.count("\n") == (pages > 1), run.err
    expected = fits.getdata(path, 1)
    expected = expected[0] if pages > 1 else expected
    np.testing.assert_array_equal(fits.getdata(made), expected[..., ::-1, :].astype(np.float32))
    out = fits.getheader(made)
    assert (out["OBJECT"], out["ZPOINT"], out["CRVAL1"], out["EXTNAME"]) == ("M 31", 25.5, 10.0, "SCI")
    assert not {"ZIMAGE", "TFIELDS", "TTYPE1", "ZCMPTYPE"} & {*out}
    with fits.open(made) as file:
        file.verify("exception")


@pytest.mark.parametrize("way", ["HCOMPRESS_1", "PLIO_1"])
def test_tiles_of_other_compressions(clpix, tmp_path, rng, way) -> None:
    hdu = fits.CompImageHDU(image(rng, "int16", (40, 60)), compression_type=way)
    hdu.writeto(tmp_path / "in.fits")
    run = clpix("convert", tmp_path / "in.fits", "-o", tmp_path / "out.npy")
    assert run.code == 1 and run.err.count("\n") == 1 and way in run.err
    values = image(rng, "int16", (23, 31))
    fits.HDUList([fits.PrimaryHDU(values), hdu]).writeto(tmp_path / "both.fits")
    run = clpix("convert", tmp_path / "both.fits", "--layer", "0", "-o", tmp_path / "out.npy")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy")[::-1, :, 0], values)


def test_tiles_that_are_damaged(tmp_path, rng) -> None:
    """Every header value and byte of the table is changed; nothing but FileError comes, or a picture."""
    hdu = fits.CompImageHDU(image(rng, "float32", (40, 60)), compression_type="RICE_1", tile_shape=(16, 16))
    hdu.writeto(tmp_path / "in.fits")
    data = (tmp_path / "in.fits").read_bytes()
    start = data.index(b"XTENSION= 'BINTABLE'")
    cards = [at for at in range(start, start + 80 * 60, 80) if data[at + 8 : at + 10] == b"= "]
    table = data.index(b"END ", start + 80 * 20) // 2880 * 2880 + 2880
    changes = [
        (at + 10, text)
        for at in cards
        for text in (b"-1".rjust(20), b"99999999999".rjust(20), b"'x'".ljust(20))
    ]
    changes += [(int(at), rng.bytes(4)) for at in rng.integers(table, table + 900, 150)]
    for at, text in changes:
        (tmp_path / "bad.fits").write_bytes(data[:at] + text + data[at + len(text) :])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                files.read(tmp_path / "bad.fits")
        except FileError as error:
            assert "\n" not in str(error)
    for end in range(start, len(data) - 2880, 997):
        (tmp_path / "bad.fits").write_bytes(data[:end])
        with pytest.raises(FileError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            files.read(tmp_path / "bad.fits", layer=1)


@each(by_rows=[False, True], layer=["0", "2"])
def test_gzip(clpix, tmp_path, rng, by_rows, layer) -> None:
    values = image(rng, "float32", (40, 60))
    others = [fits.ImageHDU(image(rng, "int16", (23, 31))), fits.CompImageHDU(image(rng, "int16", (30, 50)))]
    path, made = tmp_path / "in.fits.gz", tmp_path / "out.fits"
    fits.HDUList([fits.PrimaryHDU(values, fits.Header({"OBJECT": "M 31"})), *others]).writeto(path)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 2000)
        run = clpix("convert", path, "--layer", layer, "-o", made)
    assert run.code == 0, run.err
    np.testing.assert_array_equal(fits.getdata(made), fits.getdata(path, int(layer)).astype(np.float32))
    assert "holds 3 images" in clpix("info", path).err
    data = path.read_bytes()
    for end in (100, len(data) // 3, len(data) - 9):
        path.write_bytes(data[:end])
        run = clpix("convert", path, "--layer", "0", "-o", made, "--overwrite")
        assert run.code == 1 and run.err.count("\n") == 1


@each(more=["", "then flip --axis horizontal", "then crop --region 5,2,55,38"])
def test_positions_follow_a_measured_shift(clpix, tmp_path, rng, more) -> None:
    """The pixel that was at (20, 15) has the sky that it had there, where it is now."""
    values = image(rng, "float32", (40, 60))
    values = np.nan_to_num(values, nan=100)
    header = fits.Header({**BASE, **KINDS["CD"], "OBJECT": "M 31", "LTV1": 3.0, "DATASEC": "[3:50,2:30]"})
    fits.PrimaryHDU(values, header).writeto(tmp_path / "in.fits")
    fits.PrimaryHDU(np.roll(values, (3, 5), (0, 1))).writeto(tmp_path / "ref.fits")
    register = ("register", tmp_path / "in.fits", "--reference", tmp_path / "ref.fits", *more.split())
    run = clpix(*register, "-o", tmp_path / "out.fits")
    assert run.code == 0 and "cannot follow" not in run.err
    made, out = fits.getdata(tmp_path / "out.fits"), fits.getheader(tmp_path / "out.fits")
    (row,), (column,) = np.nonzero(made == values[15, 20])
    before, after = wcs.WCS(header).pixel_to_world(20, 15), wcs.WCS(out).pixel_to_world(column, row)
    assert before.separation(after).arcsec < 1e-6 and out["OBJECT"] == "M 31"
    if not more:
        assert (row, column, out["LTV1"], out["DATASEC"]) == (18, 25, 8.0, "[8:55,5:33]")


@each(inherit=[None, True, False], empty=[True, False])
def test_an_extension_has_the_cards_of_the_first_header(clpix, tmp_path, rng, inherit, empty) -> None:
    first = fits.PrimaryHDU(None if empty else image(rng, "float32", (5, 6)))
    first.header.update({"TELESCOP": "VLT", "OBJECT": "M 1", "CRVAL1": 10.0, "LONGTEXT": "word " * 30})
    first.header["HISTORY"] = "read out"
    second = fits.ImageHDU(image(rng, "float32", (7, 8)), fits.Header({"OBJECT": "M 31", "CCD": 2}))
    second.header["HISTORY"] = "flattened"
    if inherit is not None:
        second.header["INHERIT"] = inherit
    fits.HDUList([first, second]).writeto(tmp_path / "in.fits")
    assert (
        clpix(
            "flip", tmp_path / "in.fits", "--layer", "1", "--axis", "both", "-o", tmp_path / "out.fits"
        ).code
        == 0
    )
    with fits.open(tmp_path / "out.fits") as file:
        file.verify("exception")
        made = file[0].header
    taken = inherit is True or (inherit is None and empty)
    assert (made["OBJECT"], made["CCD"]) == ("M 31", 2) and made.get("TELESCOP") == ("VLT" if taken else None)
    assert made.get("LONGTEXT") == (("word " * 30).rstrip() if taken else None)
    assert ("CRVAL1" in made) == (inherit is True)
    assert [*made["HISTORY"]] == ["flattened", *["read out"] * taken]
