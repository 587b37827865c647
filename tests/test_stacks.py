"""Pages of TIFF files and planes of FITS cubes, in and out, with what ImageJ and OME say of them; read by others."""

import numpy as np
import pytest
import scipy.ndimage
import tifffile

from .choices import each

fits = pytest.importorskip("astropy.io.fits")

IMAGEJ = {"unit": "um", "spacing": 1.5, "finterval": 0.5, "axes": "TZCYX"}
OME = {
    "axes": "TZCYX", "PhysicalSizeX": 0.2, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.25,
    "PhysicalSizeYUnit": "µm", "Channel": {"Name": ["red", "green"]},
}  # fmt: skip


@pytest.fixture
def stack(tmp_path, rng):  # type: ignore[no-untyped-def]
    """Writes a stack of two times, three slices and two channels."""

    def write(kind: str, dtype: str = "uint16") -> np.ndarray:
        data = rng.integers(0, 200, (2, 3, 2, 12, 16)).astype(dtype)
        path = tmp_path / "in.tif"
        if kind == "imagej":
            tifffile.imwrite(path, data, imagej=True, resolution=(5, 4), metadata=IMAGEJ)
        elif kind == "ome":
            tifffile.imwrite(path, data, ome=True, metadata=OME)
        else:
            tifffile.imwrite(path, data.reshape(12, 12, 16), metadata=None, photometric="minisblack")
        return data

    return write


@each(
    kind__dtype=[
        ("imagej", "uint16"),
        ("ome", "uint16"),
        ("plain", "uint8"),
        ("imagej", "float32"),
        ("ome", "uint8"),
    ]
)
def test_all_pages_go_to_one_file(clpix, tmp_path, stack, kind, dtype) -> None:
    data = stack(kind, dtype)
    run = clpix(
        "flip", tmp_path / "in.tif", "--axis", "horizontal", "--frames", "all", "-o", tmp_path / "out.tif"
    )
    assert (run.code, run.err) == (0, "")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert len(file.pages) == 12
        series = file.series[0]
        assert (file.is_imagej, file.is_ome) == (kind == "imagej", kind == "ome")
        if kind != "plain":
            assert series.axes == "TZCYX"
            np.testing.assert_array_equal(series.asarray(), data[..., ::-1])
        else:
            pages = np.stack([page.asarray() for page in file.pages])
            np.testing.assert_array_equal(pages, data.reshape(12, 12, 16)[..., ::-1])
        if kind == "imagej":
            known = file.imagej_metadata
            assert (known["unit"], known["spacing"], known["finterval"]) == ("um", 1.5, 0.5)
            assert [file.pages[0].tags[name].value for name in (282, 283, 296)] == [(5, 1), (4, 1), 1]


def test_pixels_of_another_size(clpix, tmp_path, stack) -> None:
    data = stack("ome")
    resize = ("resize", tmp_path / "in.tif", "--size", "8x24", "--fit", "stretch", "--filter", "nearest")
    assert clpix(*resize, "--frames", "all", "-o", tmp_path / "out.tif").err == ""
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert file.series[0].shape == (*data.shape[:3], 24, 8)
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    assert (pixels["PhysicalSizeX"], pixels["PhysicalSizeY"]) == (0.4, 0.125)
    assert pixels["PhysicalSizeXUnit"] == "µm" and [one["Name"] for one in pixels["Channel"]] == [
        "red",
        "green",
    ]
    stack("imagej")
    turn = (
        "rotate",
        tmp_path / "in.tif",
        "--angle",
        "90",
        "then",
        "resize",
        "--size",
        "6x16",
        "--fit",
        "stretch",
    )
    assert clpix(*turn, "--frames", "all", "-o", tmp_path / "turned.tif").err == ""
    with tifffile.TiffFile(tmp_path / "turned.tif") as file:
        tags = file.pages[0].tags
        x, y = (tags[name].value[0] / tags[name].value[1] for name in (282, 283))
    assert (x, y) == pytest.approx((2, 5))


