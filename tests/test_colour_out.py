"""--colour: the colour space of outputs, its values, its label, and what it goes with."""

import io

import numpy as np
import pytest
from PIL import Image as PIL
from PIL import ImageCms

from gpuops import files
from gpuops.batch.job import Job, Options
from gpuops.chain import Chain
from gpuops.errors import ParameterError
from gpuops.files import Picture, oiio
from gpuops.ops.blur import BlurParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.colours import LIGHTS, NAMES, SIGNALS
from gpuops.pixels import light, spaces

from .choices import each, some
from .reference import colour as reference

SPACES = (*SIGNALS, *LIGHTS)
#: The names of transfer and primaries by which `clpix info` calls each space.
CALLED = {
    "srgb": ("sRGB", "Rec. 709"),
    "display-p3": ("sRGB", "Display P3"),
    "adobe-rgb": ("gamma 2.199", "Adobe RGB"),
    "prophoto-rgb": ("parametric curve", "ProPhoto RGB"),
    "rec709": ("BT.709", "Rec. 709"),
    "rec2020": ("BT.709", "Rec. 2020"),
    "rec2100-pq": ("PQ", "Rec. 2020"),
    "rec2100-hlg": ("HLG", "Rec. 2020"),
    "display-p3-pq": ("PQ", "Display P3"),
    "linear": ("linear", "Rec. 709"),
    "linear-p3": ("linear", "Display P3"),
    "linear-rec2020": ("linear", "Rec. 2020"),
    "acescg": ("linear", "ACES AP1"),
    "aces2065-1": ("linear", "ACES AP0"),
}
#: The 24 patches of a ColorChecker in 8-bit sRGB: BabelColor's averages.
PATCHES = np.array(
    [
        (115, 82, 68), (194, 150, 130), (98, 122, 157), (87, 108, 67), (133, 128, 177), (103, 189, 170),
        (214, 126, 44), (80, 91, 166), (193, 90, 99), (94, 60, 108), (157, 188, 64), (224, 163, 46),
        (56, 61, 150), (70, 148, 73), (175, 54, 60), (231, 199, 31), (187, 86, 149), (8, 133, 161),
        (243, 243, 242), (200, 200, 200), (160, 160, 160), (122, 122, 121), (85, 85, 85), (52, 52, 52),
    ],
    np.uint8,
)  # fmt: skip


def test_every_name_is_tested() -> None:
    assert set(SPACES) == set(reference.OUTPUTS) == set(CALLED) == set(NAMES) - {"auto", "input"}


@each(name=SPACES, channels=[1, 2, 3, 4])
def test_light_in_a_space(gpu, name, channels, rng) -> None:
    """Colours beyond the space, beyond white and negative; alpha stays."""
    values = rng.uniform(-0.3, 6, (7, 19, channels)).astype(np.float32)
    values[0] = 0
    values[1] *= 1e-3
    image = gpu.array(np.ascontiguousarray(values.transpose(2, 0, 1)))
    image.alpha = channels in (2, 4)
    image.linear = True
    pixels, _ = light.encoded(image, spaces.named(name), np.float32)
    found = pixels.numpy()
    colours = channels - image.alpha
    expected = reference.output(values[..., :colours].astype(np.float64), name)
    # Curves are steep at 0, where matrices leave a rounding.
    near = np.abs(reference.output(values[..., :colours] + 3e-7, name) - expected)
    assert np.all(np.abs(found[..., :colours] - expected) <= near + 1e-5 * np.maximum(1, np.abs(expected)))
    assert np.array_equal(found[..., colours:], values[..., colours:])


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["srgb", "rec2100-pq", "rec2100-hlg", "acescg"])
def test_not_finite_light(gpu, name) -> None:
    """Infinities stay, as NaN does, and their neighbours are not spoilt."""
    values = np.full((3, 1, 5), 0.25, np.float32)
    values[0, 0, 1], values[1, 0, 2], values[2, 0, 3] = np.inf, np.nan, -np.inf
    image = gpu.array(values)
    image.linear = True
    pixels, _ = light.encoded(image, spaces.named(name), np.float32)
    found = pixels.numpy()[0]
    assert np.isfinite(found[[0, 4]]).all() and np.array_equal(found[0], found[4]) and found[1, 0] == np.inf
    assert found[3, 2] == -np.inf and np.isnan(found[2, 1])
    counted, lost = light.encoded(image, spaces.named(name), np.uint8)
    assert counted.numpy().dtype == np.uint8 and lost.numpy()[1] >= 3


