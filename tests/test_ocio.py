"""OpenColorIO's transforms on the device against its own CPU processor."""

import sys
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, ParameterError, files
from gpuops.chain import Chain
from gpuops.gpu import GeneratedSource
from gpuops.ocio import config
from gpuops.ocio.transform import Texture, buffer, opencl
from gpuops.ops.blur import BlurParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.ocio import OPERATION as ocio
from gpuops.ops.ocio import OcioParams
from gpuops.pixels.colour import SRGB, of_primaries
from gpuops.pixels.primaries import NAMED
from gpuops.pixels.spaces import named
from gpuops.plan import plan

from . import tolerance
from .choices import needs
from .reference.colour import srgb_light, srgb_signal
from .reference.images import on

with suppress(ImportError):
    import PyOpenColorIO
pytestmark = needs("PyOpenColorIO", "ocio")

TOLERANCE = tolerance.OCIO["transform"]
IDENTITIES: list[OcioParams] = []
LIGHT = "Linear Rec.709 (sRGB)"
SDR = "ACES 2.0 - SDR 100 nits (Rec.709)"
WEIGHTS = (0.2126, 0.7152, 0.0722)


def by_cpu(processor: Any, colours: np.ndarray) -> np.ndarray:
    """Colours (n, 3) through OpenColorIO's processor for CPUs, without its faster powers."""
    found = np.ascontiguousarray(colours, np.float32).copy()
    processor.getOptimizedCPUProcessor(PyOpenColorIO.OPTIMIZATION_LOSSLESS).applyRGB(found)
    return found.astype(float)


def processor_of(p: OcioParams) -> Any:
    """The transform, put together by other means than the product's."""
    short = {"cg": "cg-config-latest", "studio": "studio-config-latest"}
    found = PyOpenColorIO.Config.CreateFromBuiltinConfig(short[str(p.config)])
    way = PyOpenColorIO.TRANSFORM_DIR_INVERSE if p.inverse else PyOpenColorIO.TRANSFORM_DIR_FORWARD
    source = p.source or LIGHT
    if p.to is not None and p.look is None:
        return found.getProcessor(PyOpenColorIO.ColorSpaceTransform(source, p.to, direction=way))
    if p.to is not None:
        return found.getProcessor(PyOpenColorIO.LookTransform(source, p.to, p.look, direction=way))
    display = p.display or found.getDefaultDisplay()
    view = p.view or found.getDefaultView(display)
    return found.getProcessor(PyOpenColorIO.DisplayViewTransform(source, display, view, direction=way))


def reference(x: np.ndarray, colours: int, p: OcioParams) -> np.ndarray:
    planes = x[:colours] if colours == 3 else np.repeat(x[:1], 3, 0)
    found = by_cpu(processor_of(p), planes.reshape(3, -1).T).T.reshape(planes.shape)
    return np.concatenate([found if colours == 3 else np.tensordot(WEIGHTS, found, 1)[None], x[colours:]])


def any_colours(rng: np.random.Generator) -> np.ndarray:
    """Colours (3, 40, 60) of every kind: in the unit cube, negative ones, and light far beyond 1."""
    kinds = rng.random((800, 3)), rng.normal(0, 0.5, (800, 3)), rng.gamma(0.3, 20, (797, 3))
    ends = [[0, 0, 0], [1, 1, 1], [-1, 0, 100]]
    return np.concatenate([*kinds, ends]).astype(np.float32).T.reshape(3, 40, 60)


@pytest.mark.parametrize("params", [
    OcioParams("studio", "ACEScg", display="sRGB - Display"),
    OcioParams("studio", "ACEScg", display="Display P3 HDR - Display"),
    OcioParams("studio", "ACEScg", display="Rec.2100-HLG - Display", view="Un-tone-mapped"),
    OcioParams("studio", "Linear ARRI Wide Gamut 4", display="sRGB - Display", view="Video (colorimetric)" ),
    OcioParams("studio", "ACEScg", "ACEScct"),
    OcioParams("studio", "ACEScg", "ACEScg", look="ACES 1.3 Reference Gamut Compression"),
    OcioParams("studio", "ACES2065-1", "ADX10"),
], ids=lambda p: p.to or p.display)  # fmt: skip
@pytest.mark.filterwarnings("default::gpuops.errors.GpuopsWarning")
def test_any_colours(gpu, rng, params) -> None:
    """Each value, relative to 1 where it is smaller."""
    x = any_colours(rng)
    result = ocio(gpu, gpu.array(x), params).numpy()
    expected = reference(x, 3, params)
    off = np.abs(result - expected) / np.maximum(1, np.abs(expected))
    assert np.mean(off > TOLERANCE) < 1e-3 and off.max() < tolerance.OCIO["dark"]


