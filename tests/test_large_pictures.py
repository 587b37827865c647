"""Large pictures go by rows though there is room for them, where their steps take rows once; files stay the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuops import Gpu, Report, files
from gpuops.batch.chains import ChainRows
from gpuops.batch.job import Job, Options, run_job
from gpuops.chain import Chain
from gpuops.files import Picture
from gpuops.filters.blur import blur_pixels
from gpuops.image import Part
from gpuops.operation import Params
from gpuops.ops.blur import BlurParams
from gpuops.ops.convolve import ConvolveParams
from gpuops.ops.crop import CropParams
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.resize import ResizeParams
from gpuops.ops.rotate import RotateParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.notations import Region
from gpuops.pixels.coding import Decoding, Encoding, Losses, losses
from gpuops.plan import plan
from gpuops.rows.blocks import block_bytes, row_bytes
from gpuops.rows.schedule import RowSchedule

# Chains that go by rows, and chains that need all rows, or do much of their work again for each block.
BY_ROWS = (
    Chain(BlurParams((1.5, 1.5))),
    Chain(BlurParams(kind="median", radius=(1, 1))),
    Chain(GradeParams(exposure=1.5)),
    Chain(BlurParams((1.0, 1.0)), GradeParams(exposure=0.2), SharpenParams()),
    Chain(ResizeParams(scale=(0.5, 0.5))),
    Chain(TonemapParams("agx", exposure=0.0)),
)
WHOLE = (
    Chain(RotateParams(angle=90.0)),
    Chain(FlipParams("vertical")),
    Chain(TonemapParams("agx")),
    Chain(GradeParams(), BlurParams((1.5, 1.5), border="wrap")),
    Chain(BlurParams((60.0, 60.0))),
    Chain(BlurParams(kind="disc", radius=(3.0, 3.0))),
    Chain(DeconvolveParams("richardson-lucy", sigma=0.6, iterations=2)),
)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pictures are large, and blocks have a few rows."""
    monkeypatch.setattr("gpuops.batch.access.LARGE", 1 << 12)
    monkeypatch.setattr("gpuops.rows.blocks.ENOUGH", 1 << 14)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each picture was worked on as a whole."""
    seen: list[bool] = []
    to = ChainRows.to

    def noted(self: ChainRows, goals: list) -> ChainRows:
        seen.append(self.whole)
        return to(self, goals)

    monkeypatch.setattr(ChainRows, "to", noted)
    return seen


def saved(folder: Path, kind: str) -> Path:
    """A picture of a file's usual type; light goes beyond white."""
    values = np.random.default_rng(3).random((400, 61, 3))
    values = (values + np.roll(values, 1, axis=0) + np.roll(values, 1, axis=1)) / 3
    path = folder / f"in.{kind}"
    pixels = (3 * values).astype(np.float16) if kind == "exr" else (255 * values).astype(np.uint8)
    files.write(path, Picture(pixels, linear=kind == "exr"))
    return path


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    "kinds", [("png", "png"), ("exr", "png"), ("jpg", "tif"), ("exr", "exr"), ("png", "jpg")]
)
@pytest.mark.parametrize("chain", BY_ROWS)
def test_files_and_notes_are_those_of_the_whole(
    clpix, tmp_path, monkeypatch, request, ways, kinds, chain
) -> None:
    path, recipe = saved(tmp_path, kinds[0]), tmp_path / "r.toml"
    recipe.write_text(chain.to_toml())
    whole, rows = tmp_path / f"whole.{kinds[1]}", tmp_path / f"rows.{kinds[1]}"
    first = clpix("run", recipe, path, "-o", whole)
    request.getfixturevalue("large")
    second = clpix("run", recipe, path, "-o", rows)
    assert first.code == second.code == 0 and ways == [True, False]
    assert whole.read_bytes() == rows.read_bytes()
    assert first.err.replace("whole", "rows") == second.err


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("chain", WHOLE)
def test_what_needs_all_rows_comes_as_a_whole(gpu, tmp_path, ways, chain) -> None:
    run_job(gpu, Job(str(saved(tmp_path, "exr")), chain, str(tmp_path / "out.exr")))
    assert ways == [True]


@pytest.mark.usefixtures("large")
def test_the_device_has_few_blocks(tmp_path) -> None:
    path = tmp_path / "in.png"
    files.write(path, Picture(np.zeros((4000, 61, 3), np.uint8)))
    report = Report()
    with Gpu(report=report) as gpu:
        run_job(gpu, Job(str(path), Chain(BlurParams((1.5, 1.5))), str(tmp_path / "out.png")))
    assert 0 < report.peak_device_bytes < 100_000  # and the picture has 732,000


