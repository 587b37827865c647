"""Pictures by rows where rows of the result are others than the input's: resize, crop, flip, and around both ends.

References are arrays that are cut and mirrored, and matrices of weights in double precision.
"""

import re
from collections.abc import Iterator

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import files, notes
from gpuops.chain import Chain
from gpuops.image import Image, Part
from gpuops.operation import Params
from gpuops.ops.blur import BlurParams
from gpuops.ops.crop import CropParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.resize import ResizeParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.params.region import Region
from gpuops.plan import plan
from gpuops.rows.blocks import block_bytes, row_bytes
from gpuops.rows.flow import flow
from gpuops.rows.schedule import RowSchedule
from gpuops.rows.window import Edges, windows

from . import tolerance
from .choices import thinned
from .conftest import in_blocks
from .test_streaming import BY_ROWS, Given, as_whole, blocks, by_rows, picture, write

FILTERS = ("lanczos3", "mitchell", "catmull-rom", "area", "nearest")
# Sizes up and down by numbers that are not whole, one axis alone, tiny results, and parts of what is left and right.
RESIZES: list[ResizeParams] = [
    *(ResizeParams(scale=(0.37, 0.41), filter=filter) for filter in FILTERS),
    *(ResizeParams(scale=(2.3, 1.7), filter=filter) for filter in FILTERS),
    ResizeParams(scale=(0.2, 3.0)),
    ResizeParams(scale=(3.1, 0.1)),
    *(ResizeParams(scale=(0.011, 0.013), filter=filter) for filter in FILTERS),
    ResizeParams(scale=(1.9, 7.1)),
    ResizeParams((31, 7), fit="stretch"),
    ResizeParams((7, 53), fit="stretch"),
    ResizeParams((1, 1), fit="stretch"),
    ResizeParams((5, 2), fit="stretch", filter="area"),
    ResizeParams((23, 19), fit="cover"),
    ResizeParams((61, 17), filter="area", fit="cover"),
    ResizeParams((31, 53)),
    ResizeParams((31, 53), fit="stretch"),
    ResizeParams((31, 53), fit="cover", filter="area"),
    ResizeParams((None, 53)),
    ResizeParams((31, None)),
]
CROPS: list[CropParams] = [
    CropParams(Region(3, 5, 17, 20)), CropParams(Region(0, 0, 31, 1)), CropParams(Region(30, 52, 1, 1)),
    CropParams(Region(0, 20, 31, 33)), CropParams(Region(10, 0, 5, 53)), CropParams(Region(0, 0, 100, 100, True)),
    CropParams(Region(25, 30, 50, 40, True)),
]  # fmt: skip
FLIP = FlipParams("horizontal")


def with_alpha(shape: tuple[int, int, int]) -> np.ndarray:
    x = picture(shape)
    if shape[0] in (2, 4):
        x[-1] = np.clip(x[-1] / 2, 0, 1)
    return x


STEPS: list[Params] = [*RESIZES, *CROPS, FLIP]


@pytest.mark.cases(6)
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_any_blocks_give_the_bits_of_the_whole(planned, step) -> None:
    """Blocks of one row, of fewer rows than are needed at a time, of a prime number, and all rows."""
    planes = 1 + (STEPS.index(step) + planned.limits.is_cpu) % 4
    alpha, x = planes in (2, 4), with_alpha((planes, 53, 31))
    whole = as_whole(planned, Chain(step), x, alpha=alpha)
    for rows in (1, 7, 23, 53):
        np.testing.assert_array_equal(by_rows(planned, Chain(step), x, rows, alpha=alpha), whole)


