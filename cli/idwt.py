"""The command ``clpix idwt``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.tiles.pixels import PixelSink

    from .item import Item


@options.command(short_help="wavelet coefficients → image")
@options.inputs
@options.output
@options.device_memory
@options.shared
def command(shared: options.Shared) -> None:
    """Turn the coefficients that `clpix dwt` wrote back into images.

    Wavelet, mode, size and depth are read from the file; --dtype changes the depth, --alpha drop leaves alpha out.
    """
    options.refuse("a coefficient file says itself what its values are", "space")
    options.refuse("a coefficient file has no layers", "layer")

    from gpuops.errors import FileError
    from gpuops.wavelets import multilevel, stored

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        arrays, attributes = item.load_data()
        try:
            about = stored.unpack(arrays, attributes)
        except FileError as error:
            raise FileError(f"{item.path}: {error}") from None
        if shared.alpha == "drop":
            about = about.without_alpha()
        encoding = item.encoding_of(about.dtype, linear=about.linear)

        def image() -> PixelSink:
            sink = stored.sink_of(about, encoding)
            multilevel.recompose(stored.found_in(gpu, arrays, about), about.params, sink)
            return sink

        item.save_host(*item.run(image).result, about.dtype, linear=about.linear, alpha=about.alpha)

    process(shared, "idwt", work, pictures=False)