@pytest.mark.usefixtures("large")
def test_small_pictures_and_repeated_work_come_as_a_whole(gpu, tmp_path, ways) -> None:
    path, chain = saved(tmp_path, "png"), BY_ROWS[0]
    small = tmp_path / "small.png"
    files.write(small, Picture(np.zeros((30, 40, 3), np.uint8)))
    for source, options in ((small, Options()), (path, Options(repeat=2)), (path, Options(memory=1 << 30))):
        run_job(
            gpu, Job(str(source), chain, str(tmp_path / "out.png"), options=replace(options, overwrite=True))
        )
    assert ways == [True] * 3


@pytest.mark.usefixtures("large")
def test_several_pictures_come_as_a_whole(clpix, tmp_path, ways) -> None:
    """While the device works on one, others are read and written."""
    paths = [saved(tmp_path, kind) for kind in ("png", "tif")]
    assert clpix("blur", *paths, "--sigma", 1, "-o", f"{tmp_path}/out/", "--jobs", 1).code == 0
    assert ways == [True] * 2


def steps_of(gpu: Gpu, chain: Chain, shape: tuple[int, int, int]) -> RowSchedule:
    return RowSchedule.of(gpu, plan(chain), shape)


@pytest.mark.parametrize(
    ("params", "once"),
    [
        (BlurParams((3.0, 3.0)), True),
        (BlurParams((30.0, 30.0)), False),  # its halo is a tenth of the picture
        (BlurParams(kind="median", radius=(2, 2)), True),
        (BlurParams(kind="median", radius=(15, 15)), False),  # 30 rows of 682 are done again
        (BlurParams((9.0, 9.0), kind="bilateral", sigma_color=0.2), False),
        (CropParams(Region(100, 100, 2000, 2000)), True),
        (RotateParams(angle=90.0), False),
    ],
)
def test_which_steps_go_by_rows(gpu, params, once) -> None:
    """Of a picture of 4096 × 4096: the records tell it, and no time is measured."""
    assert steps_of(gpu, Chain(params), (3, 4096, 4096)).takes_rows_once is once


def test_blocks_of_a_large_picture(gpu) -> None:
    """They take 16 MB of planes; more where much of the work is done again, so that it is a thirty-second at most."""

    def nbytes(params: Params, side: int) -> int:
        return block_bytes(gpu, steps_of(gpu, Chain(params), (3, side, side)).stages())

    assert nbytes(BlurParams((3.0, 3.0)), 4096) == nbytes(GradeParams(exposure=1.0), 10000) == 1 << 24
    median = BlurParams(kind="median", radius=(8, 8))
    assert nbytes(median, 4096) == 16 * 32 * row_bytes((3, 4096, 4096))


def test_what_a_device_is_not_needed_for() -> None:
    """Without one it is known that a chain needs all rows, which are then read while the device is opened."""
    assert all(chain.takes_rows_once for chain in BY_ROWS)
    assert not any(chain.takes_rows_once for chain in WHOLE[:3])
    assert Chain(ConvolveParams("k.png")).takes_rows_once  # what its kernel is, is known later


# Ways in which rows of pixels are blurred: one kernel, coarse grids, codes, planes.
BLURS = (
    BlurParams((1.2, 0.7)),
    BlurParams((7.0, 9.0)),
    BlurParams(kind="box", radius=(3, 2), method="direct"),
    BlurParams(kind="median", radius=(2, 1)),
    BlurParams((1.5, 1.5), kind="bilateral", sigma_color=0.3),
)


@pytest.mark.cases(5)
@pytest.mark.parametrize("dtype", ["uint8", "float16"])
@pytest.mark.parametrize("params", BLURS)
def test_rows_of_blurred_pixels(gpu, rng, params, dtype) -> None:
    """They are those of the whole, and so are the values that do not fit: the rows around them do not count."""
    from gpuops.ops.blur import OPERATION

    values = rng.random((300, 61, 3))
    pixels = (values * (255 if dtype == "uint8" else 3)).astype(dtype)
    decoding = Decoding(linearise=dtype == "uint8")
    encoding = Encoding(np.dtype(np.uint8), encode=True)
    whole, _ = blur_pixels(gpu, gpu.array(pixels), params, decoding, encoding)
    halo = int(OPERATION.reach_of(gpu, (3, 300, 61), params).rows)
    lost = Losses()
    for first, end in ((0, 130), (130, 131), (131, 300)):
        start, stop = max(first - halo, 0), min(end + halo, 300)
        part = gpu.array(np.ascontiguousarray(pixels[start:stop]))
        part.part = Part(start, 300)
        made, counted = blur_pixels(gpu, part, params, decoding, encoding, (first, end))
        np.testing.assert_array_equal(made.numpy(), whole.numpy()[first:end])
        lost = Losses(*(np.add(lost, losses(counted)).tolist()))
    _, counted = blur_pixels(gpu, gpu.array(pixels), params, decoding, encoding)
    assert lost == losses(counted) and (dtype == "uint8" or lost.clipped > 0)