@each(kind=["imagej", "ome", "plain"])
def test_some_pages_are_points_in_time(clpix, tmp_path, stack, kind) -> None:
    data = stack(kind).reshape(12, 12, 16)
    run = clpix("blur", tmp_path / "in.tif", "--sigma", "1", "--frames", "2:7", "-o", tmp_path / "out.tif")
    assert run.code == 0
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        if kind != "plain":
            assert file.series[0].axes == "TYX" and file.series[0].shape == (5, 12, 16)
        pages = np.stack([page.asarray() for page in file.pages])
    if kind != "plain":  # which are data
        expected = [scipy.ndimage.gaussian_filter(page.astype(float), 1, truncate=4) for page in data[2:7]]
        assert np.abs(pages - expected).max() < 0.52
    run = clpix("flip", tmp_path / "in.tif", "--axis", "both", "--layer", "5", "-o", tmp_path / "one.tif")
    assert run.code == 0
    with tifffile.TiffFile(tmp_path / "one.tif") as file:
        assert len(file.pages) == 1
        np.testing.assert_array_equal(file.asarray(), data[5, ::-1, ::-1])


def test_numbered_files_are_asked_for(clpix, tmp_path, stack) -> None:
    data = stack("plain").reshape(12, 12, 16)
    flip = ("flip", tmp_path / "in.tif", "--axis", "vertical", "--frames", "all")
    assert clpix(*flip, "-o", tmp_path / "p-{frame}.tif").code == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "p-0011.tif"), data[11, ::-1])
    run = clpix(
        *flip, "then", "write", tmp_path / "x.tif", "then", "blur", "--sigma", "1", "-o", tmp_path / "no.tif"
    )
    assert run.code == 2 and not (tmp_path / "no.tif").exists()
    assert clpix(*flip, "-o", tmp_path / "in.tif", "--overwrite").code == 1  # an input


def test_cubes_come_back_as_cubes(clpix, tmp_path, rng) -> None:
    data = rng.normal(size=(5, 6, 7)).astype(np.float32)
    header = fits.Header({"CTYPE3": "WAVE", "CRPIX3": 1.0, "CRVAL3": 5e-7, "CDELT3": 1e-9, "OBJECT": "x"})
    fits.PrimaryHDU(data, header).writeto(tmp_path / "in.fits")
    flip = ("flip", tmp_path / "in.fits", "--axis", "horizontal", "--frames")
    assert clpix(*flip, "all", "-o", tmp_path / "out.fits").err == ""
    assert clpix(*flip, "2:4", "-o", tmp_path / "some.fits").err == ""
    for name, expected, first in (("out", data, 1), ("some", data[2:4], -1)):
        with fits.open(tmp_path / f"{name}.fits") as file:
            file.verify("exception")
            np.testing.assert_array_equal(file[0].data, expected[..., ::-1])
            assert (file[0].header["OBJECT"], file[0].header["CRPIX3"]) == ("x", first)
    run = clpix(*flip, "all", "-o", tmp_path / "out.tif")
    assert run.code == 0 and "FITS cards" in run.err
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif")[..., ::-1], data[:, ::-1])


def test_a_page_that_fails_leaves_nothing(clpix, tmp_path, stack) -> None:
    stack("plain")
    raw = bytearray((tmp_path / "in.tif").read_bytes())
    with tifffile.TiffFile(tmp_path / "in.tif") as file:
        at = file.pages[7].tags[273].offset + 8
    raw[at : at + 4] = (1 << 30).to_bytes(4, "little")
    (tmp_path / "in.tif").write_bytes(raw)
    run = clpix("flip", tmp_path / "in.tif", "--axis", "both", "--frames", "all", "-o", tmp_path / "out.tif")
    assert (run.code == 1 and "out.tif: frame 7" in run.err) or "in.tif" in run.err
    assert not (tmp_path / "out.tif").exists()