@pytest.mark.parametrize("params", [
    OcioParams("cg", display="sRGB - Display", inverse=True),
    OcioParams("cg", "ACEScg", "ACEScct", inverse=True),
], ids=["view", "space"])  # fmt: skip
def test_the_way_back(gpu, rng, params) -> None:
    """From what the way there makes of colours that a display can show."""
    x = 0.05 + 0.4 * rng.random((3, 20, 30), np.float32)
    there = reference(x, 3, OcioParams(params.config, params.source, params.to, params.display))
    result = ocio(gpu, gpu.array(there.astype(np.float32)), params)
    back = tolerance.OCIO["back"]
    np.testing.assert_allclose(
        result.numpy(), reference(there.astype(np.float32), 3, params), rtol=back, atol=back
    )
    np.testing.assert_allclose(result.numpy(), x, rtol=tolerance.OCIO["round trip"])
    assert result.space.colour == (named("acescg") if params.to else named("linear"))


def test_tables_and_curves_of_a_file(gpu, rng, tmp_path) -> None:
    """A config of one's own: curves, and a table of colours by tetrahedra and by straight lines."""
    n = 5
    cube = np.stack(np.meshgrid(*[np.linspace(0, 1, n)] * 3, indexing="ij"), -1)[..., ::-1]
    bent = np.clip(cube**1.5 + rng.normal(0, 0.05, cube.shape), 0, 1).reshape(-1, 3)
    lines = "\n".join(" ".join(map(str, row)) for row in bent)
    (tmp_path / "a.cube").write_text(f"LUT_3D_SIZE {n}\n{lines}\n")
    curve = "\n".join(f"{a:.6f} {a**2:.6f} {a**0.5:.6f}" for a in np.linspace(0, 1, 33))
    (tmp_path / "b.cube").write_text(f"LUT_1D_SIZE 33\n{curve}\n")
    spaces = "".join(
        f"  - !<ColorSpace>\n    name: {name}\n    from_scene_reference: {transform}\n"
        for name, transform in (
            ("tetrahedra", "!<FileTransform> {src: a.cube, interpolation: tetrahedral}"),
            ("lines", "!<FileTransform> {src: a.cube, interpolation: linear}"),
            ("curves", "!<FileTransform> {src: b.cube, interpolation: linear}"),
            ("cdl", "!<CDLTransform> {slope: [1.2, 1, 0.9], power: [1.1, 1, 2], sat: 0.7}"),
            ("exposed", "!<ExposureContrastTransform> {exposure: 0.7, contrast: 1.3, style: linear}"),
            ("graded", "!<GradingPrimaryTransform> {style: log, contrast: {rgb: [1.1, 1, 1], master: 1.3}}"),
            ("toned", "!<GradingToneTransform> {style: log, midtones: {rgb: [1.3, 1, 1], master: 1.1, "
             "center: 0.4, width: 0.5}}"),
        )
    )  # fmt: skip
    path = tmp_path / "config.ocio"
    path.write_text(
        "ocio_profile_version: 2\nroles: {default: raw, scene_linear: raw}\nsearch_path: .\n"
        f"displays:\n  One:\n    - !<View> {{name: A, colorspace: lines}}\ncolorspaces:\n"
        f"  - !<ColorSpace>\n    name: raw\n{spaces}"
    )
    x = rng.uniform(-0.2, 1.3, (3, 20, 30)).astype(np.float32)
    found = PyOpenColorIO.Config.CreateFromFile(str(path))
    for name in ("tetrahedra", "lines", "curves", "cdl", "exposed", "graded", "toned"):
        params = OcioParams(str(path), "raw", name)
        expected = by_cpu(found.getProcessor("raw", name), x.reshape(3, -1).T).T.reshape(x.shape)
        with pytest.warns(match=f"no profile tells what {name} is"):
            result = ocio(gpu, gpu.array(x), params)
        np.testing.assert_allclose(result.numpy(), expected, rtol=TOLERANCE, atol=TOLERANCE)
        assert (result.space.unknown, result.space.as_is) == (name, True)
    with pytest.raises(ParameterError, match="does not say which of its colour spaces"):
        ocio(gpu, gpu.array(x), OcioParams(str(path), to="lines"))
    path.write_text(path.read_text().replace("a.cube", "none.cube"))
    with pytest.raises(ParameterError, match=r"config\.ocio: .*none\.cube"):
        config.processor(OcioParams(str(path), "raw", "lines"))


