"""The parameters of bloom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ParameterError
from ..records import dataclass
from .exposure import EXPOSURE
from .files import FileOperand
from .kinds import Choice, Flag, Given, Number, Params, Whole, d3d11
from .notations import File, Written
from .operators import OPERATORS
from .tonemap import TonemapParams

# The ways to compute the glow.
METHODS = ("mip", "gaussians", "fft")
# The ways to lay the glow over the image.
BLENDS = ("energy", "add")
# The ways in which the filters read neighbours.
READS = ("auto", "local", "direct")
# The borders that bloom knows.
BORDERS = ("reflect", "wrap-x")
# The default share of the light that the glow gets.
STRENGTH = 0.1
# The default radius, as a fraction of the image height.
RADIUS = 0.1

# The options of a starburst's aperture.
_APERTURE = ("blades", "blade_angle", "roundness")

#: The kinds of an aperture's numbers, which are options of bloom.
_BLADES = Whole("Blades of the aperture: N rays if even, 2N if odd.", 3, 32)
_ANGLE = Number("Direction of a ray, counter-clockwise from the x axis.", -1e6, 1e6, "degrees", "DEG")
_ROUNDNESS = Number("The aperture's shape: 0 a polygon, 1 a circle; between, rays widen.", 0, 1, symbol="R")


@dataclass(frozen=True)
class Aperture(Params):
    """The opening that a lens's iris leaves, whose diffraction makes the rays around bright light.

    A blade with a straight edge throws light to both of its sides, at right angles to the edge. So an even number of
    blades makes as many rays, as opposite blades' rays coincide, and an odd number twice as many.

    Attributes
    ----------
    blades : int
        The number of the polygon's corners, 3 … 32.
    angle : float
        The direction of one ray in degrees, counter-clockwise from a row's direction.
    roundness : float
        0 has straight blades, a polygon; 1 is a circle, without rays. Between them every edge is the arc of a circle
        through two of the polygon's corners, which turns a ray into a fan.
    """

    blades: int = _BLADES.field(6)
    angle: float = _ANGLE.field(90.0)  # up
    roundness: float = _ROUNDNESS.field(0.0)


@dataclass(frozen=True)
class BloomParams(Params):
    """Lay a glow over images, in linear light, unclipped and with premultiplied alpha.

    Without a threshold all light glows, as in a lens. A small strength is then enough. NaN and infinite pixels give no
    glow.

    Notes
    -----
    The glow is a sum of eight Gaussians with σ = radius·height, half of that, a quarter, …, each with the same
    share of the light, so that the glow falls with the distance r about as 1/r², as glare in lenses and eyes does
    (Stiles and Holladay; Spencer et al., Physically-Based Glare Effects, SIGGRAPH 1995). Measured in image heights
    it does not depend on the resolution; light that would spread by less than a pixel stays in its pixel.

    Attributes
    ----------
    threshold : float
        Light at or below this value (linear, after exposure, brightest channel) does not glow; with 0 all light does.
    exposure : float
        The exposure in stops that threshold and karis refer to. It does not change the image itself.
    knee : float
        Half-width of the soft transition around the threshold as a fraction of it, 0 (hard) … 1.
    strength : float
        Share of the light that the glow gets; 0 gives exactly the input.
    radius : float
        A fraction of the image height, 0 … 1. It is σ of the widest Gaussian; within a starburst's radius lies 99 % of
        the green light of a round aperture. A kernel image does not use it.
    blend : str
        ``energy``: light that glows leaves its place, so that the sum of light stays. ``add``: the glow is added.
    method : str
        ``mip`` goes down and up a chain of half-size images, whose levels are nearly Gaussians. ``gaussians`` computes
        the sum exactly and slowly. ``fft`` takes a kernel image in place of the Gaussians, or a starburst.
    karis : bool
        Whether ``mip`` weighs by 1/(1 + luma) on the way to the first half-size image, so that single hot pixels glow
        four times less and flicker less from frame to frame.
    border : str
        The values outside the image: ``reflect`` mirrors it; with ``wrap-x`` its left and right edges are neighbours,
        as in a full panorama. Starbursts have darkness where others mirror.
    reads : str
        ``local`` reads the filters' neighbours through local memory, ``direct`` from global memory. ``auto`` is direct
        on CPUs and local elsewhere.
    blades, blade_angle, roundness
        The :class:`Aperture` of the lens whose diffraction makes the starburst, :mod:`gpuops.glow.starburst`, for
        ``method="fft"`` without a kernel image.
    """

    threshold: float = Number(
        "Only light above this glows. It is linear, after exposure, of the brightest channel (1 is a display's "
        "white).",
        0,
        1e6,
    ).field(0.0)
    knee: float = Number(
        "Softness of the threshold. It is half the width of the transition, as a fraction of the threshold.",
        0,
        1,
    ).field(0.5)
    strength: float = Number(
        "Share of the light that goes into the glow; 0 gives the input exactly.", 0, 100
    ).field(STRENGTH)
    radius: float = Number(
        "Reach of the glow, as a share of the height: σ of its widest part. A starburst of a "
        "round aperture has 99 % of its green light within it.",
        0,
        1,
    ).field(RADIUS)
    blend: str = Choice(
        "energy takes the glow's light from where it came. add puts the glow on top.", BLENDS
    ).field("energy")
    method: str = Choice(
        "mip is a chain of half-size images, gaussians the exact sum (slow), and fft a starburst (the light that "
        "the lens's aperture diffracts) or --kernel. The default is mip, or fft if --kernel or an aperture is "
        "given.",
        METHODS,
    ).field("mip")
    karis: bool = Flag("Damp the glow of single hot pixels.").field(True)
    reads: str = Choice("The filters of mip read through local memory, or directly.", READS).field("auto")
    border: str = Choice(
        "What is beyond the edges: the mirrored image, or with wrap-x (for panoramas) the opposite side.",
        BORDERS,
    ).field("reflect")
    exposure: float | None = replace(
        EXPOSURE,
        help="The exposure in stops, for --threshold and --tonemap. auto meters the input.  [default: auto with "
        "--tonemap, or 0]",
    ).field(0.0)
    blades: int = _BLADES.field(Aperture.blades)
    blade_angle: float = _ANGLE.field(Aperture.angle)
    roundness: float = _ROUNDNESS.field(Aperture.roundness)
    kernel: FileOperand | None = File("Shape of the glow, pixel for pixel, not a starburst.").field(None)
    tonemap: str | None = Written(
        "Tone-map the result before it leaves the device (as `clpix tonemap`, with its defaults): "
        f"{', '.join(OPERATORS)}.",
        "OPERATOR",
        str,
    ).field(None)
    preset: str | None = d3d11("bloom").field(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blend == "energy" and self.strength > 1:
            raise ParameterError(f"strength must be 0 … 1 with the blend energy, not {self.strength}")
        if self.tonemap is not None:
            _ = self.display  # which checks the operator's name
        if self.kernel is not None and self.method != "fft":
            raise ParameterError(f"a kernel image needs the method fft, not {self.method}")

    @classmethod
    def of_options(cls, given: Given) -> BloomParams:
        if given.get("method", "fft") != "fft":
            given.refuse(f"only --method fft has that, not {given['method']}", "kernel", *_APERTURE)
        usual = {"exposure": "auto"} if "tonemap" in given else {}
        if not {"kernel", *_APERTURE}.isdisjoint(given):
            usual["method"] = "fft"
        params = super().of_options(given.with_usual(usual | given))
        params.check_all(given)
        return params

    def check_all(self, given: Given) -> None:
        """Raises ParameterError where an option that somebody wrote can have no effect beside the others."""
        shaping = (
            "threshold", "knee", "strength", "radius", "blend", "method", "kernel", "karis", "border",
            *_APERTURE,
        )  # fmt: skip
        if self.preset is not None:
            given.refuse("--preset fixes everything but --reads", *shaping)
            if self.tonemap is None:
                given.refuse("--preset meters by itself without --tonemap", "exposure", even_auto=True)
        if "threshold" not in given:
            given.refuse("without --threshold there is no transition", "knee")
        if self.kernel is not None:
            given.refuse("the pixels of --kernel are the image's pixels", "radius")
            given.refuse("--kernel is the shape of the glow itself", *_APERTURE)
        if self.method != "mip":
            given.refuse(f"only --method mip has that, not {self.method}", "karis", "reads")
        if self.tonemap is None and "threshold" not in given and not (self.karis and self.method == "mip"):
            given.refuse("nothing here depends on exposure", "exposure", even_auto=True)

    def written(self) -> dict[str, Any]:
        options = super().written()
        if self.tonemap is not None and self.exposure == 0:  # without it the image would be metered
            options["exposure"] = "0.0"
        return options

    @property
    def aperture(self) -> Aperture:
        """The aperture of a starburst."""
        return Aperture(self.blades, self.blade_angle, self.roundness)

    @property
    def display(self) -> TonemapParams | None:
        """The tone mapping of the result, to a display's light, if there is one."""
        if self.tonemap is None:
            return None
        return TonemapParams(operator=self.tonemap, exposure=self.exposure or 0.0, transfer="linear")

    @property
    def scale(self) -> float:
        """The exposure as a factor, which has to be known."""
        assert self.exposure is not None, "the exposure is to be metered first"
        return float(2.0**self.exposure)
