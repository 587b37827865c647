"""Colour spaces of files: ICC profiles, PNG's chunks, chromaticities, beside formulas and Little CMS."""

import io
import struct
import warnings
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PIL
from PIL import ImageCms

from gpuops import files
from gpuops.errors import GpuopsWarning
from gpuops.files import Metadata, Picture, cicp, icc
from gpuops.gpu import Gpu
from gpuops.pixels import light
from gpuops.pixels.colour import LINEAR, SRGB, Colour, of_primaries, of_signal, unusual
from gpuops.pixels.curves import LINEAR_CURVE, SRGB_CURVE, Hlg, Parametric, Pq, Sampled
from gpuops.pixels.primaries import IDENTITY, NAMED, ColourError, Primaries

from .choices import each, some
from .reference import colour as reference
from .tolerance import COLOUR as TOLERANCE
from .tolerance import DOUBLE, ROUNDINGS

V = np.linspace(0, 1, 1001)
SRGB_TAG = reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def read(path: Path) -> tuple[Picture, list[str]]:
    """A picture, and the lines that reading it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture = files.read(path)
    assert all(w.category is GpuopsWarning for w in caught)
    return picture, [str(w.message).removeprefix(f"{path}: ") for w in caught]


def light_of(gpu: Gpu, picture: Picture) -> np.ndarray:
    """Linear Rec. 709 light (height, width, channels), as commands get it."""
    pixels, decoding = light.readable(gpu, picture, linear=True)
    return light.unpack(pixels, decoding).numpy().transpose(1, 2, 0)


@pytest.mark.parametrize("name", reference.TO_REC709)
def test_primaries_are_those_that_others_publish(name) -> None:
    found = of_primaries(Primaries.of(reference.CHROMATICITIES[name]), LINEAR_CURVE)
    assert (
        np.abs(np.reshape(found.matrix, (3, 3)) - reference.TO_REC709[name]).max()
        < TOLERANCE["published matrix"]
    )
    assert found.primaries == name
    white = np.reshape(found.matrix, (3, 3)).sum(axis=1)
    assert np.abs(white - 1).max() < DOUBLE


def test_pq_is_smptes() -> None:
    light = Pq().light(V)
    assert np.abs(reference.pq_signal(light) - V).max() < TOLERANCE["signal"]
    assert light[-1] == pytest.approx(10000 / 203)
    assert Pq().light(np.array([0.5806])) == pytest.approx(1, rel=1e-3)  # BT.2408: 203 cd/m² are 58 %


def test_hlg_is_bt_2100s() -> None:
    """The inverse of its opto-electronic transfer function, as shares of the scene's largest light."""
    light = Hlg().light(V)
    assert np.abs(reference.hlg_signal(light / light[-1]) - V).max() < TOLERANCE["signal"]


@pytest.mark.parametrize("dtype", ["uint16", "float16", "float32"])
@each(channels__primaries=[(1, "ACES AP1"), (2, "Rec. 709"), (3, "ACES AP1"), (4, "Rec. 709")])
def test_hlg_becomes_a_displays_light(gpu, dtype, channels, primaries) -> None:
    """Of any signal, also relative to other light, and of a signal of 75 %, which is BT.2408's 203 cd/m²."""
    colours, whole = channels - (channels in (2, 4)), dtype == "uint16"
    pixels = np.random.default_rng(1).random((9, 31, channels)).astype(np.float32)
    pixels[0], pixels[1] = 0, 0.75
    pixels = np.rint(pixels * 65535).astype(dtype) if whole else pixels.astype(dtype)
    signal = pixels.astype(np.float64) / (65535 if whole else 1)
    space = of_primaries(NAMED["Rec. 2020"], Hlg()).relative_to(of_primaries(NAMED[primaries], LINEAR_CURVE))
    found = light.of_pixels(gpu.array(pixels), space, alpha=channels != colours).numpy()
    expected = reference.hlg_light(signal[..., :colours])
    assert np.abs(expected[1] - 1).max() < 1e-3
    if colours == 3:
        expected = expected @ np.reshape(space.matrix, (3, 3)).T
    assert np.abs(found[..., :colours] - expected).max() < TOLERANCE["five digits"] * 5
    assert np.allclose(found[..., colours:], signal[..., colours:], rtol=0, atol=TOLERANCE["alpha"])


