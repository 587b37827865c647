"""PNG files that are inflated here and whose filters the device undoes, beside other readers and what was written."""

import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import FileError, Gpu, files, notes
from gpuops.files import Picture, oiio
from gpuops.files.formats import png as png_rows
from gpuops.image import Image
from gpuops.pixels.unfilter import undoing, unfiltered

from . import png_filters


@pytest.fixture
def worth_it() -> Iterator[None]:
    """Files of any size are read so."""
    with patch.object(png_rows, "_WORTH", 0):
        yield


@pytest.fixture
def undo(gpu: Gpu) -> png_rows.Undo:
    """What undoes filters on the device under test."""
    found = undoing(gpu)
    if found is None:
        pytest.skip("this device does not undo filters")
    return found


@given(data=st.data())
@pytest.mark.exhaustive
@settings(max_examples=60)
def test_every_filter_of_every_kind_of_pixels(gpu, data) -> None:
    """Any sequence of filters, and sizes from 1 × 1 on."""
    channels, dtype = data.draw(st.integers(1, 4)), np.dtype(data.draw(st.sampled_from(["uint8", "uint16"])))
    height, width = (
        data.draw(st.integers(1, 20)) * data.draw(st.sampled_from([1, 1, 1, 30])),
        data.draw(st.integers(1, 12)) * data.draw(st.sampled_from([1, 1, 15])),
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kinds = rng.choice(data.draw(st.sampled_from([(0, 1, 2, 3, 4), (4,), (3,), (2, 4), (1,)])), height)
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (height, width, channels)).astype(dtype)
    rows = png_filters.filtered(pixels, kinds.tolist())
    found = unfiltered(gpu.array(rows), pixels.shape, dtype)
    assert isinstance(found, Image)
    np.testing.assert_array_equal(found.numpy(), pixels)


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 1), ("uint8", 3), ("uint16", 2), ("uint16", 4)])
def test_files_are_what_others_read(undo, tmp_path, channels, dtype) -> None:
    rng = np.random.default_rng(channels)
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (33, 21, channels)).astype(dtype)
    path = tmp_path / "a.png"
    seen = []
    for parts in (1, 3):
        png_filters.write(path, pixels, rng.integers(0, 5, 33).tolist(), parts)
        with png_rows.undone_by(lambda *given: (seen.append(1), undo(*given))[1]):
            found = files.read(path)
        plain = files.read(path)
        np.testing.assert_array_equal(found.pixels, pixels)
        np.testing.assert_array_equal(plain.pixels, pixels)
        assert found.pixels.dtype == plain.pixels.dtype and found.alpha == plain.alpha
        assert found.pixels.flags.c_contiguous and found.metadata == plain.metadata
    assert len(seen) == 2


@pytest.mark.usefixtures("worth_it")
def test_other_kinds_are_left_to_others(gpu, tmp_path) -> None:
    """Palettes, a bit a value, colour keys, interlacing: they are read as before."""
    gray = np.random.default_rng(0).integers(0, 256, (40, 30), np.uint8)
    picture = PIL.Image.fromarray(gray)
    kinds = {
        "palette": (picture.convert("P"), {}),
        "bit": (picture.convert("1"), {}),
        "key": (picture, {"transparency": 7}),
    }
    for name, (image, options) in kinds.items():
        image.save(tmp_path / f"{name}.png", **options)

    def never(*_given: object) -> np.ndarray:
        raise AssertionError("its filters are not to be undone")

    for name in kinds:
        with png_rows.undone_by(never):
            found = files.read(tmp_path / f"{name}.png")
        np.testing.assert_array_equal(found.pixels, files.read(tmp_path / f"{name}.png").pixels)


@pytest.mark.parametrize("claims", [{"is_cpu": False}, {"lanes": 1}])
def test_devices_that_are_slow_or_end_loops_early_undo_none(gpu, monkeypatch, claims) -> None:
    """GPUs are slow, and compilers that know no vectors are llvmpipe's, which ends a work-item's loops early."""
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, **claims))
    assert undoing(gpu) is None


def test_small_files_are_not_worth_it(undo, tmp_path) -> None:
    seen = []
    for height in (20, 600):
        files.write(tmp_path / f"{height}.png", Picture(np.zeros((height, 200, 3), np.uint8)))
        with png_rows.undone_by(lambda *given: (seen.append(given[1]), undo(*given))[1]):
            files.read(tmp_path / f"{height}.png")
    assert seen == [(600, 200, 3)]


@pytest.mark.parametrize(
    "per", [(11811, 11811, 1), (2835, 5670, 1), (3, 6, 0), (0, 0, 1), (0, 5, 1), (5, 0, 1), None]
)
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 1), ("uint16", 2), ("uint16", 3), ("uint8", 4)])
def test_plain_files_are_what_openimageio_reads(tmp_path, dtype, channels, per) -> None:
    """Pixels, alpha, resolution and what is said, without OpenImageIO being asked."""
    rng = np.random.default_rng(channels)
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (7, 5, channels)).astype(dtype)
    path = tmp_path / "a.png"
    png_filters.write(path, pixels, [2] * 7, 1)
    if per:
        body = b"pHYs" + struct.pack(">IIB", *per)
        chunk = struct.pack(">I", 9) + body + struct.pack(">I", zlib.crc32(body))
        data = path.read_bytes()
        path.write_bytes(data[:33] + chunk + data[33:])  # behind the signature and IHDR
    read, said = [], []
    for way in (
        patch.object(oiio, "Reader", side_effect=AssertionError),
        patch.object(png_rows, "_plain", return_value=None),
    ):
        said.append([])
        with way, notes.to(said[-1].append):
            read.append(files.read(path))
    plain, peer = read
    np.testing.assert_array_equal(plain.pixels, pixels)
    np.testing.assert_array_equal(peer.pixels, pixels)
    assert said[0] == said[1] and replace(plain, pixels=pixels) == replace(peer, pixels=pixels)
    assert bool(plain.metadata.resolution) == (per is not None and per[2] == 1 and per[0] > 0)