def test_what_is_not_finite_harms_no_other_pixel(gpu, rng) -> None:
    params = OcioParams("cg", display="Gamma 2.2 Rec.709 - Display")
    x = rng.random((4, 3, 16), np.float32)
    plain = x.copy()
    for place, value in zip([(0, 1, 2), (1, 2, 4), (2, 0, 15)], (np.nan, np.inf, -np.inf), strict=True):
        x[place] = value
    result, expected = (ocio(gpu, on(gpu, v, alpha=True), params).numpy() for v in (x, plain))
    whole = np.isfinite(x).all(axis=0)
    np.testing.assert_array_equal(result[:, whole], expected[:, whole])
    np.testing.assert_array_equal(result[3], x[3])


def test_an_image_without_colours_is_refused(gpu, tmp_path) -> None:
    with pytest.raises(ParameterError, match="ocio needs a gray or RGB image"):
        ocio(gpu, gpu.array(np.zeros((5, 2, 2), np.float32)), OcioParams("studio", "ACEScg", "ACEScct"))


def test_the_label_of_results(clpix, rng, tmp_path) -> None:
    """Values as the transform gives them, in a file that says what they are."""
    x = rng.gamma(0.5, 0.5, (9, 11, 3)).astype(np.float32)
    files.write(tmp_path / "in.exr", files.Picture(x, linear=True))
    p3 = of_primaries(NAMED["Display P3"], SRGB.curves[0])
    for display, dtype, colour in (
        ("sRGB - Display", np.uint8, None),
        ("Display P3 - Display", np.uint8, p3),
        ("Rec.2100-PQ - Display", np.uint16, named("rec2100-pq")),
    ):
        run = clpix(
            "ocio", tmp_path / "in.exr", "--config=studio", "--display", display, "-o", tmp_path / "a.png",
            "--overwrite",
        )  # fmt: skip
        assert (run.code, run.err) == (0, "")
        found = files.read(tmp_path / "a.png")
        assert found.pixels.dtype == dtype
        expected = reference(x.transpose(2, 0, 1), 3, OcioParams("studio", display=display))
        full = np.iinfo(dtype).max
        off = np.abs(found.pixels - full * expected.transpose(1, 2, 0).clip(0, 1)).max()
        assert off <= 0.51 + full * TOLERANCE
        label = found.metadata.colour
        assert (label is None) == (colour is None)
        if label is not None and colour is not None:
            np.testing.assert_allclose(label.matrix, colour.matrix, atol=1e-3)
            assert label.transfer == colour.transfer
    run = clpix("ocio", tmp_path / "in.exr", "--config=cg", "--to=ACEScct", "-o", tmp_path / "log.tif")
    assert run.code == 0 and run.err == (
        f"clpix: warning: {tmp_path / 'in.exr'}: no profile tells what ACEScct is: the result has none\n"
    )
    assert files.read(tmp_path / "log.tif").metadata.colour is None