@pytest.mark.parametrize(("code", "signal"), [
    (1, lambda x: np.where(x < 0.0180540, 4.5 * x, 1.0992968 * x**0.45 - 0.0992968)),
    (4, lambda x: x ** (1 / 2.2)),
    (5, lambda x: x ** (1 / 2.8)),
    (7, lambda x: np.where(x < 0.0228216, 4 * x, 1.1115722 * x**0.45 - 0.1115722)),
    (8, lambda x: x),
    (13, reference.srgb_signal),
    (16, reference.pq_signal),
    (17, lambda x: (48 * x / 52.37) ** (1 / 2.6)),
], ids=lambda value: str(value) if isinstance(value, int) else "")  # fmt: skip
def test_transfers_are_h_273s(code, signal) -> None:
    assert np.abs(signal(cicp.TRANSFERS[code].light(V)) - V).max() < TOLERANCE["signal"]


def test_code_points_come_back() -> None:
    for primaries in cicp.PRIMARIES:
        for transfer in cicp.TRANSFERS:
            found = cicp.colour_of(bytes((primaries, transfer, 0, 1)))
            codes = cicp.codes_of(found)
            assert codes is not None and cicp.colour_of(codes) == found


CURVES: dict[str, tuple[bytes, Any]] = {
    "curv 0": (reference.curve(), lambda v: v),
    "curv 1": (reference.curve(round(1.8 * 256)), lambda v: v ** (round(1.8 * 256) / 256)),
    "curv 5": (
        reference.curve(0, 4000, 16000, 36000, 65535),
        lambda v: np.interp(v, np.linspace(0, 1, 5), np.array([0, 4000, 16000, 36000, 65535]) / 65535),
    ),
    "para 0": (reference.parametric(0, 2.4), lambda v: v**2.4),
    "para 1": (
        reference.parametric(1, 2.0, 1.25, -0.25),
        lambda v: np.where(v >= 0.2, np.maximum(1.25 * v - 0.25, 0) ** 2, 0),
    ),
    "para 2": (
        reference.parametric(2, 2.0, 1.25, -0.25, 0.0625),
        lambda v: np.where(v >= 0.2, np.maximum(1.25 * v - 0.25, 0) ** 2 + 0.0625, 0.0625),
    ),
    "para 3": (SRGB_TAG, reference.srgb_light),
    "para 4": (
        reference.parametric(4, 2.5, 0.875, 0.0625, 0.25, 0.125, 0.0625, 0.03125),
        lambda v: np.where(v >= 0.125, (0.875 * v + 0.0625) ** 2.5 + 0.0625, 0.25 * v + 0.03125),
    ),
}


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("name", CURVES)
def test_profiles_of_a_matrix_and_curves(name, version) -> None:
    data, formula = CURVES[name]
    found, besides = icc.colour_of(reference.rgb_profile("ACES AP1", data, version=version))
    assert besides == "" and found.called == "ACES AP1"
    assert (
        np.abs(np.reshape(found.matrix, (3, 3)) - reference.TO_REC709["ACES AP1"]).max()
        < TOLERANCE["profile"]
    )
    (curve,) = found.curves
    assert np.abs(curve.light(V) - formula(V)).max() < TOLERANCE["profile's curve"]


