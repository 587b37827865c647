"""Pictures by rows where rows of the result are others than the input's: resize, crop, flip, and files on the way.

References are arrays that are cut and mirrored, and matrices of weights in double precision.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuops import Gpu, files, notes
from gpuops.chain import Chain
from gpuops.image import Image, Part
from gpuops.operation import Params
from gpuops.ops.blur import BlurParams
from gpuops.ops.crop import CropParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.resize import ResizeParams
from gpuops.ops.rotate import RotateParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.write import WriteParams
from gpuops.params.region import Region
from gpuops.plan import plan
from gpuops.tiles import course, flow
from gpuops.tiles.window import PLANES, windows

from . import tolerance
from .conftest import Run
from .test_resize import reference
from .test_streaming import BY_ROWS, KINDS, as_whole, blocks, by_rows, picture, write

Array = npt.NDArray[Any]

FILTERS = ("lanczos3", "mitchell", "catmull-rom", "area", "nearest")
# Sizes up and down by numbers that are not whole, one axis alone, tiny results, and parts of what is left and right.
RESIZES: list[ResizeParams] = [
    *(ResizeParams(scale=(0.37, 0.41), filter=filter) for filter in FILTERS),
    *(ResizeParams(scale=(2.3, 1.7), filter=filter) for filter in FILTERS),
    ResizeParams(scale=(0.2, 3.0)),
    ResizeParams(scale=(3.1, 0.1)),
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
    CropParams(Region(3, 5, 17, 20)),
    CropParams(Region(0, 0, 31, 1)),
    CropParams(Region(30, 52, 1, 1)),
    CropParams(Region(0, 20, 31, 33)),
    CropParams(Region(10, 0, 5, 53)),
    CropParams(Region(0, 0, 100, 100, True)),
    CropParams(Region(25, 30, 50, 40, True)),
]
FLIP = FlipParams("horizontal")


def with_alpha(shape: tuple[int, int, int]) -> Array:
    x = picture(shape)
    if shape[0] in (2, 4):
        x[-1] = np.clip(x[-1] / 2, 0, 1)
    return x


@pytest.mark.parametrize("step", [*RESIZES, *CROPS, FLIP], ids=str)
@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_any_blocks_give_the_bits_of_the_whole(planned: Gpu, step: Params, planes: int) -> None:
    """Blocks of one row, of fewer rows than are needed at a time, of a prime number, and all rows."""
    alpha, x = planes in (2, 4), with_alpha((planes, 53, 31))
    whole = as_whole(planned, Chain(step), x, alpha=alpha)
    for rows in (1, 7, 23, 53):
        np.testing.assert_array_equal(by_rows(planned, Chain(step), x, rows, alpha=alpha), whole)


@pytest.mark.parametrize("shape", [(1, 1), (1, 37), (41, 1), (127, 113), (301, 2)])
@pytest.mark.parametrize("scale", [(0.013, 0.011), (0.3, 0.77), (1.9, 7.1)])
@pytest.mark.parametrize("filter", FILTERS)
def test_sizes_against_matrices(
    planned: Gpu, shape: tuple[int, int], scale: tuple[float, float], filter: str
) -> None:
    x, params = picture((2, *shape)), ResizeParams(scale=scale, filter=filter)
    expected = reference(x.astype(float), 2, params)
    found = by_rows(planned, Chain(params), x, max(1, shape[0] // 3))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance.RESIZE * max(1, np.abs(expected).max())


def test_rows_that_are_not_needed_are_not_worked_on(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crop asks the steps before it for its rows and their neighbours, and for none below those."""
    taken = []

    def counted(x: Array) -> Iterator[Image]:
        for block in blocks(gpu, x, 4):
            taken.append(block.part)
            yield block

    x = picture((3, 400, 20))
    chain = Chain(BlurParams((1.0, 1.0)), CropParams(Region(0, 100, 20, 50)))
    todo, shape = plan(chain), (3, 400, 20)
    first, end = course.course(gpu, todo, shape)[0].needed
    assert 90 <= first <= 97 and first + end == 250
    found = [rows for rows in flow.flow(gpu, todo, counted(x), None, shape) if isinstance(rows, Image)]
    assert found[0].part == (0, 50) and taken[-1] == Part((end - 1) // 4 * 4, 400)
    np.testing.assert_array_equal(
        np.concatenate([rows.numpy() for rows in found], 1), as_whole(gpu, chain, x)
    )


@pytest.mark.parametrize("first", [3, 8, 13])
def test_a_crop_of_what_was_resized(planned: Gpu, first: int) -> None:
    """Only needed rows are there: sums that are grouped begin where those of the whole do."""
    x, shape = picture((3, 300, 20)), (3, 300, 20)
    shrunk, crop = ResizeParams(scale=(0.9, 0.13)), CropParams(Region(1, first, 15, 9))
    chain = Chain(BlurParams((1.0, 1.0)), shrunk, crop)
    todo = plan(chain)
    low, high = course.course(planned, todo, shape)[0].needed
    assert low > 0 or first < 8
    given = (block for block in blocks(planned, x, 5) if block.part and low - 5 < block.part.first < high)
    found = [rows.numpy() for rows in flow.flow(planned, todo, given, None, shape) if isinstance(rows, Image)]
    np.testing.assert_allclose(np.concatenate(found, 1), as_whole(planned, chain, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("small", [False, True])
def test_large_results_come_in_pieces(planned: Gpu, small: bool) -> None:
    """A row of the input that becomes many of the result: these are made so many bytes at a time."""
    x, chain = picture((3, 9, 11)), Chain(ResizeParams(scale=(13.0, 17.0)), SharpenParams(2.0, 0.5))
    at_once = 1 if small else 10 * course.row_bytes((3, 153, 143))
    shape = 3, 9, 11
    found = [
        image.numpy()
        for image in flow.flow(planned, plan(chain), blocks(planned, x, 2), None, shape, at_once=at_once)
        if isinstance(image, Image)
    ]
    assert max(rows.shape[1] for rows in found) <= 24
    np.testing.assert_allclose(np.concatenate(found, 1), as_whole(planned, chain, x), rtol=1e-6, atol=1e-6)


def test_windows_of_rows_that_lie_apart(gpu: Gpu) -> None:
    """Rows of the input that no row of the result needs are dropped; those that several need are kept."""

    def needs(first: int, end: int) -> tuple[int, int]:
        return 10 * first, 10 * (end - 1) + 3

    x = np.arange(100, dtype=np.float32)[None, :, None]
    seen: list[int] = []
    for rows, first, end in windows(blocks(gpu, x, 2), needs, (2, 7), 100, PLANES):
        assert rows.part is not None and rows.shape[1] <= 4
        values = rows.numpy()[0, :, 0]
        assert values[0] == rows.part.first
        assert rows.part.first <= needs(first, end)[0] and values[-1] >= needs(first, end)[1] - 1
        seen += range(first, end)
    assert seen == [2, 3, 4, 5, 6]


def test_a_window_of_too_many_rows_is_made_narrower_first(opened: Callable[..., Gpu]) -> None:
    """A thumbnail's row needs many rows of the picture, which do not all find room; those of its width do."""
    x, step = picture((3, 2000, 700)), ResizeParams((6, 9), fit="stretch")
    with_room, without = opened(), opened(memory=4 << 20)
    whole = as_whole(with_room, Chain(step), x)
    shape = 3, 2000, 700
    stretches = course.course(without, plan(Chain(step)), shape)
    rows = course.block_bytes(without, stretches) // course.row_bytes(shape)
    assert [one.shape for one in (stretches[0].one, stretches[1].one) if one] == [(3, 2000, 6), (3, 9, 6)]
    found = by_rows(without, Chain(step), x, rows)
    np.testing.assert_allclose(found, whole, rtol=tolerance.ROUNDINGS, atol=tolerance.ROUNDINGS)


def test_who_needs_the_whole_says_so(gpu: Gpu) -> None:
    for step, words in (
        (FlipParams("vertical"), None),  # a turn: see test_turned_by_rows.py
        (RotateParams(90), None),
        (RotateParams(5), "rotate"),
    ):
        assert course.obstacle(gpu, plan(Chain(ResizeParams((20, 20)), step)), (3, 40, 40)) == words


@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chains_by_rows(planned: Gpu, data: st.DataObject) -> None:
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


def test_what_is_seen_on_the_way_is_all_of_it(gpu: Gpu) -> None:
    """A step that writes gets all rows, of which crops after it want only some."""
    x = picture((3, 60, 20))
    half, part = ResizeParams(scale=(0.5, 0.5)), CropParams(Region(2, 3, 4, 5))
    chain = Chain(half, WriteParams("a"), part, WriteParams("b"), CropParams(Region(1, 1, 2, 2)))
    seen: dict[str, list[Array]] = {"a": [], "b": []}

    def take(params: Params, image: Image) -> None:
        if isinstance(params, WriteParams):
            seen[params.output].append(image.numpy().copy())

    for rows in (1, 7, 60):
        for of_one in seen.values():
            of_one.clear()
        for _ in flow.flow(gpu, plan(chain), blocks(gpu, x, rows), None, (3, 60, 20), seen=take):
            pass
        np.testing.assert_array_equal(np.concatenate(seen["a"], 1), as_whole(gpu, Chain(half), x))
        np.testing.assert_array_equal(np.concatenate(seen["b"], 1), as_whole(gpu, Chain(half, part), x))


# -- commands --------------------------------------------------------------------------------------------------------

COMMANDS = [
    ("resize", "--scale", "0.43"),
    ("resize", "--size", "100x90", "--fit", "stretch", "--filter", "mitchell"),
    ("crop", "--region", "5,20,30,31"),
    ("flip", "--axis", "horizontal"),
    ("blur", "--sigma", "2", "then", "resize", "--scale", "0.3", "then", "tonemap", "--operator", "agx"),
    ("crop", "--region", "10%,10%,50%,80%", "then", "resize", "--scale", "1.7", "then", "sharpen"),
]


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every picture one that goes by rows, in small blocks."""

    def set_() -> None:
        monkeypatch.setattr("gpuops.batch.streaming.is_too_large", lambda *_: True)
        monkeypatch.setattr("gpuops.tiles.course._ENOUGH", 1 << 12)
        monkeypatch.setattr("gpuops.tiles.course._PER_HALO", 0.3)

    return set_


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_by_rows_give_the_same_files(
    clpix: Callable[..., Run],
    tmp_path: Path,
    in_blocks: Callable[[], None],
    command: tuple[str, ...],
    kind: tuple[str, str, int],
) -> None:
    name, dtype, channels = kind
    suffix = (".png", ".tif", ".exr")[(KINDS.index(kind) + COMMANDS.index(command)) % 3]
    path = write(tmp_path / name, (67, 45, channels), dtype)
    whole, parts = (tmp_path / f"{way}{suffix}" for way in ("whole", "parts"))
    first = clpix(command[0], path, *command[1:], "-o", whole)
    in_blocks()
    second = clpix(command[0], path, *command[1:], "-o", parts)
    assert first.code == second.code == 0, second.err
    assert first.err.replace("whole", "parts") == second.err
    a, b = files.read(whole), files.read(parts)
    assert a.metadata == b.metadata and a.pixels.shape == b.pixels.shape
    error = np.abs(a.pixels.astype(float) - b.pixels.astype(float))
    assert error.max() <= {"uint8": 1, "uint16": 2, "float16": 2e-3, "float32": 1e-5}[a.pixels.dtype.name]
    assert a.pixels.dtype.kind != "u" or np.count_nonzero(error) <= 1e-3 * error.size


@pytest.mark.parametrize("suffix", [".png", ".tif", ".exr", ".jpg"])
def test_what_is_written_on_the_way(
    clpix: Callable[..., Run], tmp_path: Path, in_blocks: Callable[[], None], suffix: str
) -> None:
    """Two files on the way, before and after a step that leaves rows out, are those of the whole."""
    path = write(tmp_path / "in.exr", (67, 45, 3), "float16")

    def run(way: str) -> tuple[Run, list[Array]]:
        folder = tmp_path / way
        folder.mkdir()
        names = [folder / f"{name}{suffix}" for name in "abc"]
        command = [
            "blur",
            path,
            "--sigma",
            2,
            "then",
            "write",
            names[0],
            "then",
            "crop",
            "--region",
            "3,20,30,40",
        ]
        command += [
            "then",
            "resize",
            "--scale",
            0.7,
            "then",
            "write",
            names[1],
            "then",
            "tonemap",
            "-o",
            names[2],
        ]
        return clpix(*command), [files.read(name).pixels for name in names]

    first, whole = run("whole")
    in_blocks()
    second, parts = run("parts")
    assert first.code == second.code == 0
    said = [
        sorted(line.rpartition("/")[2] for line in run.err.splitlines())  # by the file that is written
        for run in (first, second)
    ]
    assert said[0] == said[1]
    for a, b in zip(whole, parts, strict=True):
        assert a.shape == b.shape
        exact = a.dtype.kind == "u" and suffix != ".jpg"
        np.testing.assert_allclose(a.astype(float), b, atol=1 if exact else 2 if suffix == ".jpg" else 2e-3)


def test_a_failure_leaves_no_file_on_the_way(
    clpix: Callable[..., Run], tmp_path: Path, in_blocks: Callable[[], None]
) -> None:
    path = write(tmp_path / "a.exr", (400, 300, 3), "float16")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(1000) + content[len(content) // 2 + 1000 :])
    in_blocks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpuops.batch.access.of_machine", lambda: 0)
        run = clpix("blur", path, "--sigma", 2, "then", "write", tmp_path / "b.exr", "then", "flip", "--axis",
                    "horizontal", "-o", tmp_path / "c.png")  # fmt: skip
    assert run.code == 1 and "damaged" in run.err and os.listdir(tmp_path) == ["a.exr"]


@pytest.mark.parametrize("fuse", ["--fuse", "--no-fuse"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_device_of_little_memory_is_enough(
    clpix: Callable[..., Run], tmp_path: Path, command: tuple[str, ...], fuse: str
) -> None:
    """The pool counts what is in use, and refuses more. Files of floats take the most."""
    path = write(tmp_path / "a.exr", (300, 200, 4), "float32")
    for size in ("1M", "2M", "3M", "5M"):
        run = clpix(
            command[0], path, *command[1:], "-o", tmp_path / "b.png", "--overwrite", fuse, "--device-memory", size
        )  # fmt: skip
        assert run.code == 0, (size, run.err)


def test_an_input_that_fits_may_have_a_result_that_does_not(
    clpix: Callable[..., Run], tmp_path: Path
) -> None:
    """A result of 30 MB as floats, on a device that has 8 MB."""
    path = write(tmp_path / "a.png", (40, 50, 3), "uint8")
    for limits in ([], ["--device-memory", "8M"]):
        out = tmp_path / f"{len(limits)}.png"
        run = clpix("resize", path, "--scale", "40", "-o", out, *limits)
        assert run.code == 0, run.err
    np.testing.assert_array_equal(
        files.read(tmp_path / "0.png").pixels, files.read(tmp_path / "2.png").pixels
    )


def test_what_is_refused(clpix: Callable[..., Run], tmp_path: Path) -> None:
    """A region outside of the picture, too little memory for a row, and steps that need the last rows first."""
    path = tmp_path / "a.tif"
    files.write(path, files.Picture(np.zeros((4000, 5000, 3), np.uint8)))
    limit = ("--memory", "170M")
    for command, said in (
        (("crop", path, "--region", "0,0,5000,4001", *limit), "is not inside the image of 5000 × 4000"),
        (("resize", path, "--scale", "0.5", "--memory", "20M"), "needs .* MB of memory"),
        (("resize", path, "--scale", "0.5", "--device-memory", "100K"), "raise the limit"),
        (("resize", path, "--size", "1e", *limit), "1920x"),
        (("rotate", path, "--angle", "5", *limit), "rotate needs the whole"),
    ):
        run = clpix(*command, "-o", tmp_path / "b.png")
        assert run.code in (1, 2) and len(run.err.splitlines()) == 1, run.err
        assert re.search(said, run.err), run.err
    assert os.listdir(tmp_path) == ["a.tif"]


# Chains, and the part of a picture of 67 × 45 pixels from which values that are not finite spoil their results.
SPOILT: list[tuple[tuple[str, ...], int, tuple[slice, slice]]] = [
    (("crop", "--region", "5,20,30,31", "then", "blur", "--sigma", "2"), 1, np.s_[20:51, 5:35]),
    (("crop", "--region", "5,20,30,31", "then", "blur", "--sigma", "2", "--method", "recursive"), 1,
     np.s_[20:51, 5:35]),
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


@pytest.mark.parametrize(("command", "orientation", "place"), SPOILT, ids=lambda value: str(value))
def test_only_values_that_the_result_takes_spoil_it(
    clpix: Callable[..., Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
    in_blocks: Callable[[], None],
    command: tuple[str, ...],
    orientation: int,
    place: tuple[slice, slice],
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
            in_blocks()
        run = clpix(command[0], "in.tif", *command[1:], "-o", "out.exr", "--overwrite")
        found = re.search(r"in\.tif: (\d+) values are NaN or infinite and spoil", run.err)
        assert run.code == 0 and found is not None and int(found[1]) == count, (rows, run.err)
