"""Chains as values, their recipes, and what they give, against the operations one by one."""

import pickle
from itertools import product

import numpy as np
import pytest

from gpuops import ParameterError, Report
from gpuops.chain import Chain
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.crop import CropParams
from gpuops.ops.filter import FilterParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.region import Region
from gpuops.pixels.colour import LINEAR, SRGB, of_primaries
from gpuops.pixels.conversion import converted
from gpuops.pixels.curves import Parametric as Curve
from gpuops.pixels.primaries import NAMED
from gpuops.space import Space

from .choices import each, some
from .reference.colour import srgb_light, srgb_signal
from .reference.images import on
from .tolerance import BLUR, COLOUR

LOOK = Chain(BlurParams((2, 2)), BloomParams(strength=0.3), TonemapParams("agx"))


def test_a_chain_is_a_value() -> None:
    again = Chain(BlurParams((2, 2)), BloomParams(strength=0.3), TonemapParams("agx"))
    assert again == LOOK and hash(again) == hash(LOOK) and again.digest == LOOK.digest
    assert pickle.loads(pickle.dumps(LOOK)) == LOOK and Chain(BlurParams((2, 1))) != Chain(BlurParams((1, 2)))
    assert len({LOOK, again, Chain(BlurParams((2, 2)))}) == 2
    assert [operation.name for operation in LOOK.operations] == ["blur", "bloom", "tonemap"]
    with pytest.raises(AttributeError):
        LOOK.steps = ()
    with pytest.raises(ParameterError, match="at least one step"):
        Chain()
    with pytest.raises(ParameterError, match="not 'blur'"):
        Chain("blur")  # type: ignore[arg-type]


def test_comments_order_and_defaults_do_not_change_the_digest() -> None:
    text = """
    # a look
    schema = 1
    [[step]]
    sigma_y = 2
    op = "blur"      # soft
    sigma_x = 2.0
    kind = "gaussian"
    [[step]]
    op = "bloom"
    strength = 0.3
    [[step]]
    op = "tonemap"
    operator = "agx"
    exposure = "auto"
    """
    assert Chain.from_toml(text) == LOOK and Chain.from_toml(text).digest == LOOK.digest


def test_numbers_stand_for_their_texts() -> None:
    """TOML has numbers, where the command line has texts: one cutoff, or several."""
    step = '[[step]]\nop = "filter"\nkind = "lowpass"\ncutoff = {}\n'
    texts = (f"schema = 1\n{step.format(cutoff)}" for cutoff in ('"0.1"', "0.1", "[0.1]", '["0.1"]'))
    assert {Chain.from_toml(text) for text in texts} == {Chain(FilterParams("lowpass", ("0.1",)))}


def test_texts_of_any_characters_survive() -> None:
    from gpuops.ops.write import WriteParams

    chain = Chain(WriteParams('a "b" \\ \n\t\x07 ü 漢 {stem}.exr'))
    assert Chain.from_toml(chain.to_toml()) == chain