def test_rows_that_are_not_needed_are_not_worked_on(gpu, monkeypatch) -> None:
    """A crop asks the steps before it for its rows and their neighbours, and for none below those."""
    taken = []

    def counted() -> Iterator[Image]:
        for block in blocks(gpu, x, 4):
            taken.append(block.part)
            yield block

    x = picture((3, 400, 20))
    chain = Chain(BlurParams((1.0, 1.0)), CropParams(Region(0, 100, 20, 50)))
    todo, shape = plan(chain), (3, 400, 20)
    schedule = RowSchedule.of(gpu, todo, shape)
    first, end = schedule.needed()
    assert 90 <= first <= 97 and first + end == 250
    found = [rows for rows in flow(schedule, Given(counted)) if isinstance(rows, Image)]
    assert found[0].part == (0, 50) and taken[-1] == Part((end - 1) // 4 * 4, 400)
    np.testing.assert_array_equal(
        np.concatenate([rows.numpy() for rows in found], 1), as_whole(gpu, chain, x)
    )


def test_blocks_are_not_joined_for_a_few_rows(planned) -> None:
    """On CPUs rows of the result that need one block alone are made of it; the others have what they need."""
    x = picture((2, 120, 5))
    given = list(blocks(planned, x, 40))
    taken = list(windows(given, lambda first, end: (max(first - 2, 0), min(end + 2, 120)), (0, 120), 120))
    assert [first for _, first, _ in taken] == [0, *(end for _, _, end in taken[:-1])] and taken[-1][2] == 120
    for rows, first, end in taken:
        assert rows.part is not None
        at = slice(rows.part.first, rows.part.first + rows.shape[1])
        assert at.start <= max(first - 2, 0) and min(end + 2, 120) <= at.stop
        np.testing.assert_array_equal(rows.numpy(), x[:, at])
    joined = [rows.shape[1] for rows, _, _ in taken if not any(rows is block for block in given)]
    assert joined == ([8, 8] if planned.limits.is_cpu else [44, 44])


@pytest.mark.parametrize("first", [3, 8, 13])
def test_a_crop_of_what_was_resized(planned, first) -> None:
    """Only needed rows are there: sums that are grouped begin where those of the whole do."""
    x, shape = picture((3, 300, 20)), (3, 300, 20)
    shrunk, crop = ResizeParams(scale=(0.9, 0.13)), CropParams(Region(1, first, 15, 9))
    chain = Chain(BlurParams((1.0, 1.0)), shrunk, crop)
    todo = plan(chain)
    schedule = RowSchedule.of(planned, todo, shape)
    low, high = schedule.needed()
    assert low > 0 or first < 8
    given = (block for block in blocks(planned, x, 5) if block.part and low - 5 < block.part.first < high)
    found = [rows.numpy() for rows in flow(schedule, Given(lambda: given)) if isinstance(rows, Image)]
    np.testing.assert_allclose(np.concatenate(found, 1), as_whole(planned, chain, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("small", [False, True])
def test_large_results_come_in_pieces(planned, small) -> None:
    """A row of the input that becomes many of the result: these are made so many bytes at a time."""
    x, chain = picture((3, 9, 11)), Chain(ResizeParams(scale=(13.0, 17.0)), SharpenParams(2.0, 0.5))
    at_once = 1 if small else 10 * row_bytes((3, 153, 143))
    schedule, source = RowSchedule.of(planned, plan(chain), (3, 9, 11)), Given(lambda: blocks(planned, x, 2))
    found = [image.numpy() for image in flow(schedule, source, at_once=at_once) if isinstance(image, Image)]
    assert max(rows.shape[1] for rows in found) <= 24
    np.testing.assert_allclose(np.concatenate(found, 1), as_whole(planned, chain, x), rtol=1e-6, atol=1e-6)


def test_a_window_of_too_many_rows_is_made_narrower_first(opened) -> None:
    """A thumbnail's row needs many rows of the picture, which do not all find room; those of its width do."""
    x, step = picture((3, 2000, 700)), ResizeParams((6, 9), fit="stretch")
    with_room, without = opened(), opened(memory=4 << 20)
    whole = as_whole(with_room, Chain(step), x)
    shape = 3, 2000, 700
    stages = RowSchedule.of(without, plan(Chain(step)), shape).stages()
    rows = block_bytes(without, stages) // row_bytes(shape)
    assert [one.shape for one in (stages[0].one, stages[1].one) if one] == [(3, 2000, 6), (3, 9, 6)]
    found = by_rows(without, Chain(step), x, rows)
    np.testing.assert_allclose(found, whole, rtol=tolerance.ROUNDINGS, atol=tolerance.ROUNDINGS)


@pytest.mark.exhaustive
@given(data=st.data())
@settings(max_examples=30)
def test_chains_by_rows(planned, data) -> None:
    """Steps of any kind one after the other, with regions in percent, which suit every size."""
    percents = st.integers(0, 9).flatmap(
        lambda first: st.integers(1, 10 - first).map(lambda count: (10 * first, 10 * count))
    )
    crops = st.tuples(percents, percents).map(
        lambda at: CropParams(Region(at[0][0], at[1][0], at[0][1], at[1][1], True))
    )
    factors = st.sampled_from([0.1, 0.4, 0.73, 1.0, 1.3, 2.6])
    scaled = st.tuples(factors, factors, st.sampled_from(FILTERS)).map(
        lambda given: ResizeParams(scale=given[:2], filter=given[2])
    )
    others = st.sampled_from([step for step in BY_ROWS if getattr(step, "meter_region", None) is None])
    steps = data.draw(st.lists(st.one_of(crops, scaled, st.just(FLIP), others), min_size=2, max_size=4))
    shape = 3, data.draw(st.integers(1, 70)), data.draw(st.integers(1, 40))
    x, chain = picture(shape), Chain(*steps)
    rows = data.draw(st.integers(1, 75))
    with notes.to(lambda _text: None):  # where a filter overshoots, light is negative
        found, whole = by_rows(planned, chain, x, rows), as_whole(planned, chain, x)
    np.testing.assert_allclose(found, whole, rtol=1e-4, atol=1e-4)


def test_an_input_that_fits_may_have_a_result_that_does_not(clpix, tmp_path) -> None:
    """A result of 30 MB as floats, on a device that has 8 MB."""
    path = write(tmp_path / "a.png", (40, 50, 3), "uint8")
    for limits in ([], ["--device-memory", "8M"]):
        out = tmp_path / f"{len(limits)}.png"
        run = clpix("resize", path, "--scale", "40", "-o", out, *limits)
        assert run.code == 0, run.err
    np.testing.assert_array_equal(
        files.read(tmp_path / "0.png").pixels, files.read(tmp_path / "2.png").pixels
    )


# Chains, and the part of a picture of 67 × 45 pixels from which values that are not finite spoil their results.
SPOILT: list[tuple[tuple[str, ...], int, tuple[slice, slice]]] = [
    (("crop", "--region", "5,20,30,31", "then", "blur", "--sigma", "2"), 1, np.s_[20:51, 5:35]),
    (("crop", "--region", "5,20,30,31", "then", "blur", "--sigma", "9"), 1, np.s_[20:51, 5:35]),
    (("crop", "--region", "5,20,30,31", "then", "crop", "--region", "1,2,9,7", "then", "blur", "--sigma", "1",
      "--border", "wrap"), 1, np.s_[22:29, 6:15]),
    (("grade", "--exposure", "1", "then", "write", "a.exr", "then", "crop", "--region", "0,3,7,60", "then", "resize",
      "--scale", "0.5"), 1, np.s_[3:63, :7]),
    (("flip", "--axis", "horizontal", "then", "crop", "--region", "0,3,7,60", "then", "blur", "--sigma", "1"), 1,
     np.s_[3:63, 38:]),
    (("flip", "--axis", "both", "then", "crop", "--region", "0,3,7,60", "then", "blur", "--sigma", "1"), 1,
     np.s_[4:64, 38:]),
    (("rotate", "--angle", "90", "then", "crop", "--region", "0,3,7,40", "then", "blur", "--sigma", "1"), 1,
     np.s_[60:, 3:43]),
    (("rotate", "--angle", "270", "then", "crop", "--region", "0,3,7,40", "then", "blur", "--sigma", "1"), 1,
     np.s_[:7, 2:42]),
    (("rotate", "--auto-orient", "then", "crop", "--region", "0,3,7,40", "then", "blur", "--sigma", "1"), 5,
     np.s_[:7, 3:43]),
    (("blur", "--kind", "box", "--radius", "2", "then", "crop", "--region", "0,10,45,20"), 1, np.s_[8:32, :]),
    (("blur", "--kind", "box", "--radius", "2", "then", "write", "a.exr", "then", "crop", "--region", "0,10,45,20"), 1,
     np.s_[:, :]),
    (("blur", "--kind", "box", "--radius", "2", "then", "flip", "--axis", "vertical", "then", "crop", "--region",
      "0,10,45,20"), 1, np.s_[35:59, :]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "orientation", "place"), thinned(SPOILT, 4, arguments=3), ids=str)
def test_only_values_that_are_taken_spoil_it(
    clpix, tmp_path, monkeypatch, rng, command, orientation, place
) -> None:
    """Their number is the same as a whole and by rows: that of the part of the picture."""
    monkeypatch.chdir(tmp_path)
    pixels = rng.random((67, 45, 3)).astype(np.float32)
    pixels[rng.random(pixels.shape) < 0.05] = np.nan
    tags = PIL.Image.Exif()
    tags[0x112] = orientation
    metadata = files.Metadata(exif=tags.tobytes().removeprefix(b"Exif\0\0"))
    files.write("in.tif", files.Picture(pixels, linear=True, metadata=metadata))
    count = np.count_nonzero(np.isnan(pixels[place]))
    assert count > 10
    for rows in (False, True):
        if rows:
            in_blocks(monkeypatch, per_halo=0.3)
        run = clpix(command[0], "in.tif", *command[1:], "-o", "out.exr", "--overwrite")
        found = re.search(r"in\.tif: (\d+) values are NaN or infinite and spoil", run.err)
        assert run.code == 0 and found is not None and int(found[1]) == count, (rows, run.err)


def test_what_is_not_finite_goes_around(clpix, tmp_path, monkeypatch, rng) -> None:
    """It has an effect beyond the other edge, and is counted once."""
    monkeypatch.chdir(tmp_path)
    pixels = rng.random((60, 21, 3), np.float32)
    pixels[1, 3, 0], pixels[58, 15, 2] = np.nan, np.inf
    files.write("a.exr", files.Picture(pixels, linear=True))
    command = "blur", "a.exr", "--sigma", "2", "--border", "wrap", "-o"
    whole = clpix(*command, "whole.exr")
    in_blocks(monkeypatch, per_halo=0.3)
    rows = clpix(*command, "rows.exr")
    assert (
        whole.code == rows.code == 0
        and rows.err == whole.err
        and rows.err.count("2 values are NaN or infinite") == 1
    )
    found = [files.read(name).pixels for name in ("whole.exr", "rows.exr")]
    np.testing.assert_array_equal(*found)
    assert np.isnan(found[1][-1, 3, 0]) and not np.isfinite(found[1][0, 15, 2])


@pytest.mark.parametrize(("height", "halo"), [(1, 7), (5, 5), (9, 4), (13, 40)])
def test_rows_beyond_the_ends_are_numpys(gpu, height, halo) -> None:
    rng = np.random.default_rng(height)
    values = rng.integers(0, 256, (2, height, 3)).astype(np.float32)

    def blocks(wanted: tuple[int, int], rows: int) -> Iterator[Image]:
        for first in range(wanted[0], wanted[1], rows):
            at = slice(first, min(first + rows, wanted[1]))
            image = gpu.array(np.ascontiguousarray(values[:, at]))
            image.part = Part(first, height)
            yield image

    expected = np.pad(values, [(0, 0), (halo, halo), (0, 0)], "wrap")
    for rows in (1, 3, height):
        beyond = Edges(height, halo)
        for part in beyond.parts:
            beyond.fill(blocks(part, rows))
        found = list(beyond.around(blocks((0, height), rows)))
        np.testing.assert_array_equal(np.concatenate([image.numpy() for image in found], 1), expected)
        firsts = np.cumsum([-halo, *(image.shape[1] for image in found)])[:-1]
        assert [image.part for image in found] == [Part(first, height) for first in firsts]