@pytest.mark.cases(2)
@each(name=SPACES, dtype=["uint8", "uint16", "float"])
def test_a_colour_target_through_the_command(clpix, name, dtype, tmp_path, rng) -> None:
    """24 patches and random colours, from sRGB; the label is read again, and gives the light back."""
    colours = np.concatenate([PATCHES, rng.integers(0, 256, (24, 3)).astype(np.uint8)]).reshape(6, 8, 3)
    PIL.fromarray(colours).save(tmp_path / "in.png")
    out = tmp_path / "out.tif"
    run = clpix("convert", tmp_path / "in.png", "-o", out, "--colour", name, "--dtype", dtype)
    assert run.code == 0
    found = files.read(out)
    expected = reference.output(reference.srgb_light(colours / 255), name)
    scale = np.iinfo(found.pixels.dtype).max if found.pixels.dtype.kind == "u" else 1
    step = 0.5 / scale if scale > 1 else 0
    assert np.abs(found.pixels / scale - np.clip(expected, 0, 1 if scale > 1 else 9)).max() <= step + 1e-5
    assert (found.colour.transfer, found.colour.primaries) == CALLED[name]


@pytest.mark.cases(6)
@some(name=SPACES, suffix=["png", "jpg", "webp", "tif", "jp2", "exr", "dpx", "hdr", "npz"])
def test_labels(clpix, name, suffix, tmp_path, rng) -> None:
    """What a format can say it says; otherwise a line names it, and the values are those that were asked for."""
    pixels = rng.integers(0, 256, (40, 41, 3)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "in.png")
    out = tmp_path / f"out.{suffix}"
    run = clpix("convert", tmp_path / "in.png", "-o", out, "--colour", name)
    assert run.code == 0
    found = files.read(out)
    transfer, primaries = CALLED[name]
    if f"cannot say what its values are ({transfer}, {primaries} primaries)" in run.err:
        assert suffix in ("exr", "dpx", "hdr")
        taken = "sRGB" if suffix == "dpx" else f"linear {found.colour.primaries} light"
        assert run.err.endswith(f"they are taken for {taken}\n")
        return
    assert (found.colour.transfer, found.colour.primaries) == (transfer, primaries)


@each(dtype=["float", "half"], name=["rec2100-pq", "rec2100-hlg", "display-p3-pq", "rec2020"])
def test_light_beyond_the_primaries_comes_back(clpix, name, dtype, tmp_path, rng) -> None:
    """Files of floats keep colours that the space cannot show: negative signals, which are negative light."""
    light = rng.uniform(-1, 1, (40, 41, 3)).astype(np.float32)
    files.write(tmp_path / "in.exr", files.Picture(light, linear=True))
    signal, back = tmp_path / "signal.tif", tmp_path / "back.exr"
    assert clpix("convert", tmp_path / "in.exr", "-o", signal, "--colour", name, "--dtype", dtype).code == 0
    assert clpix("convert", signal, "-o", back, "--colour", "linear", "--dtype", "float").code == 0
    error = np.abs(files.read(back).pixels - light)
    assert error.max() < (2e-3 if dtype == "float" else 0.03)  # half floats have 11 bits


