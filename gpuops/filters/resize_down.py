"""Images made smaller by a CPU's vectors: launches of resize_down.cl."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gpu import Gpu, Local
from ..image import Image
from .clang import clang_defines
from .resampling import BySample, ResampledAxis, weights

# How both axes (y, x) are resampled.
Axes = tuple[ResampledAxis, ResampledAxis]
# Rows of a piece, rows of results in local memory, samples that are summed at a time: PIECE, RING and SPAN there.
_PIECE, _RING, _SPAN = 16, 32, 32
# Samples of a vector, and its bytes; samples of a strip's row, and work-items of a compute unit, at most.
_LANES, _BYTES, _WIDEST, _SHARES = 16, 64, 4096, 4
# The most results under way, whose sums stay in registers: Lanczos has six.
_UNDER_WAY = 6


@dataclass(frozen=True)
class _SampleTable:
    """What samples of an axis meet, and the spans of its results, on the device; ``most``: results of a sample."""

    spans: Image
    events: Image
    weights: Image
    most: int

    @classmethod
    def kept(cls, gpu: Gpu, axis: ResampledAxis, filter: str) -> _SampleTable:
        """The table, which is kept."""
        return gpu.kept(("resize by sample", axis, filter), lambda: cls._of(gpu, axis, filter))

    @classmethod
    def _of(cls, gpu: Gpu, axis: ResampledAxis, filter: str) -> _SampleTable:
        taps = weights(axis, filter)
        samples = BySample.of(taps, axis.size)
        pairs = (taps.first, taps.count), (samples.ended, samples.begun)
        spans, events = (gpu.array(np.stack(pair, axis=1).astype(np.int32)) for pair in pairs)
        return cls(spans, events, gpu.array(samples.weights), samples.most)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return self.spans.nbytes + self.events.nbytes + self.weights.nbytes


@dataclass(frozen=True)
class Shrinking:
    """How a device makes images of some size smaller: ``strip`` columns of the result by a work-item, which need
    ``chunk`` samples of a row at most."""

    axes: Axes
    filter: str
    strip: int
    chunk: int

    @classmethod
    def of(cls, gpu: Gpu, axes: Axes, filter: str) -> Shrinking | None:
        """That for both axes (y, x). None where few samples count, or where they count for many results."""
        key = "shrinking", axes, filter, gpu.limits.local_bytes
        return gpu.kept(key, lambda: cls._fitting(gpu.limits.local_bytes, axes, filter))

    @classmethod
    def _fitting(cls, local_bytes: int, axes: Axes, filter: str) -> Shrinking | None:
        taps = [weights(axis, filter) for axis in axes]
        y, x = (BySample.of(each, axis.size) for each, axis in zip(taps, axes, strict=True))
        skips = any(each.count.sum() < axis.size for each, axis in zip(taps, axes, strict=True))
        at_once = np.diff(np.append(y.ended[:-1:_PIECE], y.ended[-1])).max()
        crowded = max(y.most, x.most) > _UNDER_WAY or at_once > _RING - _LANES + 1
        if skips or crowded or axes[1].size < _LANES:
            return None
        blocks = -(-axes[1].result // _LANES)
        for strips in range(1, blocks + 1):
            strip = -(-blocks // strips) * _LANES
            chunk = -(-taps[1].window(strip) // _SPAN) * _SPAN
            if chunk <= _WIDEST and 4 * chunk * (_RING + y.most) + _BYTES * strip <= local_bytes:
                return cls(axes, filter, strip, chunk)
        return None

    def launch(self, gpu: Gpu, image: Image, result: Image, made: tuple[int, int] | None) -> None:
        """Makes all rows of the result of a planar Image; or some, of an Image that is a part with what these need."""
        first, top = (0, 0) if made is None or image.part is None else (made[0], image.part.first)
        y, x = (_SampleTable.kept(gpu, axis, self.filter) for axis in self.axes)
        planes, rows, columns = result.shape
        strips = -(-columns // self.strip)
        band = max(1, strips * planes * rows // (_SHARES * gpu.limits.compute_units) // _LANES) * _LANES
        sources = ("lanes", "store_sixteen", "block_columns", "fetch_ahead", "resize_down")
        defines = {"WIDTH": 8, "DOWN": y.most, "ACROSS": x.most, **clang_defines(gpu)}
        kernel = gpu.kernel(sources, "resize_down", **defines)
        gpu.launch(
            kernel, (strips, -(-rows // band), planes), image, y.spans, y.events, y.weights, x.spans, x.events,
            x.weights, result, *image.shape[1:], top, first, rows, columns, self.strip, band, self.chunk,
            Local(_RING * self.chunk * 4), Local(y.most * self.chunk * 4), Local(self.strip * _BYTES),
            local=(1, 1, 1), label="resize yx",
        )  # fmt: skip
