"""Parameters of the bilateral filter."""

from __future__ import annotations

import math

from ..errors import ParameterError, check_name
from ..records import dataclass
from .border import set_border

# The shapes of the window.
WINDOWS = ("square", "round")
# The largest radius in pixels: the time grows with its square, and llvmpipe's loops end after 65535 rounds.
MAX_RADIUS = 127
# The least sigma_color: float32 still holds its inverse times any usual value.
LEAST = 1e-20
# The largest sigma_color, likewise.
LARGEST = 1e20


@dataclass(frozen=True)
class BilateralParams:
    """A bilateral filter: weights exp(−|Δ position|²/2σ_spatial² − |Δ colour|²/2σ_colour²), normalised.

    Names are those of skimage.restoration.denoise_bilateral.

    Attributes
    ----------
    sigma_color : float
        Standard deviation of the colour's Euclidean distance, in the image's units, 1e-20 … 1e20; 0 leaves the
        image as it is.
    sigma_spatial : float
        Standard deviation of the distance in pixels; 0 leaves the image as it is.
    win_size : int, optional
        Odd width of the window. None: max(5, 2⌈3·sigma_spatial⌉ + 1), as in skimage.
    window : str
        ``square``, as in skimage, or ``round``: pixels at most win_size // 2 away, as in OpenCV, in 0.6 to 0.8 of the
        time.
    border, cval
        The values outside the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.
    """

    sigma_color: float
    sigma_spatial: float = 1.0
    win_size: int | None = None
    window: str = "square"
    border: str = "reflect"
    cval: float = 0.0

    def __post_init__(self) -> None:
        set_border(self)
        check_name("window", self.window, WINDOWS)
        for name in ("sigma_color", "sigma_spatial"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} must be a finite number, 0 or more, not {value}")
        if self.sigma_color and not LEAST <= self.sigma_color <= LARGEST:
            raise ParameterError(f"sigma_color must be 0 or {LEAST:g} … {LARGEST:g}, not {self.sigma_color}")
        if self.win_size is not None and not (self.win_size >= 1 and self.win_size % 2 == 1):
            raise ParameterError(f"the window must have an odd size of 1 or more, not {self.win_size}")
        if (self.win_size is None and self.sigma_spatial > MAX_RADIUS) or self.radius > MAX_RADIUS:
            raise ParameterError(f"a window has {2 * MAX_RADIUS + 1} pixels at most: use a smaller sigma")

    @property
    def radius(self) -> int:
        """Half-width of the window in pixels."""
        if self.win_size is not None:
            return int(self.win_size) // 2
        return max(2, math.ceil(3 * self.sigma_spatial))

    @property
    def reaches(self) -> list[int]:
        """Half-widths of the window's rows −radius … radius."""
        r = self.radius
        return [r if self.window == "square" else math.isqrt(r * r - j * j) for j in range(-r, r + 1)]