@pytest.mark.usefixtures("worth_it")
def test_damage_is_said_in_the_same_words(undo, tmp_path) -> None:
    """Cut off, a filter that there is not, too few or too many rows, a wrong checksum of zlib, no zlib at all."""
    pixels = np.random.default_rng(1).integers(0, 256, (9, 8, 3), np.uint8)
    rows = png_filters.filtered(pixels, [4] * 9).tobytes()
    wrong = bytearray(rows)
    wrong[25] = 9
    contents = {
        "filter": zlib.compress(bytes(wrong)), "few": zlib.compress(rows[:-30]),
        "many": zlib.compress(rows + rows), "sum": zlib.compress(rows)[:-1] + b"\0",
        "cut": zlib.compress(rows)[:-40], "none": b"no zlib", "right": zlib.compress(rows),
    }  # fmt: skip

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    def outcome(path: Path, *, by_rows: bool = False) -> str | bytes:
        try:
            if by_rows:
                strips = files.open_rows(str(path), None, 1, strict=True)
                assert strips is not None
                return np.concatenate([*strips.rows(4)]).tobytes()
            return files.read(path).pixels.tobytes()
        except FileError as error:
            return str(error)

    for name, content in contents.items():
        path = tmp_path / f"{name}.png"
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 9, 8, 2, 0, 0, 0))
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", content) + chunk(b"IEND", b""))
        plain, by_rows = outcome(path), outcome(path, by_rows=True)
        with png_rows.undone_by(undo):
            assert outcome(path) == plain, name
            assert outcome(path, by_rows=True) == by_rows, name
    assert outcome(tmp_path / "right.png") == pixels.tobytes()


def rows_of(path: Path, undo: png_rows.Undo | None, count: int) -> np.ndarray:
    """The pixels of a file that is opened by rows, ``count`` at a time."""
    with png_rows.undone_by(undo):
        strips = files.open_rows(str(path), None, 1, strict=True)
    assert strips is not None
    return np.concatenate([*strips.rows(count)])


@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 3), ("uint16", 2)])
def test_rows_have_their_filters_undone(undo, tmp_path, channels, dtype) -> None:
    """Some at a time, of which the first ones depend on the last ones of those before."""
    rng = np.random.default_rng(channels)
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (33, 21, channels)).astype(dtype)
    path, seen = tmp_path / "a.png", []
    for count in (1, 7, 33, 50):
        png_filters.write(path, pixels, [4, *rng.integers(0, 5, 32).tolist()], 3)
        found = rows_of(path, lambda *given: (seen.append(1), undo(*given))[1], count)
        np.testing.assert_array_equal(found, pixels)
        assert found.dtype == dtype and len(seen) == -(-33 // count)
        seen.clear()


def test_rows_of_other_kinds_are_left_to_others(tmp_path) -> None:
    """Palettes and colour keys; and from some row on those that a device that comes late does not undo."""
    gray = np.random.default_rng(0).integers(0, 256, (40, 30), np.uint8)
    picture, path = PIL.Image.fromarray(gray), tmp_path / "a.png"

    def never(*_given: object) -> np.ndarray:
        raise AssertionError("its filters are not to be undone")

    for image, options in ((picture.convert("P"), {}), (picture, {"transparency": 7})):
        image.save(path, **options)
        np.testing.assert_array_equal(rows_of(path, never, 9), files.read(path).pixels)
    picture.save(path)
    later = png_rows.DeferredUnfilter()
    later.give(None)
    np.testing.assert_array_equal(rows_of(path, later, 9)[:, :, 0], gray)


def test_strips_are_the_same_however_rows_come(tmp_path, monkeypatch, rng) -> None:
    """Strips of five rows, of which a few, or many, or none, come at a time."""
    monkeypatch.setattr("gpuops.files.png._STRIP_BYTES", 5 * 30 * 3)
    pixels = np.cumsum(rng.integers(0, 3, (47, 30, 3)), axis=1).astype(np.uint8)
    picture, path = Picture(pixels), tmp_path / "a.png"
    files.write(path, picture)
    whole = path.read_bytes()
    assert whole.count(b"IDAT") == 11  # ten strips, and the checksum
    for heights in ([1] * 47, [2, 45], [5, 5, 37], [3, 1, 1, 12, 30], [13, 0, 34], [46, 1]):
        ends = np.cumsum(heights)[:-1].tolist()
        with files.writing(path, picture, overwrite=True) as put:
            for rows in np.split(pixels, ends):
                if len(rows):
                    put(rows)
        assert path.read_bytes() == whole, heights


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize("there", [True, False])
def test_threads_wait_for_a_device(undo, tmp_path, there) -> None:
    """A file is inflated before there is a device; without one it is left to others."""
    pixels = np.random.default_rng(1).integers(0, 256, (33, 21, 3)).astype(np.uint8)
    path, asked = tmp_path / "a.png", Event()
    png_filters.write(path, pixels, [4] * 33)
    later, calls = png_rows.DeferredUnfilter(asked.set), []

    def counted(*args: Any) -> Any:
        calls.append(args)
        return undo(*args)

    def read() -> Picture:
        with png_rows.undone_by(later):
            return files.read(path)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(read)
        assert asked.wait(60) and later.awaited and not future.done()
        later.give(counted if there else None)
        np.testing.assert_array_equal(future.result().pixels, pixels)
    assert later.refused is not there
    np.testing.assert_array_equal(read().pixels, pixels)  # it waits no more
    assert len(calls) == 2 * there