@pytest.mark.parametrize(
    ("kind", "numbers", "formula"),
    [
        (
            2,
            (2.0, 1.25, -0.25, -0.1),
            lambda v: np.where(v >= 0.2, np.maximum(1.25 * v - 0.25, 0) ** 2 - 0.1, -0.1),
        ),
        (3, (2.0, 1.0, 0.0, -0.25, 0.5), lambda v: np.where(v >= 0.5, v**2, -0.25 * v)),
        (
            4,
            (2.0, 0.75, 0.25, 0.5, 0.25, -0.125, -0.0625),
            lambda v: np.where(v >= 0.25, (0.75 * v + 0.25) ** 2 - 0.125, 0.5 * v - 0.0625),
        ),
    ],
    ids=["para 2", "para 3", "para 4"],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
def test_curves_may_go_below_black(kind, numbers, formula, dtype, gpu, tmp_path) -> None:
    """Light is negative where the formula says so, and that of −v is minus that of v."""
    largest = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    v = np.linspace(0 if largest > 1 else -1.5, 1 if largest > 1 else 1.5, 300)
    pixels = np.round(v * largest).astype(dtype) if largest > 1 else v.astype(dtype)
    pixels = np.stack([pixels] * 3, axis=-1)[None]
    profile = reference.rgb_profile("Rec. 709", reference.parametric(kind, *numbers))
    files.write(tmp_path / "a.tif", Picture(pixels, metadata=Metadata(icc=profile)))
    picture, lines = read(tmp_path / "a.tif")
    assert lines == []
    v = pixels.astype(np.float64) / largest
    expected = np.where(v < 0, -formula(-v), formula(np.abs(v)))
    assert expected.min() < -0.05
    (curve,) = picture.colour.curves
    assert np.abs(curve.light(v) - expected).max() < TOLERANCE["profile's curve"]
    assert np.abs(light_of(gpu, picture) - expected).max() < TOLERANCE["profile"]


def test_channels_may_have_curves_of_their_own(gpu) -> None:
    each = reference.parametric(0, 1.5), reference.curve(0, 9000, 65535), reference.parametric(0, 2.5)
    found, _ = icc.colour_of(reference.rgb_profile("Display P3", *each))
    formulas = (lambda v: v**1.5, lambda v: np.interp(v, [0, 0.5, 1], [0, 9000 / 65535, 1]), lambda v: v**2.5)
    for dtype in (np.uint8, np.uint16, np.float32):
        most = np.iinfo(dtype).max if dtype != np.float32 else 1
        pixels = (np.random.default_rng(1).random((5, 7, 4)) * most).astype(dtype)
        values = pixels / most
        expected = (
            np.stack([f(values[..., c]) for c, f in enumerate(formulas)], 2)
            @ reference.matrix("Display P3").T
        )
        picture = Picture(pixels, alpha=True, metadata=Metadata(colour=found))
        got = light_of(gpu, picture)
        assert np.abs(got[..., :3] - expected).max() < TOLERANCE["profile"]
        assert np.abs(got[..., 3] - values[..., 3]).max() < TOLERANCE["alpha"]


def test_channels_beyond_0_to_1_with_curves_of_their_own(gpu) -> None:
    """A formula goes on there, and a table is constant, whatever the other channels have."""
    each = reference.parametric(0, 1.5), reference.curve(0, 9000, 65535), reference.parametric(0, 2.5)
    found, _ = icc.colour_of(reference.rgb_profile("Rec. 709", *each))
    for dtype in (np.float16, np.float32):
        pixels = np.linspace(-2, 3, 5 * 7 * 3).reshape(5, 7, 3).astype(dtype)
        expected = np.copysign(np.abs(pixels, dtype=np.float64) ** [1.5, 1, 2.5], pixels)
        expected[..., 1] = np.interp(pixels[..., 1], [0, 0.5, 1], [0, 9000 / 65535, 1])
        assert (
            np.abs(light_of(gpu, Picture(pixels, metadata=Metadata(colour=found))) - expected).max()
            < TOLERANCE["profile"]
        )


def test_tables_of_which_one_is_nearly_srgbs(gpu) -> None:
    """All of them end at 1, as after a display's calibration."""
    at = np.linspace(0, 1, 1024)
    tables = [reference.srgb_light(at) * at**extra for extra in (0, 0.1, 0.2)]
    each = [reference.curve(*np.rint(65535 * table).astype(int).tolist()) for table in tables]
    found, _ = icc.colour_of(reference.rgb_profile("Rec. 709", *each))
    pixels = np.float32([[[2, 2, 2], [0.5, 0.5, 0.5], [-1, -1, -1]]])
    expected = np.stack([np.interp(pixels[..., i], at, table) for i, table in enumerate(tables)], 2)
    assert (
        np.abs(light_of(gpu, Picture(pixels, metadata=Metadata(colour=found))) - expected).max()
        < TOLERANCE["profile"]
    )


@pytest.mark.parametrize("space", ["Display P3", "Rec. 2020", "ACES AP1", "Rec. 709"])
def test_profiles_as_little_cms_has_them(space, gpu, tmp_path) -> None:
    """To 8-bit sRGB, relative colorimetric; its own arithmetic is of 16 bits."""
    block = reference.rgb_profile(space, reference.parametric(0, 1.9))
    pixels = np.random.default_rng(2).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "a.png", icc_profile=block)
    profiles = ImageCms.ImageCmsProfile(io.BytesIO(block)), ImageCms.createProfile("sRGB")
    expected = ImageCms.profileToProfile(PIL.fromarray(pixels), *profiles, renderingIntent=1)
    picture, lines = read(tmp_path / "a.png")
    assert lines == []
    ours = np.clip(reference.srgb_signal(light_of(gpu, picture)) * 255, 0, 255)
    assert np.abs(ours - np.asarray(expected)).max() < 1.01


