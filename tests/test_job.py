"""Jobs: the library reads, works and writes without a command line."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from gpuops.batch.job import Job, Options, run_job
from gpuops.chain import Chain
from gpuops.errors import FileError, ParameterError
from gpuops.files import Picture, read, write
from gpuops.ops.blur import BlurParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.write import WriteParams


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture of 16 bits with alpha, in which colours under alpha 0 differ."""
    pixels = np.random.default_rng(3).integers(0, 65536, (9, 7, 4)).astype(np.uint16)
    pixels[2:4, :, 3] = 0
    path = tmp_path / "in.png"
    write(path, Picture(pixels, alpha=True))
    return path


def test_a_job_can_be_sent_to_another_process(picture) -> None:
    job = Job(str(picture), Chain(BlurParams((1, 1))), "out.png", options=Options(dtype="uint8"))
    assert pickle.loads(pickle.dumps(job)) == job


def test_a_chain_writes_on_the_way_and_at_its_end(gpu, picture, tmp_path) -> None:
    first, last = tmp_path / "first.png", tmp_path / "last.png"
    chain = Chain(FlipParams("horizontal"), WriteParams("first.png"), FlipParams("vertical"))
    run_job(gpu, Job(str(picture), chain, str(last), (str(first),)))
    pixels = read(picture).pixels
    np.testing.assert_array_equal(read(first).pixels, pixels[:, ::-1])
    np.testing.assert_array_equal(read(last).pixels, pixels[::-1, ::-1])


def test_options_say_how_files_are_read_and_written(gpu, picture, tmp_path) -> None:
    out = tmp_path / "out.png"
    job = Job(
        str(picture), Chain(FlipParams("vertical")), str(out), options=Options(alpha=False, dtype="uint8")
    )
    run_job(gpu, job)
    found = read(out).pixels
    assert found.dtype == np.uint8
    np.testing.assert_allclose(found, read(picture).pixels[::-1, :, :3] / 257, atol=0.5001)
    with pytest.raises(FileError, match="exists already"):
        run_job(gpu, job)
    run_job(gpu, Job(job.source, job.work, job.target, options=Options(overwrite=True)))
    assert read(out).pixels.shape == (9, 7, 4)


def test_work_that_is_no_chain_tells_what_it_found(gpu, picture, tmp_path) -> None:
    from gpuops.batch.coefficients import Approximation, OfCoefficients, ToCoefficients
    from gpuops.params.dwt import DwtParams, KeepParams

    there, back = str(tmp_path / "there.npz"), str(tmp_path / "back.png")
    work = ToCoefficients(DwtParams("haar", "periodization", 1), keeping=KeepParams(100.0))
    told = run_job(gpu, Job(str(picture), work, there))
    assert isinstance(told, Approximation) and told.kept.kept <= told.kept.coefficients and told.psnr > 100
    run_job(gpu, Job(there, OfCoefficients(), back))
    np.testing.assert_allclose(read(back).pixels.astype(int), read(picture).pixels, atol=1)


def test_paths_go_with_the_steps_that_write() -> None:
    chain = Chain(WriteParams("a.png"), FlipParams("vertical"))
    with pytest.raises(ParameterError, match="1 steps write on the way, and there are 0"):
        Job("in.png", chain, "out.png")
    with pytest.raises(ParameterError, match="same path"):
        Job("in.png", chain, "out.png", ("out.png",))
