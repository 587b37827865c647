"""Files of numbers by rows: the same bytes as whole arrays give, and the same arrays back."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import FileError, files
from gpuops.files.data_rows import RowsOfArray

from .choices import each

EXTENSIONS = ("npz", "exr", "tif")


def arrays(dtype: str, shape: tuple[int, ...] = (3, 29, 17)) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    values = rng.standard_normal((2, *shape))
    if dtype.startswith("complex"):
        return {"spectrum": (values[0] + 1j * values[1]).astype(dtype)}
    return {"real": values[0].astype(dtype), "imag part": values[1].astype(dtype)}


@each(extension=EXTENSIONS, dtype=["complex64", "complex128", "float16", "float32"], count=[1, 7, 100])
def test_rows_give_the_same_file(tmp_path, extension, dtype, count) -> None:
    if (extension, dtype) == ("exr", "complex128"):
        pytest.skip("EXR holds no double precision")
    content, attributes = arrays(dtype), {"a": [1, 2], "b": None}
    whole, parts = tmp_path / f"whole.{extension}", tmp_path / f"parts.{extension}"
    files.write_data(whole, content, attributes)
    rows = {name: RowsOfArray.of(array) for name, array in content.items()}
    files.write_data_rows(parts, rows, attributes, count)
    assert without_dates(whole) == without_dates(parts)
    for path in (whole, parts):
        opened, found = files.open_data(path)
        assert found == attributes and list(opened) == list(content)
        for name, array in content.items():
            assert (opened[name].shape, opened[name].dtype) == (array.shape, array.dtype)
            np.testing.assert_array_equal(opened[name].whole(count), array)
            assert max(map(len, opened[name].blocks(count))) <= count


def without_dates(path: Path) -> bytes:
    """A file's bytes; in the headers of an archive's members the time may differ."""
    content = bytearray(path.read_bytes())
    if path.suffix == ".npz":
        for signature, at in ((b"PK\3\4", 10), (b"PK\1\2", 12)):
            start = content.find(signature)
            while start >= 0:
                content[start + at : start + at + 4] = bytes(4)
                start = content.find(signature, start + 1)
    return bytes(content)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_one_plane_has_two_axes(tmp_path, extension) -> None:
    content = {"y": np.arange(35, dtype=np.float32).reshape(5, 7)}
    path = tmp_path / f"a.{extension}"
    files.write_data_rows(path, {"y": RowsOfArray.of(content["y"])}, {}, 2)
    back, _ = files.read_data(path)
    np.testing.assert_array_equal(back["y"], content["y"])
    np.testing.assert_array_equal(files.open_data(path)[0]["y"].whole(3), content["y"])


def test_arrays_of_other_programs(tmp_path) -> None:
    """Compressed, of the other byte order, by columns: what numpy may make of an archive that a person has changed."""
    content = arrays("complex64")
    files.write_data(tmp_path / "a.npz", content, {})
    with np.load(tmp_path / "a.npz") as file:
        members = {name: file[name] for name in file.files}
    np.savez_compressed(tmp_path / "b.npz", **members)
    members["spectrum"] = np.asfortranarray(members["spectrum"])
    np.savez(tmp_path / "c.npz", **members)
    for name in ("b", "c"):
        opened, _ = files.open_data(tmp_path / f"{name}.npz")
        np.testing.assert_array_equal(opened["spectrum"].whole(5), content["spectrum"])


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_damage_is_said(tmp_path, extension) -> None:
    path = tmp_path / f"a.{extension}"
    files.write_data(path, arrays("complex64", (1, 200, 100)), {})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=f"a.{extension}"):
        files.open_data(path)[0]["spectrum"].whole(10)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_arrays_of_another_kind_are_refused(tmp_path, extension) -> None:
    """The description says another shape than the file has."""
    path, other = tmp_path / f"a.{extension}", tmp_path / f"b.{extension}"
    files.write_data(path, arrays("complex64", (1, 20, 10)), {})
    files.write_data(other, arrays("complex64", (1, 10, 20)), {})
    with pytest.MonkeyPatch.context() as patch:
        texts = {"[1, 20, 10]": "[1, 10, 20]"}
        dumps = files.data.json.dumps  # type: ignore[attr-defined]
        patch.setattr(
            "gpuops.files.data.json.dumps", lambda value: dumps(value).replace(*next(iter(texts.items())))
        )
        files.write_data(path, arrays("complex64", (1, 20, 10)), {}, overwrite=True)
    with pytest.raises(FileError, match="not those it describes"):
        files.open_data(path)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_nothing_is_left_of_rows_that_fail(tmp_path, extension) -> None:
    def blocks(count: int) -> Iterator[Any]:
        yield np.zeros((count, 9), np.complex64)
        raise RuntimeError

    rows = RowsOfArray((1, 20, 9), np.dtype(np.complex64), blocks)
    with pytest.raises(RuntimeError):
        files.write_data_rows(tmp_path / f"a.{extension}", {"spectrum": rows}, {}, 5)
    assert not os.listdir(tmp_path)
