"""Colour tables: files of them, and tone mapping by them, against numpy in float64 and OpenColorIO."""

from pathlib import Path

import numpy as np
import OpenImageIO
import pytest

from gpuops import FileError, Gpu, GpuopsWarning, ParameterError
from gpuops.files import read_lut
from gpuops.glow.bloom import bloom_pixels
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.lut import INPUTS, OUTPUTS, LutParams
from gpuops.pixels.coding import Decoding, Encoding, losses
from gpuops.tone.lut import Lut
from gpuops.tone.tonemap import exposure, tonemap, tonemap_pixels

from .reference import colour as colour_reference
from .reference import tone as tonemap_reference
from .reference.colour import srgb_light
from .reference.lut import mapped as expected
from .reference.lut import tetrahedral
from .tolerance import LUT as TOLERANCE
from .tolerance import ROUNDINGS


def random_table(n: int, dimensions: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n,) * dimensions + (3,), np.float32)


def smooth(n: int) -> np.ndarray:
    """Colours that bend and mix, as those of looks do."""
    b, g, r = np.meshgrid(*[np.linspace(0, 1, n)] * 3, indexing="ij")
    return np.stack([r**0.8, 0.9 * g + 0.1 * r * b, b**2 * (1 - 0.3 * g)], -1).astype(np.float32)


def rows(table: np.ndarray) -> str:
    return "".join("{:.9g} {:.9g} {:.9g}\n".format(*row) for row in table.reshape(-1, 3))


def cube(path: Path, lut: Lut) -> Path:
    """Writes a table as Adobe's specification has it."""
    path.write_text(
        f'TITLE "{lut.title}"\n# a comment\n\nLUT_{lut.table.ndim - 1}D_SIZE {lut.size}\n'
        + "DOMAIN_MIN {} {} {}\n".format(*lut.low)
        + "DOMAIN_MAX {} {} {}\n".format(*lut.high)
        + rows(lut.table)
    )
    return path


def spi3d(path: Path, lut: Lut, seed: int | None = None) -> Path:
    """Writes a table as .spi3d, in a random order where there is a seed."""
    n = lut.size
    lines = [
        "{} {} {} {:.9g} {:.9g} {:.9g}".format(r, g, b, *lut.table[b, g, r])
        for r in range(n)
        for g in range(n)
        for b in range(n)
    ]
    if seed is not None:
        np.random.default_rng(seed).shuffle(lines)
    path.write_text("\n".join(["SPILUT 1.0", "3 3", f"{n} {n} {n}", *lines, ""]))
    return path


@pytest.mark.parametrize(("n", "dimensions"), [(2, 3), (17, 3), (2, 1), (1000, 1)])
def test_cube_comes_back(tmp_path, n, dimensions) -> None:
    lut = Lut(random_table(n, dimensions), (-1.0, 0.0, 0.25), (1.0, 2.0, 4.0), "Kodak # 5")
    got = read_lut(cube(tmp_path / "a.cube", lut))
    np.testing.assert_array_equal(got.table, lut.table)
    assert got.table.dtype == np.float32
    assert (got.low, got.high, got.title, got.curves) == (lut.low, lut.high, "Kodak # 5", dimensions == 1)


def test_red_runs_fastest_in_a_cube(tmp_path) -> None:
    path = tmp_path / "a.cube"
    path.write_text("LUT_3D_SIZE 2\n" + "".join(f"{i} 0 0\n" for i in range(8)))
    table = read_lut(path).table[..., 0]
    assert (table[0, 0, 1], table[0, 1, 0], table[1, 0, 0]) == (1, 2, 4)


@pytest.mark.parametrize("seed", [None, 1])
def test_spi3d_comes_back(tmp_path, seed) -> None:
    lut = Lut(random_table(5))
    got = read_lut(spi3d(tmp_path / "a.spi3d", lut, seed))
    np.testing.assert_array_equal(got.table, lut.table)
    assert (got.low, got.high, got.title) == ((0, 0, 0), (1, 1, 1), "")


@pytest.mark.parametrize(("head", "low", "high"), [
    ("LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE -0.5 1.5\n", -0.5, 1.5),
    ("\ufeff# made by hand\r\n\r\nLUT_3D_SIZE 2\r\n", 0, 1),
    ("LUT_3D_SIZE\t2\nDOMAIN_MAX 4 4 4 # brighter\n", 0, 4),
    ("DOMAIN_MIN -1 -1 -1\nTITLE x\nLUT_3D_SIZE 2\n", -1, 1),
])  # fmt: skip
def test_what_programs_write(tmp_path, head, low, high) -> None:
    path = tmp_path / "a.cube"
    path.write_bytes((head + "1e-3 +.5 1.\n# half way\n\n" + "0 0.25 1\n" * 7).encode())
    lut = read_lut(path)
    assert (lut.low, lut.high) == ((low,) * 3, (high,) * 3)
    np.testing.assert_array_equal(lut.table[0, 0, 0], np.float32([1e-3, 0.5, 1]))
    assert (lut.table.reshape(-1, 3)[1:] == [0, 0.25, 1]).all()


