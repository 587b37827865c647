"""Bloom's mip chain with direct reads from global memory, whose work-items make several pixels: for CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..image import Image
from ..params.border import define
from .mip_ends import MipChain, halved, knee

if TYPE_CHECKING:
    from ..gpu import Argument


class WideChain(MipChain):
    """The chain by direct reads."""

    def down(self, count: int) -> None:
        while len(self.levels) < count:
            self.levels.append(self._down(self.levels[-1], first=self.from_image and len(self.levels) == 1))

    def total(self) -> None:
        self.down(len(self.shares))
        self.factor = self.shares[-1]

    def climb(self, count: int) -> None:
        """Each total is share · level + tent(the total below it)."""
        while len(self.levels) > count:
            coarse, fine = self.levels.pop(), self.levels[-1]
            self._up(coarse, fine, fine, self.shares[len(self.levels) - 1], self.factor)
            self.factor = 1.0

    def over(self) -> None:
        self.climb(2)
        fine, coarse = self.ends.source, self.levels[1]
        if self.ends.not_finite is None:
            self._up(coarse, fine, self.ends.result, 0.0, self.factor)
            return
        scale = self.params.strength * self.factor
        self._up(coarse, fine, self.ends.result, self.finest, scale, final=True)

    def _down(self, fine: Image, *, first: bool) -> Image:
        planes, height, width = fine.shape
        coarse = fine.like((planes, *halved((height, width))))
        _, rows, columns = coarse.shape
        self._compute(
            "down_wide", (-(-columns // 8), rows, 1 if first else planes), fine, coarse, height, width,
            knee(self.params), self.params.karis * self.params.scale, whole=first, label="bloom down direct",
            FIRST=first,
        )  # fmt: skip
        return coarse

    def _up(
        self, coarse: Image, fine: Image, out: Image, own: float, scale: float, *, final: bool = False
    ) -> None:
        planes, height, width = fine.shape
        self._compute(
            "up_wide", (-(-width // 16), -(-height // 2), 1 if final else planes), coarse, fine, out,
            self.ends.not_finite, height, width, knee(self.params), float(own), float(scale), whole=final,
            label=f"bloom {'over' if final else 'up'} direct", FINAL=final,
        )  # fmt: skip

    def _compute(
        self, name: str, size: tuple[int, ...], *args: Argument, whole: bool, label: str, **defines: bool
    ) -> None:
        """Launches a kernel that takes pixels with all their channels (``whole``), or each plane by itself."""
        channels, colours = (self.ends.channels, self.ends.colours) if whole else (1, 1)
        self.gpu.compute(
            ("border", "bloom", "bloom_boxes", "bloom_wide"), name, size, *args, group=64, label=label, WIDE=True,
            CHANNELS=channels, COLOURS=colours, **define(self.params.border), **defines,
        )  # fmt: skip