def test_floats_that_cannot_say_a_curve_are_light(clpix, rng, tmp_path) -> None:
    x = rng.random((9, 11, 3)).astype(np.float32)
    files.write(tmp_path / "in.exr", files.Picture(x, linear=True))
    run = clpix(
        "ocio", tmp_path / "in.exr", "--config=cg", "--display=sRGB - Display", "-o", tmp_path / "out.exr"
    )
    assert (run.code, run.err) == (0, "")
    expected = srgb_light(reference(x.transpose(2, 0, 1), 3, OcioParams("cg", display="sRGB - Display")))
    found = files.read(tmp_path / "out.exr").pixels.transpose(2, 0, 1)
    np.testing.assert_allclose(found, expected, atol=2 * TOLERANCE)


def test_values_that_the_file_says_wrongly(clpix, rng, tmp_path) -> None:
    """--from counts, whatever the file says; alpha stays."""
    x = rng.integers(0, 65536, (9, 11, 4)).astype(np.uint16)
    metadata = files.Metadata(colour=named("adobe-rgb"))
    files.write(tmp_path / "in.png", files.Picture(x, alpha=True, metadata=metadata))
    run = clpix(
        "ocio", tmp_path / "in.png", "--config=cg", "--from=sRGB - Texture", "--to=ACEScg", "then", "flip",
        "--axis=horizontal", "-o", tmp_path / "out.exr", "--dtype=float",
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    straight = (x / 65535).astype(np.float32).transpose(2, 0, 1)
    expected = reference(straight, 3, OcioParams("cg", "sRGB - Texture", "ACEScg"))[..., ::-1]
    found = files.read(tmp_path / "out.exr")
    assert found.metadata.colour is not None
    assert (found.metadata.colour.primaries, found.metadata.colour.linear) == ("ACES AP1", True)
    np.testing.assert_allclose(found.pixels.transpose(2, 0, 1), expected, atol=TOLERANCE)


def test_in_chains(gpu, clpix, rng, tmp_path) -> None:
    x = rng.random((3, 12, 17), np.float32)
    there, back = OcioParams("cg", "ACEScg", "ACEScct"), OcioParams("cg", "ACEScct", "ACEScg")
    with pytest.warns(match="no profile tells what ACEScct is"):
        result = gpu.run(Chain(there, FlipParams("horizontal"), back), gpu.array(x))
    np.testing.assert_allclose(result.numpy(), x[..., ::-1], rtol=tolerance.OCIO["round trip"])
    assert result.space.colour == named("acescg")
    # A step that works on light gets light again.
    p = OcioParams("cg", to="ACEScg")
    blurred = gpu.run(Chain(p, BlurParams(sigma=(2, 2))), gpu.array(x))
    plain = gpu.run(Chain(BlurParams(sigma=(2, 2))), gpu.array(x))
    np.testing.assert_allclose(blurred.numpy(), plain.numpy(), atol=TOLERANCE)
    with pytest.warns(match="ACEScct"), pytest.raises(ParameterError, match="values are ACEScct, which is"):
        gpu.run(Chain(there, BlurParams(sigma=(2, 2))), gpu.array(x))
    blur = BlurParams(sigma=(2, 2))
    for chain in (Chain(blur, there), Chain(blur, FlipParams("both"), there)):
        with pytest.raises(ParameterError, match="takes values in a space that it names"):
            plan(chain)
    with pytest.raises(ParameterError, match="--space linear makes light of values"):
        plan(Chain(there), "linear")
    # With --space encoded steps between work on values in that space.
    files.write(tmp_path / "in.exr", files.Picture(x.transpose(1, 2, 0).copy(), linear=True))
    run = clpix(
        "ocio", tmp_path / "in.exr", "--config=cg", "--from=ACEScg", "--to=ACEScct", "--space=encoded", "then",
        "grade", "--offset=0.1", "then", "ocio", "--config=cg", "--from=ACEScct", "--to=ACEScg",
        "-o", tmp_path / "out.exr",
    )  # fmt: skip
    assert run.code == 0
    graded = reference(reference(x, 3, there) + 0.1, 3, back)
    found = files.read(tmp_path / "out.exr").pixels.transpose(2, 0, 1)
    np.testing.assert_allclose(found, graded, rtol=TOLERANCE)
    run = clpix(
        "ocio", tmp_path / "in.exr", "--config=cg", "--to=ACEScg", "--space=encoded", "-o", tmp_path / "b.png"
    )
    assert run.code == 0  # the file's values are light of Rec. 709
    files.write(
        tmp_path / "in.png", files.Picture((srgb_signal(x).transpose(1, 2, 0) * 255).round().astype(np.uint8))
    )
    run = clpix(
        "ocio", tmp_path / "in.png", "--config=cg", "--to=ACEScg", "--space=encoded", "-o", tmp_path / "c.png"
    )
    assert run.code == 1 and "say by --from which colour space that is" in run.err


def test_a_recipe_finds_the_config_beside_it(tmp_path) -> None:
    (tmp_path / "a.ocio").write_text(PyOpenColorIO.Config.CreateRaw().serialize())
    for name, found in (("a.ocio", str(tmp_path / "a.ocio")), ("cg", "cg")):
        text = f'schema = 1\n[[step]]\nop = "ocio"\nconfig = "{name}"\nfrom = "raw"\nto = "raw"\n'
        (step,) = Chain.from_toml(text, folder=str(tmp_path))
        assert step == OcioParams(found, "raw", "raw")


def test_the_list(clpix, monkeypatch) -> None:
    """It needs neither inputs nor an output, and stands before or behind --config."""
    run = clpix("ocio", "--list", "--config", "cg")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "config: cg-config-latest" and lines[2:4] == ["  sRGB - Display", f"    {SDR}"]
    assert "  ACES 1.3 Reference Gamut Compression" in lines and "  ACEScg" in lines
    monkeypatch.setenv("OCIO", "cg")
    assert clpix("ocio", "--list").out == run.out == clpix("ocio", "--config=cg", "--list").out


def test_errors_of_one_line(clpix, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("OCIO", raising=False)
    (tmp_path / "broken.ocio").write_text("no config")
    files.write(tmp_path / "in.png", files.Picture(np.zeros((2, 2, 3), np.uint8)))
    for words, said in (
        ((), "give --config FILE, or a built-in one such as --config studio, or set $OCIO"),
        (("--config=studioo",), "there is no config 'studioo': did you mean 'studio'"),
        (("--config", tmp_path / "no.ocio"), "there is no config"),
        (("--config", tmp_path / "broken.ocio"), "broken.ocio: "),
        (("--config=cg", "--to=ACEScgg"), "--to: no colour space 'ACEScgg': did you mean 'ACEScg'"),
        (("--config=cg", "--from=x", "--to=ACEScg"), "--from: no colour space 'x'"),
        (("--config=cg", "--display=srgb"), "--display: no display 'srgb': did you mean 'sRGB - Display'?"),
        (("--config=cg", "--view=Rw"), "has no view 'Rw': did you mean 'Raw'?"),
        (("--config=cg", "--look=compression"), "did you mean 'ACES 1.3 Reference Gamut Compression'?"),
        (("--config=cg", "--to=ACEScg", "--view=Raw"), "give one"),
        (("--config=",), "--config is empty"),
    ):
        run = clpix("ocio", tmp_path / "in.png", *words, "-o", tmp_path / "out.png")
        assert run.code == 2 and len(run.err.splitlines()) == 1 and said in run.err, run.err
        assert not (tmp_path / "out.png").exists()
    monkeypatch.setitem(sys.modules, "PyOpenColorIO", None)
    run = clpix("ocio", tmp_path / "in.png", "--config=cg", "--to=ACEScg", "-o", tmp_path / "out.png")
    assert run.code == 2 and "pip install 'clpix[ocio]'" in run.err and len(run.err.splitlines()) == 1


SHADER = """
uniform sampler1D oneSampler;
uniform sampler2D twoSampler;
uniform sampler3D nearSampler;
const float steps[3] = float[3](0.25, 0.5, -1e-1);

float bent(in float x, float scale)
{
  int i = int(x * 1e9);
  return mod(x, 0.4) * scale + steps[i];
}

vec4 F(vec4 inPixel)
{
  vec4 outColor = inPixel;
  vec3 c = outColor.bgr;
  if (c != vec3(0., 0., 0.))
  {
    outColor.rgb.r = texture(oneSampler, c.b).r + bent(c.x, 2.);
    outColor.rgb.gb = texture(twoSampler, c.rg).rg;
  }
  outColor.rgb = mat3(1., 0., .5, 0., 1., 0., 0., 0., 2.) * outColor.rgb + texture(nearSampler, c).rgb;
  outColor.a = atan(c.r, c.g) + abs(-c.b);
  vec4 above = vec4(greaterThan(outColor, vec4(.5, .5, .5, .5)));
  outColor.rgb = outColor.rgb * above.rgb;
  return outColor;
}
"""


def check_shader(gpu: Gpu, rng: np.random.Generator) -> None:
    """A shader with every form of texture, against numpy and scipy."""
    from scipy.ndimage import map_coordinates

    one = rng.random(7).astype(np.float32)
    two = rng.random((5, 4, 3)).astype(np.float32)
    near = rng.random((3, 3, 3, 3)).astype(np.float32)
    textures = [
        Texture("oneSampler", (7,), 1, True, one),
        Texture("twoSampler", (4, 5), 3, True, two),
        Texture("nearSampler", (3, 3, 3), 3, False, near),
    ]
    x = rng.uniform(-0.2, 1.2, (4, 11, 13)).astype(np.float32)
    x[:3, 0, 0] = 0
    source = GeneratedSource("transform", opencl(SHADER, textures).replace(" F(", " ocio_transform("))
    kernel = gpu.kernel(("ocio_luts", source, "ocio"), "ocio_planes", COLOURS=3, ALPHA=True)
    image = gpu.array(x)
    result = gpu.empty(x.shape)
    gpu.launch(kernel, (x[0].size,), image, gpu.array(buffer(textures)), result, np.uint64(x[0].size))
    b, g, r, _ = x.astype(float)

    def sampled(table: np.ndarray, *at: np.ndarray) -> np.ndarray:
        places = [v * n - 0.5 for v, n in zip(at, table.shape, strict=True)]
        return map_coordinates(table.astype(float), places, order=1, mode="nearest")

    index = np.clip(np.where(r * 1e9 > 0, 2, 0), 0, 2)
    first = (
        sampled(one, b) + (r - 0.4 * np.floor(r / np.float32(0.4))) * 2 + np.array([0.25, 0.5, -0.1])[index]
    )
    second, third = (sampled(two[..., c], g, r) for c in (0, 1))
    black = (x[:3] == 0).all(0)
    v = np.stack([np.where(black, 0, part) for part in (first, second, third)])
    entries = near[tuple(np.clip((p * 3).astype(int), 0, 2) for p in (b, g, r))].transpose(2, 0, 1)
    v = np.stack([v[0], v[1], 0.5 * v[0] + 2 * v[2]]) + entries
    expected = np.concatenate([v * (v > 0.5), x[3:]])
    close = np.abs(v - 0.5).min(0) > 1e-5
    np.testing.assert_allclose(result.numpy()[:, close], expected[:, close], atol=tolerance.OCIO["sampled"])


def test_a_shader(gpu, rng) -> None:
    check_shader(gpu, rng)


def test_shaders_for_every_compiler() -> None:
    """No double literals, no swizzles by r, g and b, and no array without a bound."""
    text = opencl(SHADER, [Texture("nearSampler", (3, 3, 3), 3, False, np.zeros(81, np.float32)),
                           Texture("oneSampler", (7,), 1, True, np.zeros(7, np.float32)),
                           Texture("twoSampler", (4, 5), 3, True, np.zeros(60, np.float32))])  # fmt: skip
    import re

    assert not re.search(r"(?<![\w.])(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+)(?!\w|\.)", text)
    assert not re.search(r"\.[rgba]+\b|vec\d|mat\d|const float steps\b(?!\[)", text)
    assert "steps[clamp(i, 0, 2)]" in text and "texture(" not in text
    for unknown in ("uniform float x;", "vec4 F(vec4 p) { return fwidth(p); }", "vec4 F(inout vec4 p) { }",
                    "uniform sampler2D other;"):  # fmt: skip
        with pytest.raises(ParameterError, match="which clpix does not know"):
            opencl(unknown, [])
