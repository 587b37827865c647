"""Contact sheets and tone curves, against tone mapping itself and a reference in numpy."""

import math
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, GpuopsWarning, Image, ParameterError
from gpuops.files import upright
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.contact_sheet import ContactSheetParams, stops_option
from gpuops.params.operators import LOCAL, METERS, OPERATORS
from gpuops.tone import contact_sheet
from gpuops.tone import curves as tone_curve
from gpuops.tone.contact_sheet import GREY_CODE
from gpuops.tone.metering import metered
from gpuops.tone.tonemap import tonemap

from .choices import each, needs
from .reference import colour as colour_reference
from .reference import tone as tonemap_reference
from .reference.images import on
from .reference.lut import reduced
from .tolerance import CONTACT_SHEET as TOLERANCE
from .tolerance import TONEMAP


def scene(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    """Planar light over many stops."""
    return np.exp2(np.random.default_rng(seed).normal(-1, 3, shape)).astype(np.float32)


def sheet_of(gpu: Gpu, image: Image, params: TonemapParams | None = None, **options: Any) -> np.ndarray:
    orientation = options.pop("orientation", 1)
    return contact_sheet.contact_sheet(
        gpu, image, params or TonemapParams(), ContactSheetParams(**options), orientation=orientation
    )


def tiles_of(sheet: np.ndarray, rows: int, columns: int, height: int, width: int) -> list[list[np.ndarray]]:
    """The tiles of a sheet: cells are alike, and each tile is in the corner of its own."""
    down, across = (sheet.shape[0] - GAP) / rows, (sheet.shape[1] - GAP) / columns
    assert down == int(down) and across == int(across)
    corners = [(GAP + i * int(down), GAP + j * int(across)) for i in range(rows) for j in range(columns)]
    found = [sheet[y : y + height, x : x + width] for y, x in corners]
    return [found[i * columns : (i + 1) * columns] for i in range(rows)]


GAP = 12  # pixels between tiles of up to 263 pixels, where letters have their least size


@pytest.mark.parametrize(("shape", "alpha", "tile_width"), [
    ((3, 41, 67), False, 20),
    ((3, 41, 67), False, 67),
    ((3, 41, 67), False, 320),  # the image is not enlarged
    ((4, 30, 44), True, 11),
    ((1, 30, 43), False, 10),
    ((2, 13, 17), True, 5),
    ((3, 1, 1), False, 16),
    ((3, 2, 999), False, 16),  # less than a row of pixels would remain
    ((3, 999, 3), False, 1),
])  # fmt: skip
def test_tiles_are_results_made_smaller(gpu, shape, alpha, tile_width) -> None:
    pixels = scene(shape)
    if alpha:
        pixels[-1] = np.random.default_rng(2).random(shape[1:])
        pixels[-1, : shape[1] // 2] = 0
    image, operators, stops = on(gpu, pixels, alpha), ("agx", "linear"), (-1.5, 0.0, 2.0)
    width = min(tile_width, shape[2])
    height = max(1, round(shape[1] * width / shape[2]))
    sheet = sheet_of(gpu, image, operators=operators, stops=stops, tile_width=tile_width)
    assert sheet.dtype == np.uint8 and sheet.shape[2] == shape[0] - alpha
    scale = math.log2(0.18 / 2 ** np.log2(luminance(pixels[: shape[0] - alpha])).mean())
    for operator, row in zip(operators, tiles_of(sheet, 2, 3, height, width), strict=True):
        for more, tile in zip(stops, row, strict=True):
            params = TonemapParams(operator, exposure=scale + more, transfer="linear")
            light = reduced(tonemap(gpu, image, params).numpy(), height, width, alpha=alpha)
            codes = np.moveaxis(colour_reference.srgb_signal(light) * 255, 0, -1)
            assert np.abs(tile - codes).max() <= 0.5 + 255 * TOLERANCE["curve"]
            if alpha:
                assert (tile[: height // 2 - 1] == GREY_CODE).all()


def luminance(colours: np.ndarray) -> np.ndarray:
    c = colours.astype(np.float64)
    return c[0] if len(c) == 1 else tonemap_reference.luminance(c)


def test_labels_stand_below_every_tile(gpu) -> None:
    image = on(gpu, scene((3, 40, 60)))
    sheet = sheet_of(gpu, image, operators=("agx", "hable"), stops=(0, 1), tile_width=60)
    cell = [(n - GAP) // 2 for n in sheet.shape[:2]]
    for y, x in ((GAP, GAP), (GAP, GAP + cell[1]), (GAP + cell[0], GAP), (GAP + cell[0], GAP + cell[1])):
        label = sheet[y + 40 : y + cell[0], x : x + cell[1] - GAP]
        assert label.max() > 200 and label.min() == GREY_CODE
    assert (sheet[:GAP] == GREY_CODE).all() and (sheet[:, :GAP] == GREY_CODE).all()
    # Another operator and other stops change the labels.
    first, second = (sheet[GAP + 40 : GAP + cell[0], GAP + i * cell[1] :][:, : cell[1] - GAP] for i in (0, 1))
    assert (first != second).any()


@pytest.mark.cases(3)
@each(meter=METERS, operator=OPERATORS)
def test_what_is_metered_gives_the_same_result(gpu, operator, meter) -> None:
    image = on(gpu, scene((3, 24, 31)))
    params = TonemapParams(operator, meter=meter, key=0.3, transfer="linear")
    found = metered(gpu, image, params, [operator])
    ours, theirs, off = (
        tonemap(gpu, image, found.look(operator)),
        tonemap(gpu, image, params),
        TONEMAP["operator"],
    )
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=off)
    brighter = found.look(operator, 1.5)
    assert brighter.exposure == pytest.approx(found.exposure + 1.5)
    # Each operator meters its own white.
    given = TonemapParams(operator, exposure=brighter.exposure, transfer="linear")
    ours, theirs = tonemap(gpu, image, brighter), tonemap(gpu, image, given)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=off)


def test_a_white_point_beyond_all_light(gpu) -> None:
    image = on(gpu, np.array([1e-6, 1e-6, 1e-6, 3e38]).reshape(1, 2, 2))
    look = metered(gpu, image, TonemapParams(exposure=30.0), ["drago"]).look("drago")
    assert look.value("white") == 2.0**60


@pytest.mark.parametrize("value", [0.0, np.nan, -1.0])
def test_nothing_lit(gpu, value) -> None:
    image = on(gpu, np.full((3, 10, 10), value, np.float32))
    options = {"operators": ("agx", "drago"), "stops": (0.0, 1.0), "tile_width": 5}
    if value == 0:
        sheet = sheet_of(gpu, image, **options)
    else:
        with pytest.warns(GpuopsWarning, match="100 "):
            sheet = sheet_of(gpu, image, **options)
    assert all((tile == tile[0, 0]).all() for row in tiles_of(sheet, 2, 2, 5, 5) for tile in row)


def test_alpha_that_is_no_number(gpu) -> None:
    pixels = np.full((4, 4, 4), 0.5, np.float32)
    pixels[3] = np.nan
    sheet = sheet_of(gpu, on(gpu, pixels, True), operators=("agx",), stops=(0,))
    assert (tiles_of(sheet, 1, 1, 4, 4)[0][0] == GREY_CODE).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_sheets_are_upright(gpu, orientation) -> None:
    pixels = np.moveaxis(scene((12, 31, 3)), -1, 0)
    options: dict[str, Any] = {"operators": ("agx",), "stops": (0.0, 1.0), "tile_width": 9}
    turned = np.moveaxis(upright(np.moveaxis(pixels, 0, -1), orientation), -1, 0)
    expected = sheet_of(gpu, on(gpu, turned), **options)
    sheet = sheet_of(gpu, on(gpu, pixels), orientation=orientation, **options)
    assert sheet.shape == expected.shape and np.abs(sheet.astype(int) - expected).max() <= TOLERANCE["levels"]


def test_colours_that_are_none(gpu) -> None:
    with pytest.raises(ParameterError, match="tone mapping"):
        sheet_of(gpu, on(gpu, np.ones((5, 4, 4))))


def test_stops_beyond_what_there_is(gpu) -> None:
    with pytest.raises(ParameterError, match="from -60 to 60, not 61"):
        sheet_of(gpu, on(gpu, np.ones((1, 2, 2))), TonemapParams(exposure=59.0), stops=(2.0,))


@pytest.mark.parametrize(("options", "message"), [
    ({"operators": ()}, "an operator"),
    ({"stops": ()}, "stops"),
    ({"stops": (math.nan,)}, "nan"),
    ({"tile_width": 0}, "1 pixel"),
])  # fmt: skip
def test_parameters(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        ContactSheetParams(**options)


def test_stops_option() -> None:
    assert stops_option("-1.5,0,+2") == (-1.5, 0, 2)
    with pytest.raises(ParameterError, match="-1,0"):
        stops_option("1,,2")


@pytest.mark.parametrize("operator", [name for name in OPERATORS if name not in LOCAL])
def test_curves_are_the_operators(gpu, operator) -> None:
    parameters = tonemap_reference.GIVEN.get(operator, {})
    params = TonemapParams(operator, exposure=1.25, parameters=parameters, dither=255)
    stops = np.linspace(-9, 9, 50)
    (got,) = tone_curve.curves(gpu, [params], stops)
    assert got.params == params
    exposed = 0.18 * 2 ** (np.asarray(stops, np.float32).astype(np.float64) + 1.25)
    mapped = tonemap_reference.OPERATORS[operator](np.repeat(exposed.reshape(1, 1, -1), 3, 0), 4.0)
    expected = np.maximum(luminance(mapped)[0], 0)
    tolerance = TOLERANCE["curve"]
    np.testing.assert_allclose(got.light, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(
        got.signal, colour_reference.srgb_signal(expected), rtol=2 * tolerance, atol=2 * tolerance
    )


@pytest.mark.parametrize("params", [TonemapParams(), TonemapParams("drago", exposure=0.0)])
def test_curves_of_what_is_left_to_an_image(gpu, params) -> None:
    with pytest.raises(ParameterError, match="a tone curve needs"):
        tone_curve.curves(gpu, [params])


@pytest.mark.parametrize("operator", sorted(LOCAL))
def test_local_operators_have_no_curve(gpu, operator) -> None:
    with pytest.raises(ParameterError, match=f"{operator} has no curve"):
        tone_curve.curves(gpu, [TonemapParams(operator, exposure=0.0)])


@needs("matplotlib", "plots")
def test_a_plot_has_a_panel_of_the_signal(gpu, tmp_path) -> None:
    for transfer, title in (("srgb", "sRGB"), ("gamma", "gamma 2.2"), ("pq", "PQ"), ("linear", "")):
        looks = [TonemapParams(name, exposure=0.5, transfer=transfer) for name in ("linear", "agx")]
        tone_curve.plot(tone_curve.curves(gpu, looks), path := tmp_path / f"{transfer}.svg")
        text = path.read_text()
        assert (f"signal ({title})" in text) == ("signal" in text) == bool(title) and "agx" in text
