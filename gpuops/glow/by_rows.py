"""Bloom where a picture's rows come in parts, in two sweeps.

The first sweep makes a coarse image of the whole picture, which stays on the device. Of it is made what coarse parts of
the glow give. The second sweep makes the finer parts of the glow of some rows anew, and lays all over them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..filters import convolve
from ..gpu import Gpu
from ..image import Image
from ..operation import Measure, Operation, Params, Pass, Traits
from ..records import dataclass
from ..rows.window import rows_of, with_halo
from .light import composite, light_of, warn_of

if TYPE_CHECKING:
    from ..params.bloom import BloomParams

Shape = tuple[int, int, int]

# Pixels that a work-item counts.
_AT_ONCE = 16


class Coarse:
    """A coarse image of a whole picture, and then what it gives to the glow.

    Attributes
    ----------
    shape : (planes, height, width)
        That of the picture.
    params : BloomParams
        The exposure is known.
    halo : int
        How many rows above and below a row of the result depends on, beside the coarse image.
    bytes_per_value : float
        For each value of a part of the picture, what the work on it takes beside it, and the result.
    fixed_bytes : float
        What the coarse image takes on the device, with what is made of it once.
    align : int
        The first row of a part is a multiple of it.
    not_finite : int
        Pixels that are not finite, in the whole picture.
    stays : float
        The share of light that stays in its own pixel, which the glow lacks.
    """

    halo: int
    bytes_per_value: float
    fixed_bytes: float
    align = 1
    stays = 0.0

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        self.gpu = gpu
        self.shape = shape
        self.params = params
        self.not_finite = 0

    def begin(self) -> None:
        """Takes the memory of the coarse image."""

    def needs(self, first: int, end: int) -> tuple[int, int]:
        """Returns the rows of the picture that what :meth:`add` makes of these rows depends on."""
        return first, end

    def add(self, image: Image, first: int, end: int) -> None:
        """Takes these rows of the picture. The Image begins with the first row that they need."""

    def settle(self) -> None:
        """Makes of the coarse image what it gives to the glow."""

    def glow(self, light: Image) -> Image:
        """Returns the glow of light, which is some rows of a picture."""
        raise NotImplementedError

    def over(self, image: Image) -> Image:
        """Lays the glow over some rows. Those that have no halo are wrong."""
        result = image if image.owned else image.like()
        light = light_of(self.gpu, image, self.params)
        light.part = image.part
        not_finite = self.gpu.zeros((1,), np.uint32)  # it counts rows twice that two parts have
        composite(self.gpu, image, self.glow(light), result, self.params, not_finite, self.stays)
        return result

    def measure(self) -> Measure:
        """Returns the first sweep."""
        self.begin()
        return Measure(self._add, self._settled, self.needs)

    def _add(self, gpu: Gpu, image: Image, first: int, end: int) -> None:
        assert image.part is not None
        start = self.needs(first, end)[0]
        image = rows_of(image, slice(start - image.part.first, image.shape[1]))
        self.not_finite += _count(gpu, image, slice(first - start, end - start))
        self.add(image, first, end)

    def _settled(self, _none: object) -> tuple[Params, ...]:
        """Returns the steps that use what is known."""
        self.settle()
        glow = Over(replace(self.params, tonemap=None), self)
        return (glow, *shown(self.params))


class KernelGlow(Coarse):
    """The glow of a kernel image, which has no coarse parts: all of it is made of the kernel's rows."""

    # Those of light, the glow and what a transform takes, and the result.
    bytes_per_value = 32.0

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(gpu, shape, params)
        assert params.kernel is not None
        self._weights = convolve.kernel_from_file(gpu, params.kernel, normalise=True)
        _, rows, columns = map(int, self._weights.shape)
        self.halo = rows // 2
        # The bytes that the kernel and transforms of its size take beside copies of rows.
        self.fixed_bytes = convolve.fixed_bytes(gpu, shape, (rows, columns), "auto")

    def glow(self, light: Image) -> Image:
        weights = convolve.kernel_for(light, self._weights)
        return convolve.convolve(self.gpu, light, weights, mode=self.params.border)


@dataclass(frozen=True, eq=False)
class Over(Params):
    """A glow laid over a picture of which the coarse parts are known."""

    params: BloomParams
    coarse: Coarse


def shown(params: BloomParams) -> tuple[Params, ...]:
    """Returns the step that tone-maps the result, if there is one.

    It encodes for its file, as bloom does: "linear" would ask for a file of light.
    """
    return () if params.display is None else (replace(params.display, transfer="auto"),)


def _over(_gpu: Gpu, image: Image, over: Over) -> Image:
    result = over.coarse.over(image)
    # The count is the whole picture's. Whoever asks for rows passes the same note on once.
    warn_of(over.coarse.not_finite)
    return result


def _count(gpu: Gpu, image: Image, rows: slice) -> int:
    """Returns how many pixels of some rows are not finite."""
    counter, (planes, height, width) = gpu.zeros((1,), np.uint32), image.shape
    size = (rows.stop - rows.start) * width
    gpu.compute(
        "bloom", "count", (-(-size // _AT_ONCE),), image, counter, np.uint64(rows.start * width),
        np.uint64(height * width), size, group=256, label="bloom count", traffic=4 * planes * size, CHANNELS=planes,
        COLOURS=image.colours, WIDE=True,
    )  # fmt: skip
    return int(counter.numpy()[0])


def _passes(_gpu: Gpu, shape: Shape, over: Over) -> tuple[Pass, ...]:
    coarse = over.coarse
    work = partial(_over, over=over)
    return (with_halo(shape, coarse.halo, work, coarse.bytes_per_value, coarse.align),)


OPERATION = Operation(
    "bloom",
    Over,
    _over,
    traits=Traits(rec709=True, premultiplied=True, kind="local"),
    passes=_passes,
    fixed_bytes=lambda _gpu, _shape, over: over.coarse.fixed_bytes,
)