@pytest.mark.cases(99)
@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp", "jp2", "npz"])
def test_every_format_has_its_profile_read(suffix, gpu, tmp_path) -> None:
    block = reference.rgb_profile("Display P3", SRGB_TAG)
    pixels = np.random.default_rng(4).integers(0, 256, (37, 41, 3)).astype(np.uint8)
    files.write(tmp_path / f"a.{suffix}", Picture(pixels, metadata=Metadata(icc=block)))
    picture, lines = read(tmp_path / f"a.{suffix}")
    assert lines == [] and picture.metadata.icc == block
    expected = reference.srgb_light(picture.pixels / 255) @ reference.matrix("Display P3").T
    assert np.abs(light_of(gpu, picture) - expected).max() < TOLERANCE["profile"]


SRGB_TABLE = np.rint(65535 * reference.srgb_light(np.linspace(0, 1, 1024))).astype(int).tolist()


@pytest.mark.parametrize("made", [
    ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    reference.rgb_profile("Rec. 709", SRGB_TAG),
    reference.rgb_profile("Rec. 709", reference.curve(*SRGB_TABLE), version=2),
], ids=["Little CMS", "parametric", "1024 points"])  # fmt: skip
def test_srgb_profiles_are_srgb(made, tmp_path) -> None:
    """Nothing is converted for such profiles, and nothing is said."""
    PIL.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "a.png", icc_profile=made)
    picture, lines = read(tmp_path / "a.png")
    assert lines == [] and picture.metadata.colour is None and picture.metadata.icc == made


@pytest.mark.parametrize(("data", "formula"), [
    (reference.parametric(0, 1.8), lambda v: v**1.8),
    (reference.curve(), lambda v: v),
    (SRGB_TAG, reference.srgb_light),
], ids=["gamma 1.8", "linear", "sRGB"])  # fmt: skip
def test_gray_profiles(data, formula, gpu, tmp_path) -> None:
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    PIL.fromarray(pixels).save(tmp_path / "a.png", icc_profile=reference.gray_profile(data))
    picture, lines = read(tmp_path / "a.png")
    assert lines == []
    assert np.abs(light_of(gpu, picture)[..., 0] - formula(pixels / 255)).max() < TOLERANCE["profile"]


def test_gray_profiles_of_lightness(gpu, tmp_path) -> None:
    """The profile's connection space is CIELAB: its curve gives L*, as with Little CMS."""
    block = reference.gray_profile(reference.curve(), b"Lab ")
    pixels = PIL.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16))
    pixels.save(tmp_path / "a.png", icc_profile=block)
    profiles = ImageCms.ImageCmsProfile(io.BytesIO(block)), ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(*profiles, "L", "RGB", renderingIntent=1)
    expected = np.asarray(ImageCms.applyTransform(pixels, transform))
    picture, lines = read(tmp_path / "a.png")
    assert lines == []
    ours = reference.srgb_signal(light_of(gpu, picture)) * 255
    assert np.abs(ours - expected).max() < 1.01


LUT = reference.profile({"desc": reference.named("Inkjet"), "A2B0": b"mft2".ljust(64, b"\0")})
UNUSABLE = {
    "has damaged tables": LUT,
    "has no matrix": reference.profile({"desc": reference.named("?")}),
    "is damaged": b"\0" * 140,
    "is cut off": reference.rgb_profile("Display P3", SRGB_TAG)[:300],
    "is for gray": reference.gray_profile(reference.curve()),
    "is for CIELAB": reference.profile({}, b"Lab "),
    "has a damaged curve": reference.rgb_profile("Display P3", reference.parametric(0, -1.0)),
    "has a curve of the power 1.526e-05, which makes no sense": reference.rgb_profile(
        "Display P3", reference.parametric(0, 1 / 65536)
    ),
    "has a curve of the power 129, which makes no sense": reference.rgb_profile(
        "Display P3", reference.parametric(0, 129.0)
    ),
    "primaries that make no sense": reference.rgb_profile("Display P3", SRGB_TAG, rXYZ=b"XYZ " + bytes(16)),
}


@each(what=UNUSABLE, suffix=["png", "tif"])
def test_other_profiles_are_named_in_a_line(what, suffix, tmp_path) -> None:
    path = tmp_path / f"a.{suffix}"
    PIL.fromarray(np.zeros((4, 4, 3), np.uint8)).save(path, icc_profile=UNUSABLE[what])
    picture, lines = read(path)
    assert lines == [f"its ICC profile {what}; colours are taken as sRGB"] and picture.colour == SRGB
    assert picture.metadata.icc == UNUSABLE[what]


