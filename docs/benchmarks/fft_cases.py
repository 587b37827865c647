"""The transforms that fft_peers.py measures: what they are of, what clpix makes of them, what is right."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from timing import Call

from gpuops import Gpu
from gpuops import fourier as fft

Array = npt.NDArray[Any]
Row = dict[str, Any]

KINDS = ("c2c", "r2c")
FUNCTIONS = {"c2c": "fft2", "r2c": "rfft2", "c2r": "irfft2", "convolve": "convolution"}
PHOTOS = ((1920, 1080), (3840, 2160), (6000, 4000), (3000, 2000), (1536, 1536), (3072, 3072))  # width, height
GROUPS: dict[str, list[tuple[str, int, int, int]]] = {  # kind, planes, rows, columns
    "c2c": [("c2c", 1, n, n) for n in (512, 1024, 2048, 4096, 8192)],
    "r2c": [("r2c", 1, n, n) for n in (1024, 2048, 4096, 8192)],
    "c2r": [("c2r", 1, n, n) for n in (1024, 2048, 4096, 8192)],
    "convolve": [("convolve", 1, n, n) for n in (1024, 2048, 4096)],
    "photo": [(kind, 1, height, width) for kind in KINDS for width, height in PHOTOS],
    "planes": [("r2c", 3, n, n) for n in (2048, 4096)],
    "bytes": [("r2c", 3, n, n) for n in (2048, 4096)],
    "cpu": [(kind, 1, n, n) for kind in KINDS for n in (1024, 2048, 4096)],
}


class Case(NamedTuple):
    """One transform; r2c takes real values and makes columns 0 … columns // 2 of the spectrum, c2r the reverse.

    convolve: circular, with a kernel as large as the image, by its transfer function. The group bytes: clpix from
    interleaved pixels of bytes, peers, which cannot, from planes of their values.
    """

    group: str
    kind: str
    planes: int
    rows: int
    columns: int

    @property
    def half(self) -> tuple[int, int, int]:
        """The shape of half a spectrum."""
        return self.planes, self.rows, self.columns // 2 + 1

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return self.half if self.kind == "r2c" else (self.planes, self.rows, self.columns)

    def values(self) -> Array:
        """Noise around 0: a mean would be most of the spectrum's energy and hide errors elsewhere."""
        width = 2 * self.columns if self.kind == "c2c" else self.columns
        rng, shape = np.random.default_rng(1), (self.planes, self.rows, width)
        if self.group == "bytes":
            return rng.integers(0, 256, shape, np.uint8) / np.float32(255)
        numbers = rng.standard_normal(shape, np.float32)
        if self.kind == "c2r":
            return np.fft.rfft2(numbers).astype(np.complex64)
        return numbers.view(np.complex64) if self.kind == "c2c" else numbers

    def transfer(self) -> Array:
        """The half spectrum of a convolution's kernel."""
        kernel = np.random.default_rng(2).standard_normal((self.planes, self.rows, self.columns), np.float32)
        return np.fft.rfft2(kernel, norm="ortho").astype(np.complex64)

    def reference(self, x: Array) -> Array:
        """numpy's result."""
        if self.kind == "convolve":
            return np.fft.irfft2(np.fft.rfft2(x) * self.transfer(), s=x.shape[1:])
        size = {"s": (self.rows, self.columns)} if self.kind == "c2r" else {}
        result: Array = getattr(np.fft, FUNCTIONS[self.kind])(x, **size)
        return result

    def call(self, gpu: Gpu, x: Array) -> Call:
        """clpix's, from device memory to device memory."""
        if self.group == "bytes":
            pixels = np.ascontiguousarray(np.moveaxis(np.rint(x * 255), 0, 2), np.uint8)
            return partial(fft.rfft2_of_pixels, gpu, gpu.array(pixels))
        image = gpu.array(x)
        if self.kind == "convolve":
            transfer, size = gpu.array(self.transfer()), (self.rows, self.columns)
            return lambda: fft.convolution(gpu, image, transfer, (1, 1), size, "wrap", 0.0)
        size = {"s": (self.rows, self.columns)} if self.kind == "c2r" else {}
        return partial(getattr(fft, FUNCTIONS[self.kind]), gpu, image, **size)

    def row(self, x: Array) -> Row:
        """The report's row of this case. The floor is two passes: input read, spectrum written, read, written.

        For a convolution it is three passes: image, two intermediates and transfer function read, intermediates and
        image written.
        """
        name = f"{f'{self.planes}×' if self.planes > 1 else ''}{self.columns}×{self.rows}"
        spectra = {"c2c": 3, "r2c": 3, "c2r": 2, "convolve": 5}[self.kind]
        spectrum = 8 * prod(self.out_shape if self.kind == "c2c" else self.half)
        real = 4 * prod(self.out_shape) * {"c2r": 1, "convolve": 1}.get(self.kind, 0)
        read = x.size if self.group == "bytes" else x.nbytes
        return {**self._asdict(), "case": name, "floor_bytes": read + spectra * spectrum + real}
