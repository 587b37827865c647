"""An imageio plugin over OpenImageIO, "clpix-oiio", which importing this module makes known to imageio.

    imageio.v3.imread(path, plugin="clpix-oiio")

imageio should not be left to choose a plugin: for some files several of its plugins answer, and not all rightly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from imageio.config import known_plugins
from imageio.config.plugins import PluginConfig
from imageio.core.request import Request
from imageio.core.v3_plugin_api import ImageProperties, PluginV3

from . import oiio

NAME = "clpix-oiio"

known_plugins[NAME] = PluginConfig(
    name=NAME, class_name="OpenImageIOPlugin", module_name=__name__, install_name="clpix"
)


class OpenImageIOPlugin(PluginV3):
    """One file, open for reading or for writing. `index` is the subimage: an EXR part or a TIFF page."""

    def __init__(self, request: Request, **_: Any) -> None:
        super().__init__(request)
        self._path = os.fspath(request.get_local_filename())
        self._reader = oiio.Reader(self._path)

    def read(
        self, *, index: int = 0, channels: tuple[int, int] | None = None, dtype: str | None = None
    ) -> np.ndarray[Any, Any]:
        return self._reader.read(index=index, channels=channels, dtype=dtype)

    def write(self, ndimage: Any, *, attributes: Mapping[str, Any] | None = None, **_: Any) -> None:
        oiio.write(self._path, np.asarray(ndimage), attributes or {})

    def properties(self, index: int | None = 0) -> ImageProperties:
        spec = self._reader.spec(index or 0)
        dtype = np.dtype(oiio.DTYPES.get(str(spec.format), str(spec.format)))
        return ImageProperties(shape=(spec.height, spec.width, spec.nchannels), dtype=dtype)

    def metadata(self, index: int | None = 0, exclude_applied: bool = True) -> dict[str, Any]:
        return {attribute.name: attribute.value for attribute in self._reader.spec(index or 0).extra_attribs}

    def iter(self) -> Iterator[np.ndarray[Any, Any]]:
        for index in range(self._reader.count()):
            yield self.read(index=index)

    def close(self) -> None:
        self._reader.close()
        super().close()
