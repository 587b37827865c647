"""The pixels of a result as its file has them, and what the file says of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import files
from ..image import Image
from ..pixels.coding import Losses


class FileLabels(NamedTuple):
    """All properties of a picture except its pixels."""

    alpha: bool
    linear: bool
    metadata: files.Metadata
    associated: bool

    def picture(self, pixels: np.ndarray[Any, Any]) -> files.Picture:
        """Returns the picture with these pixels."""
        return files.Picture(pixels, self.alpha, self.linear, self.metadata, self.associated)


class FilePixels(NamedTuple):
    """Pixels, or some rows, in the form of their file, the values they have lost, and what the file says of them.

    ``dtype`` is their depth unless the options say another one; None is the input's. Pixels may still be on the device.
    """

    pixels: np.ndarray[Any, Any] | Image
    lost: Losses
    of: FileLabels
    dtype: str | None

    def picture(self) -> files.Picture:
        """download: the picture."""
        pixels = self.pixels.numpy() if isinstance(self.pixels, Image) else self.pixels
        return self.of.picture(pixels)
