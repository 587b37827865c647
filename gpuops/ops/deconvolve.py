"""Deconvolution: the Wiener filter, and Richardson and Lucy's iteration."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Choice, Number, Operation, Params, Reach, Spectral, Traits, Whole
from .blur import BlurParams

if TYPE_CHECKING:
    from ..gpu import Argument, Gpu
    from ..image import Image

#: The parameter that says how wide each kind of blur was.
_WIDTHS = {"gaussian": "sigma", "disc": "radius", "motion": "length"}
#: The parameters that not every kind or method has: what they belong to.
_BELONGS = {
    "sigma": ("kind", "gaussian"),
    "radius": ("kind", "disc"),
    "length": ("kind", "motion"),
    "angle": ("kind", "motion"),
    "balance": ("method", "wiener"),
    "reg": ("method", "wiener"),
    "iterations": ("method", "richardson-lucy"),
    "filter_epsilon": ("method", "richardson-lucy"),
}


@dataclass(frozen=True)
class DeconvolveParams(Params):
    """Undo a known blur of images, in linear light and with premultiplied alpha.

    --kind says what the blur was, as in clpix blur: a Gaussian of --sigma, a disc of --radius, or a motion of --length
    and --angle. Each colour is restored by itself, and alpha stays as it is. Images go on mirrored beyond their edges.

    --method wiener divides spectra. The larger --balance, the less noise there is, and the less detail. It rings beside
    bright light, and may fall below black there, which integers cut off. --method richardson-lucy improves an estimate
    --iterations times, and light stays at black or above; noise grows with the iterations. Large discs and long motions
    take it long, as it sums every pixel of them. A blur of width 0, and --iterations 0, give the input exactly.
    """

    method: str = Choice("The method that undoes the blur.", ("wiener", "richardson-lucy")).field("wiener")
    kind: str = Choice("The kind of blur that it was.", tuple(_WIDTHS)).field("gaussian")
    sigma: float | None = Number("Standard deviation of the Gaussian.", 0, 30, "pixels").field(None)
    radius: float | None = Number("The radius of the disc.", 0, 100, "pixels").field(None)
    length: float | None = Number("The length of the motion.", 0, 200, "pixels").field(None)
    angle: float = Number(
        "The direction of the motion, counter-clockwise from the x axis.", -360, 360, "degrees"
    ).field(0.0)
    balance: float = Number("The noise's power relative to the image's, for wiener.", 1e-6, 1e6).field(0.003)
    reg: str = Choice(
        "Weigh balance by fineness of detail or equally, for wiener: by the Laplacian's power, or by 1 everywhere.",
        ("laplacian", "constant"),
    ).field("laplacian")
    iterations: int = Whole("For richardson-lucy: the number of iterations.", 0, 1000).field(10)
    filter_epsilon: float = Number(
        "The least light, for richardson-lucy: light becomes 0 where the estimate's blur is not above this.",
        0,
        1e5,
    ).field(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in fields(self):
            of, only = _BELONGS.get(field.name, ("", ""))
            if of and getattr(self, of) != only and getattr(self, field.name) != field.default:
                name = field.name.replace("_", "-")
                raise ParameterError(f"{name} belongs to {of} {only}, not to {of} {getattr(self, of)}")
        if getattr(self, _WIDTHS[self.kind]) is None:
            raise ParameterError(f"kind {self.kind} needs --{_WIDTHS[self.kind]}")

    def blur(self, method: str = "auto") -> BlurParams:
        """The blur to undo. Each kind is its own mirror image, as Richardson and Lucy's iteration needs it."""
        sigma, radius = self.sigma or 0.0, self.radius or 0.0
        return BlurParams(
            (sigma, sigma), (radius, radius), 0.0, self.length or 0.0, self.angle, self.kind, method=method
        )


