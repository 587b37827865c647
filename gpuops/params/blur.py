"""The parameters of blurs."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ParameterError
from ..notes import note
from ..records import dataclass
from .bilateral import BilateralParams
from .border import BORDER, set_border
from .kinds import Choice, Given, Number, Params, d3d11
from .notations import PerAxis

# The options that shape each kind of blur; the first one says how large it is.
_SHAPING = {
    "gaussian": ("sigma", "sigma_x", "sigma_y", "truncate"),
    "box": ("radius",),
    "disc": ("radius",),
    "motion": ("length", "angle"),
    "median": ("radius",),
    "bilateral": ("sigma", "sigma_color", "radius"),
}
KINDS = tuple(_SHAPING)
METHODS = ("auto", "local", "direct", "multirate", "fft", "recursive")
MAX_RADIUS, MAX_RADIUS_2D, MAX_MEDIAN = 16384, 2048, 15  # of weights for an axis; of weights for both
LEAST_MULTIRATE = 3.0  # sigma below which there is no coarse grid
ENOUGH = 4.5  # sigmas: what is beyond is less than 4e-5 of the peak


@dataclass(frozen=True)
class BlurParams(Params):
    """Blur images, in linear light and with premultiplied alpha.

    The Gaussian is within 5e-5 of its peak and takes the same time for any sigma; with --truncate it is scipy's, cut at
    int(T·σ + 0.5) pixels and normalised. --sigma 0 gives the input exactly.

    Attributes
    ----------
    sigma : (float, float)
        Standard deviation in pixels along rows' direction (y) and columns' direction (x); 0 leaves an axis as it is.
        For ``kind="gaussian"``.
    radius : (float, float)
        Half-width in pixels along y and x. The box and the median's window are 2·radius + 1 wide, where radius is a
        whole number; the median's are 31 wide at most. The disc is an ellipse with these half-axes, whose edge pixels
        count by the share of their area. The bilateral filter's window is 2·radius + 1 wide, the same along both axes;
        where both are 0 it has the default width of :class:`BilateralParams`.
    sigma_color : float
        The bilateral filter's standard deviation of colours; ``sigma`` is its spatial one, the same along both axes.
    length, angle : float
        The motion's length in pixels and its direction in degrees, counter-clockwise from a row's direction. For
        ``kind="motion"``.
    truncate : float, optional
        The Gaussian is cut at ``int(truncate·sigma + 0.5)``, as in scipy.ndimage. None cuts it where that changes the
        result by less than 5e-5 of the peak.
    border, cval
        The values outside the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.
    method
        With ``local``, work-items share tiles in local memory; with ``direct``, each works alone, with vectors on CPUs.
        ``multirate`` takes the same time for any sigma, :mod:`gpuops.filters.multirate`. ``fft`` multiplies spectra,
        with an error of 1e-6 of the plane's largest value everywhere. ``auto`` is multirate for a Gaussian that is not
        cut; otherwise direct on CPUs and local elsewhere (measured: docs/benchmarks); fft for disc and motion where it
        is faster; and sums of sums for a box with a large radius, or on CPUs. The median and the bilateral filter only
        have auto. ``recursive`` is an older name that now means ``auto``.
    """

    sigma: tuple[float, float] = PerAxis(
        "Standard deviation of the Gaussian in pixels, also of the bilateral filter's.", apart=True
    ).field((0.0, 0.0))
    radius: tuple[float, float] = PerAxis(
        "The radius of the disc, or of the window of box, median (15 at most) and bilateral. The window has "
        "2R + 1 pixels."
    ).field((0, 0))
    sigma_color: float = Number(
        "How far colours may differ, for bilateral: a standard deviation, in values of 0 … 1 or in light.",
        0,
        1e6,
        hidden=True,
    ).field(0.0)
    length: float = Number("The length of the motion.", 0, MAX_RADIUS_2D, "pixels", hidden=True).field(0.0)
    angle: float = Number(
        "The direction of the motion, counter-clockwise from the x axis.", -1e6, 1e6, "degrees"
    ).field(0.0)
    kind: str = Choice("The shape of the blur.", KINDS).field("gaussian")
    border: str = BORDER.field("reflect")
    cval: float = 0.0
    truncate: float | None = Number(
        "Cut the Gaussian at this many sigmas (scipy's default: 4), not where it ends.", 0, 1e4
    ).field(None)
    method: str = Choice("How it is computed. recursive is an older name for auto.", METHODS).field("auto")
    preset: str | None = d3d11("blur").field(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "recursive":
            note("blur has no recursive filters any more: its method is auto")
            object.__setattr__(self, "method", "auto")
        set_border(self)
        for name in ("sigma", "radius"):
            for value in getattr(self, name):
                if not (math.isfinite(value) and value >= 0):
                    raise ParameterError(f"{name} must be a finite number of pixels, 0 or more, not {value}")
        if self.truncate == 0:
            raise ParameterError("truncate must be a positive number of sigmas, not 0")
        if self.method == "multirate" and (self.kind != "gaussian" or self.truncate is not None):
            raise ParameterError("multirate is a whole Gaussian's method: use local, direct or fft")
        if self.method == "multirate" and max(self.sigma) < LEAST_MULTIRATE:
            raise ParameterError(f"multirate needs a sigma of {LEAST_MULTIRATE} or more: use local or direct")
        if self.kind == "median" and max(self.radius) > MAX_MEDIAN:
            raise ParameterError(f"a median's radius is {MAX_MEDIAN} at most, not {max(self.radius):g}")
        if self.kind == "bilateral" and (self.sigma[0] != self.sigma[1] or self.radius[0] != self.radius[1]):
            raise ParameterError("the bilateral filter has one sigma and one radius for both axes")
        if self.kind in ("median", "bilateral") and self.method != "auto":
            raise ParameterError(f"--kind {self.kind} has no other method than auto")
        whole = all(radius == int(radius) for radius in self.radius)
        if self.kind in ("box", "median", "bilateral") and not whole:
            raise ParameterError(f"{self.kind} has a whole number as radius, not {max(self.radius):g}")
        if self.kind == "bilateral":
            _ = self.bilateral  # this checks its parameters
        most = MAX_RADIUS_2D if self.by_both_axes else MAX_RADIUS
        if max(self.radii) > most:
            raise ParameterError(
                f"the {_SHAPING[self.kind][0]} is too large: it would reach {max(self.radii):.6g} pixels far, and "
                f"{most} is the most"
            )

    def check_given(self, given: Given) -> None:
        shaping = [name for names in _SHAPING.values() for name in names]
        if self.preset is not None:
            given.refuse("--preset fixes everything but --method", *shaping, "kind", "border")
            if self.method in ("multirate", "fft"):
                raise ParameterError("--preset d3d11 has --method auto, local or direct")
            return
        own = size, *_ = _SHAPING[self.kind]
        others = (name for name in shaping if name not in own)
        given.refuse(f"--kind {self.kind} is as large as --{size} says", *others)
        if self.kind == "gaussian":
            if {"sigma_x", "sigma_y"} <= given.keys():
                given.refuse("--sigma-x and --sigma-y say all", "sigma")
            elif "sigma" not in given:
                raise ParameterError("give --sigma, both --sigma-x and --sigma-y, or --sigma and one of them")
        elif size not in given:
            raise ParameterError(f"--kind {self.kind} needs --{size}")
        elif self.kind == "bilateral" and "sigma_color" not in given:
            raise ParameterError("--kind bilateral needs --sigma-color")

    def written(self) -> dict[str, Any]:
        values, size = super().written(), _SHAPING[self.kind][0]
        if self.preset is None and not any(name.startswith(size) for name in values):
            values[size] = 0.0
        return values

    @property
    def by_both_axes(self) -> bool:
        """Whether it needs the weights of both axes at once."""
        return self.kind in ("disc", "motion") or self.method == "fft"

    @property
    def radii(self) -> tuple[int, int]:
        """Half-widths of the support along y and x, in pixels."""
        if self.kind in ("box", "median"):
            return int(self.radius[0]), int(self.radius[1])
        if self.kind == "bilateral":
            return self.bilateral.radius, self.bilateral.radius
        if self.kind == "disc":
            y, x = (max(0, math.ceil(radius - 0.5)) for radius in self.radius)
            return (y, x) if min(self.radius) > 0 else (0, 0)
        if self.kind == "motion":  # a line one pixel wide
            c, s = (abs(f(math.radians(self.angle))) for f in (math.cos, math.sin))
            y, x = (math.ceil((self.length * a + b - 1) / 2 - 1e-9) for a, b in ((s, c), (c, s)))
            return max(0, y), max(0, x)
        truncate = ENOUGH if self.truncate is None else self.truncate
        y, x = (int(truncate * sigma + 0.5) for sigma in self.sigma)
        return y, x

    @property
    def bilateral(self) -> BilateralParams:
        """The parameters of the bilateral filter."""
        size = 2 * int(self.radius[0]) + 1 if self.radius[0] else None
        return BilateralParams(self.sigma_color, self.sigma[0], size, border=self.border, cval=self.cval)

    def weights(self, axis: int) -> list[float]:
        """Returns the normalised weights along ``axis`` (0: y, 1: x), 2·radius + 1 of them."""
        if self.kind == "box":
            size = 2 * self.radii[axis] + 1
            return [1.0 / size] * size
        return gaussian(self.sigma[axis], ENOUGH if self.truncate is None else self.truncate)


def gaussian(sigma: float, truncate: float) -> list[float]:
    """Returns normalised weights −r … r, r = int(truncate·sigma + 0.5), as in scipy.ndimage."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:  # also a sigma so small that nothing beyond the pixel itself is inside the support
        return [1.0]
    values = [math.exp(-0.5 * (i / sigma) ** 2) for i in range(-radius, radius + 1)]
    total = math.fsum(values)
    return [v / total for v in values]