@each(channels=[1, 3])
def test_pq_and_hlg_show_the_same(clpix, channels, tmp_path, rng) -> None:
    """Up to 1000 cd/m², by the formulas of BT.2100's table 5 in double, as BT.2408 has it; then the way back."""
    display = rng.uniform(0, 1000 / 203, (8, 9, channels))
    display[0] = 100 / 203  # which is a signal of 0.630
    pq = np.rint(reference.pq_signal(display) * 65535)
    metadata = files.Metadata(colour=spaces.named("rec2100-pq"))
    files.write(tmp_path / "pq.png", files.Picture(pq.astype(np.uint16), metadata=metadata))
    assert (
        clpix("convert", tmp_path / "pq.png", "-o", tmp_path / "hlg.png", "--colour", "rec2100-hlg").code == 0
    )
    hlg = files.read(tmp_path / "hlg.png").pixels / 65535
    assert np.abs(hlg - reference.hlg_signal(reference.hlg_scene(display)).clip(0, 1)).max() < 6e-5
    assert np.abs(hlg[0] - 0.630).max() < 5e-4
    assert (
        clpix("convert", tmp_path / "hlg.png", "-o", tmp_path / "o.png", "--colour", "rec2100-pq").code == 0
    )
    back = files.read(tmp_path / "o.png").pixels / 65535
    assert np.abs(back - pq / 65535)[hlg.max(-1) < 1].max() < 3e-4


@pytest.mark.cases(3)
@each(
    name=["display-p3", "adobe-rgb", "prophoto-rgb", "rec2020", "linear-p3"],
    suffix=["png", "jpg", "tif", "webp"],
)
def test_profiles_for_other_readers(clpix, name, suffix, tmp_path) -> None:
    """Little CMS makes the sRGB of it that it was."""
    PIL.fromarray(PATCHES.reshape(4, 6, 3).repeat(8, 0).repeat(8, 1)).save(tmp_path / "in.png")
    out = tmp_path / f"out.{suffix}"
    assert clpix("convert", tmp_path / "in.png", "-o", out, "--colour", name).code == 0
    with PIL.open(out) as image:
        profile = image.info["icc_profile"]
        with oiio.Reader(str(out)) as file:  # a second reader finds the same profile
            assert bytes(np.asarray(file.spec().getattribute("ICCProfile"), np.uint8)) == profile
        srgb = ImageCms.createProfile("sRGB")
        back = ImageCms.profileToProfile(
            image.convert("RGB"), ImageCms.ImageCmsProfile(io.BytesIO(profile)), srgb, renderingIntent=1
        )
    found = np.asarray(back).reshape(4, 8, 6, 8, 3)[:, 4, :, 4].reshape(24, 3).astype(int)
    # One step of 8 bits in a wide or linear space is several of sRGB.
    most = {"jpg": 6, "webp": 12}.get(suffix, 4) + (14 if name == "linear-p3" else 0)
    assert np.abs(found - PATCHES).max() <= most


@pytest.mark.parametrize(
    ("name", "codes"),
    [("rec2100-pq", (9, 16, 0, 1)), ("rec2100-hlg", (9, 18, 0, 1)), ("display-p3-pq", (12, 16, 0, 1))],
)
def test_hdr_in_png(clpix, name, codes, tmp_path) -> None:
    """Scene light becomes 16 bits with cICP, of an EXR as of a picture of 8 bits."""
    scene = np.linspace(0, 12, 6 * 7 * 3).reshape(6, 7, 3).astype(np.float32)
    files.write(tmp_path / "in.exr", Picture(scene, linear=True))
    PIL.fromarray(PATCHES.reshape(4, 6, 3)).save(tmp_path / "in.png")
    for source in ("in.exr", "in.png"):  # of which the second has 8 bits
        out = tmp_path / "out.png"
        assert clpix("convert", tmp_path / source, "-o", out, "--colour", name, "--overwrite").code == 0
        assert reference.png_chunk(b"cICP", bytes(codes)) in out.read_bytes()
        with oiio.Reader(str(out)) as file:
            assert tuple(file.spec().getattribute("CICP")) == codes and str(file.spec().format) == "uint16"
        assert clpix("convert", tmp_path / source, "-o", tmp_path / "out.jpg", "--colour", name).code == 0
        (tmp_path / "out.jpg").unlink()
    expected = np.clip(reference.output(scene.astype(np.float64), name), 0, 1)
    run = clpix("convert", tmp_path / "in.exr", "-o", tmp_path / "hdr.png", "--colour", name)
    assert run.code == 0
    found = files.read(tmp_path / "hdr.png").pixels / 65535
    assert np.abs(found - expected).max() < 2e-5