def test_a_curve_that_begins_beyond_all_values(tmp_path) -> None:
    """The place at which a curve of type 2 begins is no number of the profile, and may be none that a profile holds."""
    block = reference.rgb_profile("Display P3", reference.parametric(2, 2.0, 1 / 65536, -1.0, 0.5))
    PIL.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "a.png", icc_profile=block)
    picture, lines = read(tmp_path / "a.png")
    assert lines == ["its ICC profile has a damaged curve; colours are taken as sRGB"]
    assert picture.colour == SRGB
    before = icc.colour_of(reference.rgb_profile("Rec. 709", reference.parametric(1, 2.0, 1 / 65536, 1.0)))[0]
    # The power would begin at −65536, for which 0 is stored.
    found = icc.colour_of(icc.profile_of(before, gray=False))[0]
    assert np.abs(found.curves[0].light(V) - (V / 65536 + 1) ** 2).max() < DOUBLE


def test_a_profile_with_tables_beside_its_matrix(tmp_path) -> None:
    block = reference.rgb_profile("Display P3", SRGB_TAG, A2B0=b"mft2".ljust(64, b"\0"))
    PIL.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "a.png", icc_profile=block)
    picture, lines = read(tmp_path / "a.png")
    assert picture.colour.primaries == "Display P3"
    assert lines == ["of its ICC profile the matrix and curves are used, and not its tables"]


def test_damaged_profiles_never_raise(tmp_path) -> None:
    block = reference.rgb_profile("Display P3", SRGB_TAG, reference.curve(0, 30, 65535), reference.curve(300))
    rng = np.random.default_rng(6)
    for _ in range(200):
        changed = bytearray(block[: rng.integers(0, len(block) + 1)] if rng.random() < 0.2 else block)
        for _ in range(rng.integers(1, 6)):
            if changed:
                changed[rng.integers(len(changed))] = rng.integers(256)
        try:
            found, _ = icc.colour_of(bytes(changed))
            assert np.isfinite(found.light_of_codes("uint8")).all() and np.isfinite(found.matrix).all()
            _ = found.primaries, found.transfer
        except ColourError:
            pass
        icc.description(bytes(changed))


@each(
    space=["Rec. 709", "Display P3", "ACES AP0", "CIE XYZ"],
    curve=[Parametric(2.6), Sampled((0.0, 0.1, 1.0)), SRGB_CURVE],
)
def test_profiles_that_are_written_come_back(space, curve) -> None:
    colour = of_primaries(NAMED[space], curve)
    block = icc.profile_of(colour, gray=False)
    assert ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(block))).startswith(space)
    found, _ = icc.colour_of(block)
    assert np.abs(np.subtract(found.matrix, colour.matrix)).max() < TOLERANCE["profile"]
    assert np.abs(found.curves[0].light(V) - curve.light(V)).max() < TOLERANCE["profile's curve"]
    assert found.primaries == space and block == icc.profile_of(colour, gray=False)


def chunk_of(kind: bytes, *numbers: float) -> bytes:
    return reference.png_chunk(kind, struct.pack(f">{len(numbers)}I", *(round(n * 100000) for n in numbers)))


def chrm(space: str) -> bytes:
    numbers = reference.CHROMATICITIES[space]
    return chunk_of(b"cHRM", *numbers[6:], *numbers[:6])


def profile_chunk(block: bytes) -> bytes:
    return reference.png_chunk(b"iCCP", b"p\0\0" + zlib.compress(block))


PQ = reference.png_chunk(b"cICP", bytes((9, 16, 0, 1)))
ADOBE = profile_chunk(reference.rgb_profile("ACES AP1", reference.parametric(0, 2.2)))
UNKNOWN = " has codes that are not known or not for RGB "
SRGB_CHUNK = reference.png_chunk(b"sRGB", b"\0")