EIGHT = "0 0 0\n" * 8
SPI = "SPILUT 1.0\n3 3\n2 2 2\n"
ENTRIES = [f"{i} {j} {k} 0 0 0\n" for i in (0, 1) for j in (0, 1) for k in (0, 1)]


@pytest.mark.parametrize(("content", "message"), [
    ("", "is empty"),
    ("\x00\x01\x02PNG", "is no text"),
    ("hello world\n", "line 1: 'hello' is no keyword"),
    ("LUT_3D_SIZE 2\n", "no entries, and needs 8"),
    (EIGHT, "no LUT_3D_SIZE"),
    ("LUT_3D_SIZE 2\n" + EIGHT + "1 1 1\n", "has 9 entries, and needs 8"),
    ("LUT_3D_SIZE 1\n0 0 0\n", "line 1: the table's size is a whole number from 2 to 256, not '1'"),
    ("LUT_3D_SIZE 2.5\n", "not '2.5'"),
    ("LUT_1D_SIZE 65537\n", "from 2 to 65536"),
    ("LUT_1D_SIZE 3\nLUT_3D_SIZE 2\nDOMAIN_MAX 2 2 2\n" + EIGHT, "line 3: whose domain is it?"),
    ("LUT_3D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2: LUT_3D_SIZE stands in line 1 already"),
    ("LUT_3D_SIZE 2\nLUT_IN_VIDEO_RANGE\n", "line 2: 'LUT_IN_VIDEO_RANGE' is no keyword"),
    ("LUT_3D_SIZE 2\nDOMAIN_MIN 0 0\n", "line 2: 3 numbers are expected, not '0 0'"),
    ("LUT_3D_SIZE 2\nDOMAIN_MAX 1 1 0\n" + EIGHT, "domain must go up"),
    ("LUT_3D_SIZE 2\nDOMAIN_MAX 1 1 nan\n" + EIGHT, "domain must be finite"),
    ("LUT_3D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\n" + EIGHT, "line 2: LUT_1D_INPUT_RANGE without a table"),
    ("LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 2\nDOMAIN_MIN 0 0 0\n" + EIGHT, "line 3: whose domain is it?"),
    ("LUT_3D_SIZE 2\n0 0 black\n" + EIGHT, "line 2: 3 numbers are expected, not '0 0 black'"),
    ("LUT_3D_SIZE 2\n0,5 0 0\n" + EIGHT, "line 2: 3 numbers are expected, not '0,5 0 0'"),
    ("LUT_3D_SIZE 2\n0 0 0\n\n0 nan 0\n" + EIGHT[12:], "line 4: '0 nan 0' is not finite"),
    ("SPILUT 2.0\n3 3\n", "line 1: 'SPILUT 1.0' is expected"),
    ("SPILUT 1.0\n3 4\n", "line 2: '3 3' is expected, not '3 4'"),
    ("SPILUT 1.0\n3 3\n", "it has no size"),
    ("SPILUT 1.0\n3 3\n2 2 3\n", "line 3: the table's size is three times the same"),
    (SPI + "".join(ENTRIES[1:]), "has 7 entries, and needs 8"),
    (SPI + "".join(ENTRIES[1:]) + ENTRIES[5], "line 11: the entry is there already"),
    (SPI + "".join(ENTRIES[1:]) + "0 0 2 0 0 0\n", "line 11: indices are whole numbers below 2"),
    (SPI + "".join(ENTRIES[1:]) + "0 0 0 0 0\n", "line 11: 6 numbers are expected"),
])  # fmt: skip
def test_bad_files(tmp_path, content, message) -> None:
    path = tmp_path / "bad.cube"
    path.write_bytes(content.encode())
    with pytest.raises(FileError) as caught:
        read_lut(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_files(tmp_path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_lut(tmp_path / "missing.cube")
    with pytest.raises(FileError, match="is a folder"):
        read_lut(tmp_path)


@pytest.mark.parametrize(("table", "domain", "message"), [
    (np.zeros((3, 3, 3)), {}, r"\(n, n, n, 3\), or \(n, 3\)"),
    (np.zeros((2, 2, 3, 3)), {}, "colour table is"),
    (np.zeros((1, 3)), {}, "2 … 65536 entries"),
    (np.full((2, 3), np.nan), {}, "not finite"),
    (np.zeros((2, 3)), {"low": (0, 1, 0)}, "must go up"),
    (np.zeros((2, 3)), {"shaper": Lut(np.zeros((2, 3)))}, "before a table"),
    (np.zeros((2, 2, 2, 3)), {"shaper": Lut(np.zeros((2, 2, 2, 3)))}, "shaper is curves"),
    (np.zeros((2, 3)), {"high": (1, 1, np.inf)}, "must be finite"),
])  # fmt: skip
def test_bad_tables(table, domain, message) -> None:
    with pytest.raises(ParameterError, match=message):
        Lut(table, **domain)  # type: ignore[arg-type]


def mapped(gpu: Gpu, light: np.ndarray, params: LutParams) -> np.ndarray:
    display = TonemapParams(params, exposure=0.0, transfer="linear")
    return tonemap(gpu, gpu.array(light.astype(np.float32)), display).numpy()


CASES = {
    "random": LutParams(Lut(random_table(64)), "linear", "linear"),
    "largest": LutParams(Lut(smooth(64)), "srgb", "srgb"),
    "two": LutParams(Lut(random_table(2)), "reinhard", "srgb"),
    "domain": LutParams(Lut(random_table(17), (-0.5, 0.0, 0.1), (1.5, 4.0, 0.9)), "linear", "linear"),
    "stops": LutParams(Lut(random_table(12)), "log2", "linear", (-8.0, 4.0)),
    "stops of a domain": LutParams(
        Lut(random_table(5), (0.1,) * 3, (1.1, 1.2, 0.8)), "log2", "srgb", (-8, 4)
    ),
    "curves": LutParams(Lut(np.sort(random_table(100, 1), axis=0)), "srgb", "srgb"),
    "two curves": LutParams(Lut(random_table(2, 1), (0.2,) * 3, (0.8,) * 3), "linear", "linear"),
    "shaper": LutParams(
        Lut(smooth(20), (0.2,) * 3, shaper=Lut(np.sort(random_table(9, 1), axis=0), (0.1,) * 3)),
        "log2",
        "linear",
        (-8, 4),
    ),
    "negative": LutParams(Lut(random_table(6) - np.float32(0.5)), "linear", "srgb"),
}


def light(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pixels = np.exp2(rng.uniform(-12, 3, (3, *shape)))
    pixels[:, :3] = rng.integers(0, 17, (3, 3, shape[1])) / 16  # entries, and faces between cells
    pixels[:, 3:6, : shape[1] // 2] = pixels[:1, 3:6, : shape[1] // 2]  # gray
    pixels[1, 6] = pixels[0, 6]
    pixels[2, 7] = pixels[1, 7]
    pixels[:, -1, :2] = 0, 2.0**60
    return pixels.astype(np.float32)


@pytest.mark.parametrize("name", CASES)
def test_tables_are_interpolated_in_tetrahedra(gpu, name) -> None:
    params, pixels = CASES[name], light((23, 31))
    got = mapped(gpu, pixels, params)
    np.testing.assert_allclose(
        got, expected(params, pixels), rtol=TOLERANCE["table"], atol=TOLERANCE["table"]
    )


def test_entries_come_back_as_they_are(gpu) -> None:
    for n, dimensions in ((2, 3), (17, 3), (33, 1)):
        lut = Lut(random_table(n, dimensions), (0.0, 0.0, 0.0), (4.0, 1.0, 2.0))
        grid = np.linspace(0, 1, n)
        b, g, r = np.meshgrid(*[grid] * 3, indexing="ij") if dimensions == 3 else [grid] * 3
        pixels = np.stack([4 * r, g, 2 * b]).reshape(3, 1, -1)
        got = mapped(gpu, pixels, LutParams(lut, "linear", "linear"))
        np.testing.assert_array_equal(got, lut.table.reshape(-1, 3).T[:, np.newaxis])


def test_affine_tables_are_exact(gpu) -> None:
    m, shift = np.array([[0.5, 0.25, 0.125], [0.125, 0.5, 0.25], [0.25, 0.25, 0.5]]), 0.125
    for n in (2, 21):
        b, g, r = np.meshgrid(*[np.linspace(0, 1, n)] * 3, indexing="ij")
        lut = Lut(np.einsum("ij,j...->...i", m, np.stack([r, g, b])) + shift)
        pixels = np.random.default_rng(0).random((3, 40, 50)).astype(np.float32)
        got = mapped(gpu, pixels, LutParams(lut, "linear", "linear"))
        expected = np.tensordot(m, pixels.astype(float), 1) + shift
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["affine"])


@pytest.mark.parametrize("suffix", ["cube", "range.cube", "shaper.cube", "spi3d", "curves.cube"])
def test_the_same_as_opencolorio(gpu, tmp_path, suffix) -> None:
    """OpenColorIO reads the same files of tables and gives the same."""
    path = tmp_path / f"a.{suffix}"
    domain = {} if suffix == "spi3d" else {"low": (-0.25, 0.0, 0.5), "high": (1.0, 2.0, 1.5)}
    table = smooth(13) if "shaper" in suffix else random_table(13, 1 if "curves" in suffix else 3)
    lut = Lut(table, **domain)  # type: ignore[arg-type]
    (spi3d if suffix == "spi3d" else cube)(path, lut)
    if suffix == "range.cube":
        path.write_text("LUT_3D_SIZE 13\nLUT_3D_INPUT_RANGE 0.25 1.125\n" + rows(lut.table))
    if suffix == "shaper.cube":
        path.write_text(
            "LUT_3D_SIZE 13\nLUT_3D_INPUT_RANGE 0.25 1\nLUT_1D_SIZE 20\nLUT_1D_INPUT_RANGE -0.25 1.125\n"
            + rows(np.sort(random_table(20, 1), axis=0))
            + rows(lut.table)
        )
    pixels = np.random.default_rng(2).random((3, 50, 70), np.float32) * 1.25
    source = OpenImageIO.ImageBuf(np.ascontiguousarray(np.moveaxis(pixels, 0, -1)))
    reference = OpenImageIO.ImageBufAlgo.ociofiletransform(source, str(path))
    assert not reference.has_error, reference.geterror()
    got = mapped(gpu, pixels, LutParams(read_lut(path), "linear", "linear"))
    np.testing.assert_allclose(
        np.moveaxis(got, 0, -1),
        reference.get_pixels(OpenImageIO.FLOAT),
        rtol=0,
        atol=TOLERANCE["OpenColorIO"],
    )


def test_a_display_transform_of_the_whole_range(gpu, tmp_path) -> None:
    """The table is as Tony McMapface is published: 48³ entries in .spi3d, of c/(1 + c), that are light."""
    b, g, r = np.meshgrid(*[np.linspace(0, 1, 48)] * 3, indexing="ij")

    def transform(x: np.ndarray) -> np.ndarray:  # channels first
        return x**2 * (1 - 0.25 * x[[1, 2, 0]])

    table = np.moveaxis(transform(np.stack([r, g, b])), 0, -1)
    params = LutParams(read_lut(spi3d(tmp_path / "a.spi3d", Lut(table), 3)), "reinhard", "linear")
    pixels = np.exp2(np.random.default_rng(4).uniform(-20, 20, (3, 60, 70))).astype(np.float32)
    exact = transform(pixels.astype(np.float64) / (1 + pixels))
    got = mapped(gpu, pixels, params)
    # Between entries the error is at most h²/8 times the second derivatives, which are below 4 here in any direction.
    assert np.abs(got - exact).max() <= (1 / 47) ** 2 / 8 * 3 * 4
    np.testing.assert_allclose(
        got, expected(params, pixels), rtol=TOLERANCE["table"], atol=TOLERANCE["table"]
    )


@pytest.mark.cases(1)
@pytest.mark.parametrize("input", INPUTS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_always_finite(gpu, input, output) -> None:
    odd = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, -1, 3e38, -3e38, 1e-45, 1e-38, 65504, 1, 0.18])
    pixels = np.random.default_rng(0).choice(odd, (3, 20, 21))
    stops = (-10.0, 6.5) if input == "log2" else None
    extreme = Lut(np.float32([-3e38, 0, 3e38])[np.random.default_rng(1).integers(0, 3, (4, 4, 4, 3))])
    for lut in (
        extreme,
        Lut(random_table(3), (1e-9,) * 3, (2e-9,) * 3),
        Lut(random_table(3), high=(1e17,) * 3),
    ):
        display = TonemapParams(LutParams(lut, input, output, stops), exposure=0.0, dither=255)
        with pytest.warns(GpuopsWarning, match="NaN"):
            got = tonemap(gpu, gpu.array(pixels), display).numpy()
        assert np.isfinite(got).all() and got.min() >= 0


def test_gray_alpha_and_a_signal(gpu) -> None:
    params = CASES["largest"]
    gray = light((17, 19))[:1]
    image = gpu.array(np.concatenate([gray, gray / 2]))
    image.alpha = True
    result = tonemap(gpu, image, TonemapParams(params, exposure=-1.0, transfer="srgb"))
    assert result.alpha and not result.linear
    luminance = tonemap_reference.luminance(expected(params, np.repeat(gray / 2, 3, 0)))
    np.testing.assert_allclose(
        result.numpy()[0], colour_reference.srgb_signal(luminance), atol=TOLERANCE["table"]
    )
    np.testing.assert_array_equal(result.numpy()[1], gray[0] / 2)


def test_looks_change_codes_and_nothing_else(gpu) -> None:
    """A look goes from a file's depth to a file's depth, where codes need not become light on the way."""
    codes = np.random.default_rng(7).integers(0, 256, (30, 41, 4), np.uint8)
    decoding, encoding = Decoding(alpha=True, linearise=True), Encoding(np.dtype(np.uint8), encode=True)
    n = 18
    identity = Lut(np.stack(np.meshgrid(*[np.linspace(0, 1, n)] * 3, indexing="ij")[::-1], -1))
    for lut in (identity, Lut(smooth(n)), Lut(smooth(n) + np.float32(0.25))):
        for stops in (0.0, -1.0):
            shown = TonemapParams(LutParams(lut), exposure=stops, transfer="linear")
            got, lost = tonemap_pixels(gpu, gpu.array(codes), shown, decoding, encoding)
            signal = codes[..., :3].astype(np.float64) / 255
            if stops:
                signal = colour_reference.srgb_signal(srgb_light(signal) / 2)
            wanted = tetrahedral(lut, signal) * 255
            assert (
                np.abs(got.numpy()[..., :3] - np.minimum(wanted, 255)).max()
                <= 0.5 + 255 * 2 * TOLERANCE["table"]
            )
            assert losses(lost).clipped == (wanted > 255.5).sum()
            np.testing.assert_array_equal(got.numpy()[..., 3], codes[..., 3])
            if lut is identity and not stops:
                np.testing.assert_array_equal(got.numpy(), codes)


def test_tables_are_metered_as_operators_are(gpu) -> None:
    image, params = gpu.array(light((30, 40))), LutParams(Lut(smooth(9)), "reinhard")
    factor = exposure(gpu, image, TonemapParams(meter="mean", key=0.4))
    metered = tonemap(gpu, image, TonemapParams(params, meter="mean", key=0.4)).numpy()
    stops = TonemapParams(params, exposure=float(np.log2(factor)))
    np.testing.assert_allclose(metered, tonemap(gpu, image, stops).numpy(), rtol=0, atol=ROUNDINGS)


def test_bloom_shows_by_tables(gpu) -> None:
    pixels = np.moveaxis(light((40, 60)), 0, -1).copy()
    pixels[-1] = 0
    display = TonemapParams(LutParams(Lut(smooth(9)), "reinhard"), exposure=0.0, transfer="linear")
    coding, glow = (Decoding(), Encoding(np.dtype(np.float32))), BloomParams(strength=0.2)
    got, plain = (bloom_pixels(gpu, gpu.array(pixels), glow, *coding, d)[0].numpy() for d in (display, None))
    wanted = expected(display.operator, np.moveaxis(plain, -1, 0))
    np.testing.assert_allclose(np.moveaxis(got, -1, 0), wanted, atol=2 * TOLERANCE["table"])


@pytest.mark.parametrize(("params", "message"), [
    ({"input": "aces"}, "unknown input of a table, 'aces': use one of srgb, linear, reinhard, log2"),
    ({"output": "log2"}, "unknown output"),
    ({"input": "log2"}, "LOW and HIGH"),
    ({"stops": (0.0, 1.0)}, "LOW and HIGH"),
    ({"input": "log2", "stops": (1.0, 1.0)}, "larger HIGH"),
    ({"input": "log2", "stops": (np.nan, 1.0)}, "larger HIGH"),
])  # fmt: skip
def test_bad_parameters(params, message) -> None:
    with pytest.raises(ParameterError, match=message):
        LutParams(Lut(random_table(2)), **params)  # type: ignore[arg-type]


def test_what_operators_have_and_tables_have_not() -> None:
    params = LutParams(Lut(random_table(2)))
    with pytest.raises(ParameterError, match="lut has no white point"):
        TonemapParams(params, white=2.0)
    with pytest.raises(ParameterError, match="lut has no parameter 'bias': it has none"):
        TonemapParams(params, parameters={"bias": 1.0})