def test_exr_of_a_space(clpix, tmp_path, rng) -> None:
    """Chromaticities, read by OpenImageIO; light beyond Rec. 709 comes back."""
    values = rng.uniform(0, 9, (9, 8, 3)).astype(np.float32)
    files.write(tmp_path / "in.exr", Picture(values, linear=True))
    for name in LIGHTS[1:]:
        out = tmp_path / f"{name}.exr"
        run = clpix("convert", tmp_path / "in.exr", "-o", out, "--colour", name)
        assert (run.code, run.err) == (0, "")
        space = reference.OUTPUTS[name][0]
        with oiio.Reader(str(out)) as file:
            said = file.spec().getattribute("chromaticities")
        assert np.allclose(said, reference.CHROMATICITIES[space], atol=1e-6)
        expected = reference.output(values.astype(np.float64), name)
        assert np.abs(files.read(out).pixels - expected).max() < 1e-5
        back = tmp_path / "back.exr"
        assert clpix("convert", out, "-o", back, "--colour", "linear", "--overwrite").code == 0
        assert np.abs(files.read(back).pixels - values).max() < 2e-5


def _p3(values: np.ndarray) -> np.ndarray:
    """8-bit sRGB as 8-bit Display P3."""
    expected = reference.output(reference.srgb_light(values / 255), "display-p3")
    return np.asarray(np.rint(255 * np.clip(expected, 0, 1)))


COMMANDS = {
    "convert": ("convert",),
    "blur": ("blur", "--sigma", 2),
    "tonemap": ("tonemap", "--operator", "reinhard"),
    "tonemap local": ("tonemap", "--operator", "durand"),
    "bloom": ("bloom", "--threshold", 0.3),
    "grade": ("grade", "--exposure", -1),
    "resize": ("resize", "--size", "31x"),
    "rotate": ("rotate", "--angle", 90),
    "flip": ("flip", "--axis", "horizontal"),
    "denoise": ("dwt", "--reconstruct", "--shrink", "bayes"),
    "spectrum": ("fft",),
    "pyramid": ("dwt",),
    "chain": ("blur", "--sigma", 1, "then", "sharpen", "then", "grade", "--contrast", 1.2),
    "sheet": ("tonemap", "--contact-sheet"),
}


@pytest.mark.cases(2)
@each(what=COMMANDS, channels=[1, 3, 4])
def test_every_command(clpix, what, channels, tmp_path, rng) -> None:
    """The result is that of sRGB in the other space, but for the rounding of both, and alpha is the same."""
    pixels = rng.integers(60, 200, (48, 52, channels)).astype(np.uint8)
    files.write(tmp_path / "in.png", Picture(pixels, alpha=channels == 4))
    name, *options = COMMANDS[what]
    for space, out in (("srgb", "a.png"), ("display-p3", "b.png"), ("auto", "c.png")):
        run = clpix(name, tmp_path / "in.png", *options, "-o", tmp_path / out, "--colour", space)
        if run.code == 2 and "gray" in run.err:
            return
        assert run.code == 0, run.err
    plain, wide = files.read(tmp_path / "a.png"), files.read(tmp_path / "b.png")
    assert np.array_equal(plain.pixels, files.read(tmp_path / "c.png").pixels)
    colours = plain.channels - plain.alpha
    expected = _p3(plain.pixels[..., :colours]) if colours == 3 else plain.pixels[..., :colours]
    fits = (plain.pixels[..., :colours] % 255 != 0).all(-1)  # brighter light than white is cut in each space
    assert fits.mean() > 0.3 and np.abs(wide.pixels[..., :colours] - expected)[fits].max() <= 1
    assert np.array_equal(wide.pixels[..., colours:], plain.pixels[..., colours:])
    assert wide.metadata.icc is not None