@pytest.mark.cases(99)
@pytest.mark.parametrize(("chunks", "curve", "space"), [
    ((), reference.srgb_light, "Rec. 709"), ((SRGB_CHUNK,), reference.srgb_light, "Rec. 709"),
    ((chunk_of(b"gAMA", 0.45455),), reference.srgb_light, "Rec. 709"),
    ((chunk_of(b"gAMA", 1.0),), lambda v: v, "Rec. 709"),
    ((chunk_of(b"gAMA", 0.55556),), lambda v: v ** (1 / 0.55556), "Rec. 709"),
    ((chunk_of(b"gAMA", 1.0), chrm("Rec. 2020")), lambda v: v, "Rec. 2020"),
    ((chunk_of(b"gAMA", 0.45455), chrm("Rec. 709")), reference.srgb_light, "Rec. 709"),
    ((chrm("Display P3"),), reference.srgb_light, "Display P3"),
    ((ADOBE, chunk_of(b"gAMA", 1.0)), lambda v: v**2.2, "ACES AP1"),
    ((SRGB_CHUNK, chunk_of(b"gAMA", 1.0), chrm("Rec. 2020")), reference.srgb_light, "Rec. 709"),
    ((PQ,), reference.pq_light, "Rec. 2020"),
    ((PQ, ADOBE, chunk_of(b"gAMA", 1.0)), reference.pq_light, "Rec. 2020"),
    ((reference.png_chunk(b"cICP", bytes((12, 13, 0, 1))), SRGB_CHUNK), reference.srgb_light, "Display P3"),
    ((reference.png_chunk(b"cICP", bytes((1, 8, 0, 1))),), lambda v: v, "Rec. 709"),
], ids=lambda value: "")  # fmt: skip
@each(dtype__channels=[(np.uint8, 1), (np.uint8, 3), (np.uint16, 2), (np.uint16, 4)])
def test_png_chunks_count_in_their_order(chunks, curve, space, dtype, channels, gpu, tmp_path) -> None:
    pixels = np.random.default_rng(3).integers(0, np.iinfo(dtype).max + 1, (6, 9, channels)).astype(dtype)
    gray, alpha = channels < 3, channels in (2, 4)
    if gray and ADOBE in chunks:
        chunks = tuple(c for c in chunks if c is not ADOBE)
        if PQ not in chunks:
            curve = lambda v: v  # noqa: E731
    (tmp_path / "a.png").write_bytes(reference.png(pixels, *chunks))
    picture, lines = read(tmp_path / "a.png")
    assert lines == []
    got = light_of(gpu, picture)
    values = pixels / np.iinfo(dtype).max
    expected = values.copy()
    expected[..., : channels - alpha] = curve(values[..., : channels - alpha])
    if not gray:
        expected[..., :3] = expected[..., :3] @ reference.matrix(space).T
    assert np.abs(got - expected).max() < TOLERANCE["four digits"] * max(1, expected.max())


@pytest.mark.parametrize(("chunk", "line"), [
    (reference.png_chunk(b"cICP", bytes((200, 16, 0, 1))), "its cICP chunk" + UNKNOWN + "(200, 16, 0, 1)"),
    (reference.png_chunk(b"cICP", bytes((9, 16, 1, 1))), "its cICP chunk" + UNKNOWN + "(9, 16, 1, 1)"),
    (reference.png_chunk(b"cICP", b"\1"), "its cICP chunk has another length than four"),
    (reference.png_chunk(b"iCCP", b"p\0\0not deflated"), "its ICC profile is damaged"),
    (chunk_of(b"cHRM", *[0] * 8), "its chromaticities make no sense"),
    (chunk_of(b"gAMA", 0), "its gamma (0) makes no sense"),
    (chunk_of(b"gAMA", 0.00001), "its gamma (1e-05) makes no sense"),
    (chunk_of(b"gAMA", 0.00999), "its gamma (0.00999) makes no sense"),
    (chunk_of(b"gAMA", 101), "its gamma (101) makes no sense"),
], ids=["codes", "YCbCr", "length", "iCCP", "cHRM", "gAMA", "gAMA 1", "gAMA 999", "large gAMA"])  # fmt: skip
def test_png_chunks_that_make_no_sense(chunk, line, tmp_path) -> None:
    pixels = np.zeros((3, 4, 3), np.uint8)
    (tmp_path / "a.png").write_bytes(reference.png(pixels, chunk))
    picture, lines = read(tmp_path / "a.png")
    assert lines == [f"{line}; colours are taken as sRGB"] and picture.colour == SRGB
    # The next chunk in the order is used instead.
    if not line.startswith(("its chroma", "its gamma")):
        (tmp_path / "b.png").write_bytes(reference.png(pixels, chunk, chunk_of(b"gAMA", 1.0)))
        picture, lines = read(tmp_path / "b.png")
        assert lines == [line] and picture.colour == LINEAR


def test_all_that_is_to_be_said_is_said(tmp_path) -> None:
    """A profile silences nothing else."""
    text = reference.png_chunk(b"tEXt", b"Title\0A title")
    bad = reference.png_chunk(b"cICP", bytes((200, 16, 0, 1)))
    ratio = reference.png_chunk(b"pHYs", struct.pack(">IIB", 2, 1, 0))
    chunks = bad, profile_chunk(LUT), text, ratio, reference.png_chunk(b"acTL", struct.pack(">II", 1, 0))
    (tmp_path / "a.png").write_bytes(reference.png(np.zeros((3, 4, 3), np.uint8), *chunks))
    _, lines = read(tmp_path / "a.png")
    assert lines == [
        "its cICP chunk has codes that are not known or not for RGB (200, 16, 0, 1); colours are taken as sRGB",
        "its ICC profile has damaged tables; colours are taken as sRGB",
        "is read without its animation, pixel aspect ratio (0.5)",
    ]


