"""Blurs: Gaussian, box, disc, motion, median and bilateral."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Operation, Reach, Traits
from ..params.blur import LEAST_MULTIRATE, BlurParams
from ..params.border import by_axis

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..pixels.coding import Decoding
    from ..space import Stored, Target

__all__ = ["OPERATION", "BlurParams"]


def _blur(gpu: Gpu, image: Image, params: BlurParams) -> Image:
    """Blurs every plane, as :func:`gpuops.filters.blur.blur`, or as the preset does."""
    from ..filters.blur import blur
    from ..glow import d3d11

    if params.preset is not None:
        return d3d11.blur(gpu, image, params.method)
    return blur(gpu, image, params, overwrite_input=image.owned)


def _ends(
    gpu: Gpu,
    source: Image,
    params: BlurParams,
    decoding: Decoding | None,
    target: Target,
    rows: tuple[int, int] | None = None,
) -> Stored:
    from ..filters.blur import blur_pixels
    from ..pixels.coding import pack, unpack
    from ..space import Stored
    from ..tiles.rectangles import rows_of

    encoding = target.encoding(source.space)
    if decoding is not None and params.preset is None:
        return Stored(*blur_pixels(gpu, source, params, decoding, encoding, rows), source.space)
    image = source if decoding is None else unpack(source, decoding)
    result = _blur(gpu, image, params)
    if rows is not None:
        assert source.part is not None
        result = rows_of(result, rows[0] - source.part.first, rows[1] - rows[0])
    return Stored(*pack(result, encoding), source.space)


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: BlurParams) -> Reach:
    from ..filters.blur import reach

    if params.preset is not None:
        return Reach()
    return reach(gpu, shape, params)._replace(around=by_axis(params.border)[0] == "wrap")


def _fixed_bytes(gpu: Gpu, shape: tuple[int, int, int], params: BlurParams) -> float:
    from ..filters.convolve import fixed_bytes

    if params.preset is not None or not params.by_both_axes:
        return 0.0
    y, x = params.radii
    return fixed_bytes(gpu, shape, (2 * y + 1, 2 * x + 1), params.method)


def _traits(params: BlurParams) -> Traits:
    wide = params.kind == "gaussian" and params.preset is None and params.truncate is None
    kind = "grid" if wide and max(params.sigma) >= LEAST_MULTIRATE else "local"
    # Discs and motions go by transforms where these are faster.
    needed = 24.0 if params.by_both_axes else 8.0
    return Traits(premultiplied=True, kind=kind, keeps_range=True, bytes_per_value=needed)


OPERATION = Operation(
    "blur",
    BlurParams,
    _blur,
    traits=_traits,
    identity=lambda params: params.preset is None and not any(params.radii),
    reach=_reach,
    fixed_bytes=_fixed_bytes,
    whole={"preset": ("d3d11",)},
    ends=_ends,
    examples=(
        "clpix blur photo.jpg -o soft.jpg --sigma 4",
        "clpix blur light.exr -o bokeh.exr --kind disc --radius 12",
        "clpix blur photos/ --recursive -o quiet/ --kind median --radius 2",
    ),
    groups={
        "Shape": (
            "kind",
            "sigma",
            "sigma_x",
            "sigma_y",
            "radius",
            "length",
            "angle",
            "sigma_color",
            "truncate",
        ),
        "Edges": ("border",),
        "Kernels, presets": ("method", "preset"),
    },
)