def test_ifft_and_idwt(clpix, tmp_path, rng) -> None:
    pixels = rng.integers(0, 256, (33, 30, 3)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "in.png")
    for forward, inverse in (("fft", "ifft"), ("dwt", "idwt")):
        assert clpix(forward, tmp_path / "in.png", "-o", tmp_path / f"{forward}.npz").code == 0
        out = tmp_path / f"{inverse}.png"
        run = clpix(inverse, tmp_path / f"{forward}.npz", "-o", out, "--colour", "display-p3")
        assert (run.code, run.err) == (0, "") and np.abs(files.read(out).pixels - _p3(pixels)).max() <= 1
        run = clpix(forward, tmp_path / "in.png", "-o", tmp_path / "x.npz", "--colour", "display-p3")
        assert run.code == 2 and "of stored values: leave out --colour" in run.err


def test_what_is_written_on_the_way(clpix, tmp_path, rng) -> None:
    pixels = rng.integers(0, 256, (33, 30, 3)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "in.png")
    run = clpix(
        "convert", tmp_path / "in.png", "--colour", "display-p3", "then", "write", tmp_path / "way.png",
        "then", "blur", "--sigma", 1, "-o", tmp_path / "out.png",
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    way = files.read(tmp_path / "way.png")
    assert np.abs(way.pixels - _p3(pixels)).max() <= 1
    assert way.colour.primaries == files.read(tmp_path / "out.png").colour.primaries == "Display P3"


def test_the_inputs_own_space(clpix, tmp_path, rng) -> None:
    """Values that an operation leaves as they are come back exactly, with the profile, and sRGB stays sRGB."""
    srgb_curve = reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    profile = reference.rgb_profile("Display P3", srgb_curve)
    pixels = rng.integers(0, 256, (17, 19, 3)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "p3.png", icc_profile=profile)
    PIL.fromarray(pixels).save(tmp_path / "srgb.png")
    inputs = (tmp_path / "p3.png", tmp_path / "srgb.png")
    run = clpix("blur", *inputs, "--sigma", "1e-3", "-o", f"{tmp_path}/o/", "--colour", "input")
    assert (run.code, run.err) == (0, "")
    found = files.read(tmp_path / "o" / "p3.png")
    assert found.metadata.icc == profile and np.abs(found.pixels.astype(int) - pixels).max() <= 0
    assert files.read(tmp_path / "o" / "srgb.png").metadata.icc is None
    # In a format of floats it is light of the same primaries.
    assert (
        clpix("blur", tmp_path / "p3.png", "--sigma", 0, "-o", tmp_path / "p3.exr", "--colour", "input").code
        == 0
    )
    found = files.read(tmp_path / "p3.exr")
    assert found.colour.primaries == "Display P3"
    assert np.abs(found.pixels - reference.srgb_light(pixels / 255)).max() < 1e-3  # half


def test_a_space_that_is_a_table_is_refused(clpix, tmp_path) -> None:
    curve = reference.curve(*(int(65535 * (k / 63) ** 3.1) for k in range(64)))
    profile = reference.rgb_profile("Display P3", curve)
    PIL.fromarray(PATCHES.reshape(4, 6, 3)).save(tmp_path / "in.png", icc_profile=profile)
    run = clpix("blur", tmp_path / "in.png", "--sigma", 1, "-o", tmp_path / "out.png", "--colour", "input")
    assert run.code == 1 and run.err.count("\n") == 1
    assert "in.png: its colour space has a curve that is a table: name another one by --colour" in run.err
    assert not (tmp_path / "out.png").exists()


def test_two_ways_to_say_the_signal_are_refused(clpix, tmp_path) -> None:
    PIL.fromarray(PATCHES.reshape(4, 6, 3)).save(tmp_path / "in.png")
    run = clpix(
        "tonemap", tmp_path / "in.png", "-o", tmp_path / "o.png", "--transfer", "pq", "--colour", "srgb"
    )
    assert run.code == 2
    assert "--transfer and --colour both say how the result is encoded: leave out one" in run.err
    with pytest.raises(ParameterError, match="both say"):
        Job("a.exr", Chain(TonemapParams(transfer="pq")), "b.png", options=Options(colour="srgb"))
    run = clpix("convert", tmp_path / "in.png", "-o", tmp_path / "o.png", "--color", "Display-P3")
    assert run.code == 0  # the American spelling, in any case
    run = clpix("info", tmp_path / "in.png", "--colour", "srgb")
    assert run.code == 2 and "nothing is written: leave out --colour" in run.err


def test_the_space_decides_about_results(tmp_path) -> None:
    """Journals know results of another space as others."""
    jobs = [
        Job("a.png", Chain(BlurParams((1.0, 1.0))), "b.png", options=Options(colour=name)) for name in NAMES
    ]
    assert len({job.recipe for job in jobs}) == len(NAMES)


def _exif(space: int, index: str | None) -> bytes:
    exif = PIL.Exif()
    exif[0x8769] = {0xA001: space} | ({0xA005: {1: index}} if index else {})
    return bytes(exif.tobytes())


@each(
    space__index__adobe=[
        (1, "R98", False), (1, "R03", False), (2, None, True), (0xFFFF, "R03", True),
        (0xFFFF, "R98", False), (0xFFFF, None, False),
    ],
    suffix=["jpg", "webp"],
)  # fmt: skip
def test_exif_says_adobe_rgb(clpix, space, index, adobe, suffix, tmp_path) -> None:
    """Colours are converted, and the block tells no more of them than is true. A profile overrules it."""
    pixels = PATCHES.reshape(4, 6, 3).repeat(8, 0).repeat(8, 1)
    lossless = {"lossless": True} if suffix == "webp" else {"quality": 100, "subsampling": 0}
    path = tmp_path / f"in.{suffix}"
    PIL.fromarray(pixels).save(path, exif=_exif(space, index), **lossless)
    assert files.read(path).colour.primaries == ("Adobe RGB" if adobe else "Rec. 709")
    with PIL.open(path) as image:
        values = np.asarray(image) / 255
    for wanted, code in (("srgb", 1), ("display-p3", 0xFFFF)):
        out = tmp_path / "out.png"
        assert clpix("convert", path, "-o", out, "--colour", wanted, "--overwrite").code == 0
        matrix = np.linalg.inv(reference.d50_columns("Rec. 709")) @ reference.d50_columns("Adobe RGB")
        linear = values ** (563 / 256) @ matrix.T if adobe else reference.srgb_light(values)
        expected = np.rint(255 * np.clip(reference.output(linear, wanted), 0, 1))
        assert np.abs(files.read(out).pixels - expected).max() <= 1
        with PIL.open(out) as image:
            block = image.getexif()
            said = block.get_ifd(0x8769)
            if adobe or wanted != "srgb":
                assert said[0xA001] == code
                if index is not None:
                    assert block.get_ifd(0xA005)[1] == "R98"
    PIL.fromarray(pixels).save(
        path,
        exif=_exif(space, index),
        icc_profile=reference.rgb_profile("Display P3", reference.curve(563)),
        **lossless,
    )
    assert files.read(path).colour.primaries == "Display P3"


def test_a_damaged_block_says_nothing() -> None:
    from gpuops.files.exif import coloured, is_adobe_rgb

    block = _exif(0xFFFF, "R03").removeprefix(b"Exif\0\0")
    assert is_adobe_rgb(block)
    for end in range(len(block)):
        for damaged in (block[:end], block[:end] + b"\xff" * (len(block) - end)):
            is_adobe_rgb(damaged)
            assert len(coloured(damaged, srgb=True)) == len(damaged)
    assert not is_adobe_rgb(coloured(block, srgb=False))