def deconvolve(gpu: Gpu, image: Image, params: DeconvolveParams) -> Image:
    """Restores the colours of a planar float32 Image, premultiplied where it has alpha; alpha is copied.

    ``wiener`` and ``richardson-lucy`` are those of skimage.restoration, of an image that is mirrored beyond its edges
    and not clipped. The Wiener filter has an error of about 1e-6 of the largest value in a plane, times how much it
    amplifies, everywhere. Richardson and Lucy's error is relative to the pixel.
    """
    from ..filters.wiener import wiener
    from ..tiles.planes import first_planes

    method = wiener if params.method == "wiener" else _richardson_lucy
    return first_planes(image, image.colours, lambda planes: method(gpu, planes, params))


def _richardson_lucy(gpu: Gpu, image: Image, params: DeconvolveParams) -> Image:
    """estimate ← estimate · blur(image / blur(estimate)), from flat light on.

    Source: Richardson, J. Opt. Soc. Am. 62, 55 (1972); Lucy, Astron. J. 79, 745 (1974). The blur is a sum of weights,
    not a product of spectra, whose errors in the shadows beside a sun would be divided by.
    """
    import numpy as np
    import pyopencl as cl

    from ..filters.blur import blur

    _, height, width = image.shape
    form = _summed(gpu, params)
    estimate = image.like()
    estimate.part = image.part
    cl.enqueue_fill_buffer(gpu.queue, estimate.buffer, np.ones(1, np.float32), 0, estimate.nbytes)
    for _ in range(int(params.iterations)):
        soft = blur(gpu, estimate, form)
        soft.part = image.part
        _launch(gpu, "ratio", image.shape, image, soft, width, height, params.filter_epsilon)
        gain = blur(gpu, soft, form)
        _launch(gpu, "gain", image.shape, gain, estimate, width, height)
    return estimate


def _launch(gpu: Gpu, name: str, shape: tuple[int, ...], *args: Argument) -> None:
    """Launches a kernel of deconvolve.cl with a work-item for each element of ``shape``."""
    label = f"deconvolve {name}"
    gpu.compute("deconvolve", f"deconvolve_{name}", shape[::-1], *args, group=64, label=label)


def _summed(gpu: Gpu, params: DeconvolveParams) -> BlurParams:
    if params.kind == "gaussian":
        return params.blur()
    return params.blur("direct" if gpu.limits.is_cpu else "local")


def _identity(params: DeconvolveParams) -> bool:
    none = params.method == "richardson-lucy" and not params.iterations
    return none or not any(params.blur().radii)


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: DeconvolveParams) -> Reach:
    from ..filters.blur import reach

    if params.method == "wiener":
        return Reach(spoiled=inf)
    rows, spoiled, *_ = reach(gpu, shape, _summed(gpu, params))
    times = 2 * int(params.iterations)
    # The first of the blurs is that of flat light, which may be rounded otherwise where a part of the picture ends.
    return Reach(times * rows, (times - 1) * spoiled, exact=False)


def _spectral(gpu: Gpu, shape: tuple[int, int, int], params: DeconvolveParams) -> Spectral | None:
    from ..filters.wiener import spectral

    return spectral(gpu, shape, params) if params.method == "wiener" else None


def _traits(params: DeconvolveParams) -> Traits:
    local = params.method == "richardson-lucy"
    # Wiener's transforms are of the image with its surroundings, and of powers of small primes.
    return Traits(
        premultiplied=True,
        kind="local" if local else "transform",
        keeps_range=True,
        bytes_per_value=16.0 if local else 64.0,
        fixed_bytes=0.0 if local else 64e6,
    )


OPERATION = Operation(
    "deconvolve",
    DeconvolveParams,
    deconvolve,
    traits=_traits,
    identity=_identity,
    reach=_reach,
    spectral=_spectral,
    examples=(
        "clpix deconvolve photo.png -o sharp.png --sigma 1.5",
        "clpix deconvolve photo.png -o still.png --kind motion --length 9 --angle 30",
        "clpix deconvolve photo.png -o sharp.tif --method richardson-lucy --kind disc --radius 3",
    ),
    groups={
        "The blur": ("kind", "sigma", "radius", "length", "angle"),
        "Method": ("method", "balance", "reg", "iterations", "filter_epsilon"),
    },
)