def step(body: str, head: str = "schema = 1\n") -> str:
    return f"{head}\n[[step]]\n{body}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 1", "look: has no \\[\\[step\\]\\]"),
        ("[[step]]\nop = 'blur'", "look: has no line 'schema = 1'"),
        (step("op = 'blur'", "schema = 2"), "look: schema 2 needs a newer clpix: this one knows 1 at most"),
        (step("op = 'blur'", "schema = 1\nsteps = 3"), "unknown key 'steps'"),
        (step("op = 'blurr'\nsigma = 1"), "look, line 3: unknown step 'blurr': did you mean 'blur'\\?"),
        (step("sigma = 1"), "look, line 3: the step has no 'op'"),
        (step("op = 'blur'\nsigm = 1"), "look, line 5: blur has no key 'sigm': did you mean 'sigma'\\?"),
        (step("op = 'blur'\nsigma = -1"), "look, line 5: sigma must be a finite number"),
        (step("op = 'blur'\nsigma = '1'"), "look, line 5: sigma is a number, not '1'"),
        (
            step("op = 'blur'\nsigma = 1\nradius = 2"),
            "look, line 6: --kind gaussian is as large .* leave out radius",
        ),
        (step("op = 'grade'\nsaturation = 101"), "look, line 5: saturation must be from 0 to 100"),
        (step("op = 'bloom'\nkaris = 1"), "look, line 5: karis is true or false"),
        (step("op = 'crop'"), "look, line 3: "),
        (step("op = 'fft'"), "look, line 3: unknown step 'fft'"),
        ("schema = 1\n[[step]\n", "look: is no TOML"),
        ("a = " + "[" * 9999, "look: is no TOML"),
        ("schema = 1\na = " + "9" * 9999, "look: is no TOML"),
        (step("op = 'blur'\nsigma = 1" + "0" * 400), "look: an integer of 401 digits is beyond the 64 bits"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_named(text, message) -> None:
    with pytest.raises(ParameterError, match=message) as error:
        Chain.from_toml(text, name="look")
    assert "\n" not in str(error.value)


def test_changes() -> None:
    two = Chain(BlurParams((1, 1)), BlurParams((2, 2)), BloomParams())
    text = two.to_toml()
    changed = Chain.from_toml(text, changes=["blur[1].sigma=8", "bloom.strength=0.5", "bloom.karis=false"])
    assert changed == Chain(BlurParams((1, 1)), BlurParams((8, 8)), BloomParams(strength=0.5, karis=False))
    for change, message in (
        ("blur.sigma=3", "there are 2 steps blur: write blur\\[0\\] to blur\\[1\\]"),
        ("blur[2].sigma=3", "there is no blur\\[2\\]"),
        ("blom.strength=1", "there is no step 'blom': did you mean 'bloom'\\?"),
        ("bloom.strenth=1", "bloom has no key 'strenth': did you mean 'strength'\\?"),
        ("bloom.strength=x", "'x' is no number"),
        ("bloom.karis=1", "is true or false"),
        ("strength", "STEP.KEY=VALUE"),
        ("bloom.strength=7", "strength must be"),
    ):
        with pytest.raises(ParameterError, match=message):
            Chain.from_toml(text, changes=[change])


def test_parameters_without_effect_have_no_recipe() -> None:
    """The command would refuse such options, so a recipe of them could not be done."""
    with pytest.raises(ParameterError, match="radius"):
        Chain(BlurParams((1, 1), (3, 3))).to_toml()


STEPS = [
    BlurParams((1.5, 1.5)), BlurParams(kind="median", radius=(1, 1)), BloomParams(strength=0.4),
    GradeParams(exposure=0.5, saturation=0.7), SharpenParams(1.5), CropParams(Region(10, 10, 70, 60, True)),
    TonemapParams("khronos-neutral", exposure=1.0),
]  # fmt: skip


@each(first__second=[(one, STEPS[k - by]) for k, one in enumerate(STEPS) for by in (1, 3)])
def test_a_chain_is_its_steps_one_by_one(gpu, rng, first, second) -> None:
    """Bit for bit: straight light between them is what EXR files hold."""
    x = rng.gamma(0.5, 2, (4, 23, 31)).astype(np.float32)
    x[3] = 1  # by which colours are multiplied and divided exactly
    image = on(gpu, x, alpha=True)
    together = gpu.run(Chain(first, second), image)
    one_by_one = gpu.run(Chain(second), gpu.run(Chain(first), image))
    np.testing.assert_array_equal(together.numpy(), one_by_one.numpy())
    np.testing.assert_array_equal(image.numpy(), x)  # the input stays
    assert together.space.display == any(isinstance(step, TonemapParams) for step in (first, second))


def test_arrays_and_images(gpu, rng) -> None:
    x = rng.random((3, 20, 30), np.float32)
    chain = Chain(BlurParams((2, 2)))
    result = gpu.run(chain, x)
    assert isinstance(result, np.ndarray) and result.shape == x.shape
    np.testing.assert_array_equal(gpu.run(chain, gpu.array(x)).numpy(), result)
    y = rng.random((4, 20, 30), np.float32)
    straight = gpu.run(chain, y, alpha=True)
    premultiplied = y.copy()
    premultiplied[:3] *= y[3]
    from scipy.ndimage import gaussian_filter

    expected = gaussian_filter(premultiplied.astype(float), (0, 2, 2), truncate=8)
    np.testing.assert_allclose(straight[:3] * straight[3], expected[:3], rtol=0, atol=BLUR["coarse"])


def test_the_report_names_the_steps(opened, rng) -> None:
    report = Report()
    gpu = opened(report=report)
    gpu.run(
        Chain(BlurParams((1, 1)), SharpenParams(), BlurParams((3, 3))), rng.random((3, 40, 50), np.float32)
    )
    steps = dict.fromkeys(kernel.label.partition(":")[0] for kernel in report.kernels())
    assert list(steps) == ["1 blur", "sharpen", "3 blur"]


@some(
    channels=[1, 2, 3, 4],
    before__after=list(product((LINEAR, SRGB), (LINEAR, SRGB))),
    was__becomes=list(product((False, True), (False, True))),
)
def test_converted(gpu, rng, channels, before, after, was, becomes) -> None:
    alpha = channels % 2 == 0
    x = rng.uniform(-0.2, 1.5, (channels, 7, 19)).astype(np.float32)
    if alpha:
        x[-1] = rng.uniform(0.05, 1, (7, 19))
    image = on(gpu, x, alpha=alpha)
    image.space = Space(before, premultiplied=was and alpha)
    result = converted(image, after, premultiplied=becomes)
    expected = x.astype(float)
    colours = expected[: channels - alpha]
    if was and alpha:
        colours /= expected[-1]
    if before != after:
        curve = srgb_signal if after == SRGB else srgb_light
        colours[:] = np.copysign(curve(np.abs(colours)), colours)
    if becomes and alpha:
        colours *= expected[-1]
    np.testing.assert_allclose(result.numpy(), expected, rtol=COLOUR["curve"], atol=COLOUR["near black"])
    assert (result.space.colour, result.space.premultiplied) == (after, becomes and alpha)
    same = before == after and (was == becomes or not alpha)
    assert (result is image) == same


def test_other_spaces_become_light(gpu, rng) -> None:
    wide = of_primaries(NAMED["Rec. 2020"], Curve(2.4))
    x = rng.random((4, 5, 6)).astype(np.float32) * 0.9 + 0.05
    image = on(gpu, x, alpha=True)
    image.space = Space(wide, premultiplied=True)
    result = converted(image, LINEAR, premultiplied=True).numpy()
    values = (x[:3] / x[3]).astype(float) ** 2.4
    expected = np.tensordot(np.reshape(wide.matrix, (3, 3)), values, 1) * x[3]
    np.testing.assert_allclose(result[:3], expected, rtol=0, atol=COLOUR["curve"] * np.abs(expected).max())
    np.testing.assert_array_equal(result[3], x[3])


def test_nothing_is_divided_by_alpha_0(gpu) -> None:
    x = np.zeros((2, 1, 9), np.float32)
    x[0] = 0.5
    image = on(gpu, x, alpha=True)
    image.space = Space(premultiplied=True)
    np.testing.assert_array_equal(converted(image, LINEAR, premultiplied=False).numpy(), x)