def test_narrow_range(gpu, tmp_path) -> None:
    """Black is 16 and white 235; beyond is clipped."""
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    (tmp_path / "a.png").write_bytes(reference.png(pixels, reference.png_chunk(b"cICP", bytes((1, 8, 0, 0)))))
    picture, _ = read(tmp_path / "a.png")
    assert np.abs(light_of(gpu, picture) - np.clip((pixels - 16.0) / 219, 0, 1)).max() < ROUNDINGS
    files.write(tmp_path / "b.png", picture)
    assert files.read(tmp_path / "b.png").colour == picture.colour


def test_radiance_primaries(gpu, tmp_path) -> None:
    pixels = np.random.default_rng(5).uniform(0, 20, (6, 9, 3)).astype(np.float32)
    files.write(tmp_path / "a.hdr", Picture(pixels, linear=True))
    numbers = " ".join(map(str, reference.CHROMATICITIES["Rec. 2020"]))
    head, _, rest = (tmp_path / "a.hdr").read_bytes().partition(b"\n")
    (tmp_path / "b.hdr").write_bytes(head + f"\nPRIMARIES= {numbers}\n".encode() + rest)
    picture, lines = read(tmp_path / "b.hdr")
    assert lines == []
    expected = picture.pixels @ reference.matrix("Rec. 2020").T
    assert np.abs(light_of(gpu, picture) - expected).max() < TOLERANCE["four digits"] * 20


@each(name=["curv 5", "para 0", "para 3", "para 4"], dtype=[np.float16, np.float32])
def test_tiff_floats_are_what_their_profile_says(name, dtype, gpu, tmp_path) -> None:
    data, formula = CURVES[name]
    pixels = np.random.default_rng(8).random((6, 7, 3)).astype(dtype)
    picture = Picture(pixels, metadata=Metadata(icc=reference.rgb_profile("Display P3", data)))
    files.write(tmp_path / "a.tif", picture)
    picture, lines = read(tmp_path / "a.tif")
    assert (lines, picture.linear) == ([], False)
    expected = formula(pixels.astype(np.float64)) @ reference.matrix("Display P3").T
    assert np.abs(light_of(gpu, picture) - expected).max() < TOLERANCE["profile"]


def test_light_that_is_infinite_or_no_number(gpu) -> None:
    """Infinite light stays, which a matrix would make no number of; values beyond 0 … 1 go on as the curve does."""
    colour = of_primaries(NAMED["ACES AP1"], LINEAR_CURVE)
    pixels = np.float32([[[np.inf, np.inf, np.inf], [np.nan, 1, 1], [-1, 2, 3]]])
    got = light_of(gpu, Picture(pixels, linear=True, metadata=Metadata(colour=colour)))[0]
    assert np.isposinf(got[0]).all() and np.isnan(got[1]).all()
    assert np.abs(got[2] - reference.matrix("ACES AP1") @ [-1, 2, 3]).max() < TOLERANCE["five digits"] * 3
    gamma = Colour((Parametric(2.0),))
    got = light_of(gpu, Picture(np.float32([[[-2, 2, np.inf]]]), metadata=Metadata(colour=gamma)))[0, 0]
    assert got.tolist() == pytest.approx([-4, 4, np.inf])


@some(
    suffix=["png", "jpg", "tif", "webp", "jp2", "npz"],
    space=["pq", "hlg", "gamma", "linear", "p3", "points"],
    channels=[1, 3, 4],
)
def test_what_is_written_is_read_again(suffix, space, channels, tmp_path) -> None:
    """Each format says it by its own means; where a format has none, a line says so."""
    p3 = NAMED["Display P3"]
    colour = {
        "pq": of_signal("pq", 0),
        "hlg": of_primaries(NAMED["Rec. 2020"], Hlg()),
        "gamma": of_signal("gamma", 2.2),
        "linear": LINEAR,
        "p3": of_primaries(p3, SRGB_CURVE),
        "points": of_primaries(p3, Sampled((0.0, 0.2, 1.0))),
    }[space]
    pixels = np.random.default_rng(3).integers(0, 256, (37, 41, channels)).astype(np.uint8)
    picture = Picture(pixels, channels == 4, colour.linear, Metadata(colour=unusual(colour)))
    path = tmp_path / f"a.{suffix}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        files.write(path, picture)
    lines = [str(w.message) for w in caught]
    back, _ = read(path)
    gray = back.channels < 3
    if gray and space in ("pq", "hlg") and suffix != "png":
        assert [line for line in lines if "cannot say what its values are" in line]
        return
    assert not [line for line in lines if "cannot say" in line]
    if gray:  # gray has no primaries
        colour, found = (replace(c, matrix=IDENTITY) for c in (colour, back.colour))
    else:
        found = back.colour
    assert np.abs(np.subtract(found.matrix, colour.matrix)).max() < TOLERANCE["profile"]
    differences = np.abs(found.light_of_codes("uint8") - colour.light_of_codes("uint8"))
    assert differences.max() < TOLERANCE["profile's curve"] * colour.curves[0].light(V).max()
    assert back.linear == colour.linear


def test_png_is_labelled_by_chunks(tmp_path) -> None:
    def chunks(colour: Colour) -> dict[bytes, bytes]:
        pixels = np.zeros((2, 3, 3), np.uint8)
        metadata = Metadata(colour=unusual(colour))
        files.write(tmp_path / "a.png", Picture(pixels, False, colour.linear, metadata), overwrite=True)
        data, found, at = (tmp_path / "a.png").read_bytes(), {}, 8
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            found[kind], at = data[at + 8 : at + 8 + length], at + 12 + length
        return {kind: value for kind, value in found.items() if kind not in (b"IHDR", b"IDAT", b"IEND")}

    assert chunks(of_signal("pq", 0)) == {b"cICP": bytes((1, 16, 0, 1))}
    assert chunks(SRGB) == {b"gAMA": struct.pack(">I", 45455), b"sRGB": b"\0"}
    assert chunks(LINEAR) == {b"gAMA": struct.pack(">I", 100000)}
    gamma = chunks(of_signal("gamma", 1.8))
    assert gamma[b"gAMA"] == struct.pack(">I", 55556) and gamma.keys() == {b"gAMA", b"iCCP"}


@each(
    suffix=["png", "tif", "jpg", "webp", "jp2", "npz"],
    curve=[
        Parametric(1e5),
        Parametric(1 / 65536),
        Parametric(1e-9),
        Parametric(100.0),
        Parametric(2.0, 1 / 65536, -1.0, 0.0, 65536.0, 0.5, 0.5),
        Parametric(2.0, e=-40000.0),
    ],
)
def test_curves_whose_numbers_no_profile_holds(curve, suffix, tmp_path) -> None:
    """A line says so. They are below 32768, and those of powers make sense from 1/128 to 128."""
    pixels = np.zeros((32, 33, 3), np.uint8)
    picture = Picture(pixels, metadata=Metadata(colour=Colour((curve,), chromaticities=NAMED["Rec. 709"])))
    fits = curve.g == 100
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        files.write(tmp_path / f"a.{suffix}", picture)
    assert len(caught) == (not fits)
    assert all("cannot say what its values are" in str(w.message) for w in caught)
    read(tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("name", ["a.tif", "a.png", "a.npz"])
def test_a_profile_of_encoded_values_does_not_label_light(name, tmp_path) -> None:
    dtype = np.uint16 if name == "a.png" else np.float32
    block = reference.rgb_profile("Rec. 709", SRGB_TAG)
    picture = Picture(np.ones((4, 5, 3), dtype), linear=True, metadata=Metadata(icc=block))
    with pytest.warns(
        GpuopsWarning, match="profile is of encoded values, and these are light; it is left out$"
    ):
        files.write(tmp_path / name, picture)
    assert files.read(tmp_path / name).linear


def test_metadata_keep_the_colour_as_json() -> None:
    adobe = of_primaries(NAMED["Adobe RGB"], LINEAR_CURVE).matrix
    for colour in (
        None,
        of_primaries(NAMED["ACES AP1"], LINEAR_CURVE),
        of_primaries(NAMED["Rec. 2020"], Pq(), narrow=True),
        Colour((Parametric(2.5), Parametric(1.5), Parametric(2.0)), adobe),
    ):
        found = Metadata.from_json(Metadata(colour=colour).to_json()).colour
        if colour is None:
            assert found is None
            continue
        assert found is not None
        assert np.abs(np.subtract(found.matrix, colour.matrix)).max() < TOLERANCE["profile"]
        assert (found.curves, found.narrow, found.primaries) == (
            colour.curves,
            colour.narrow,
            colour.primaries,
        )
