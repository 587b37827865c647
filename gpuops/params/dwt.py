"""Parameters of the wavelet transform: names as PyWavelets has them, with the synonyms people use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import SupportsIndex

from ..errors import ParameterError, check_name, standard_name
from ..records import dataclass
from .kinds import Choice, Params

# The filters of VC-2, SMPTE ST 2042-1, in the order of its table 12.1.
_VC2 = ("dd9/7", "5/3", "dd13/7", "haar", "haar-shift", "fidelity", "9/7")
# The wavelets with lifting steps and a reversible integer form.
_REVERSIBLE = ("haar", "bior2.2", "dd9/7", "dd13/7", *(f"vc2-{name}" for name in _VC2))
# All wavelets with lifting steps.
_LIFTED = (*_REVERSIBLE[:2], "bior4.4", *_REVERSIBLE[2:])
# The orders of the biorthogonal spline wavelets.
_SPLINES = ("1.3", "1.5", "2.2", "2.4", "2.6", "2.8", "3.1", "3.3", "3.5", "3.7", "3.9", "4.4", "5.5", "6.8")
# The wavelets that have filters.
_FILTERED = (
    *(f"db{n}" for n in range(2, 39)),
    *(f"sym{n}" for n in range(2, 21)),
    *(f"coif{n}" for n in range(1, 18)),
    *(f"bior{n}" for n in _SPLINES),
    *(f"rbio{n}" for n in _SPLINES),
    "dmey",
)
# Each wavelet, and whether it has lifting steps and a reversible integer form; gpuops/wavelets/wavelets.py
# defines them.
WAVELETS: Mapping[str, tuple[bool, bool]] = {
    **{name: (True, name in _REVERSIBLE) for name in _LIFTED},
    **{name: (False, False) for name in _FILTERED if name not in _LIFTED},
}
# The wavelets as messages name them, families as ranges.
FAMILIES = (*_LIFTED, "db1–db38", "sym2–sym20", "coif1–coif17", "bior1.1–bior6.8", "rbio1.1–rbio6.8", "dmey")
# Other names of wavelets.
WAVELET_SYNONYMS = {
    "db1": "haar", "bior1.1": "haar", "rbio1.1": "haar",
    "cdf5/3": "bior2.2", "5/3": "bior2.2", "legall": "bior2.2",
    "cdf9/7": "bior4.4", "9/7": "bior4.4",
    "dd9,7": "dd9/7", "dd13,7": "dd13/7", "13/7": "dd13/7",
    "vc2-legall": "vc2-5/3", "fidelity": "vc2-fidelity",
}  # fmt: skip

# The samples beyond the edges of abcd, by mode. All but the last three give more coefficients than samples.
MODES = {
    "zero": "0 0 | a b c d | 0 0",
    "constant": "a a | a b c d | d d",
    "symmetric": "b a | a b c d | d c",
    "periodic": "c d | a b c d | a b",
    "smooth": "a straight line through the last two samples",
    "reflect": "c b | a b c d | c b",
    "antisymmetric": "-b -a | a b c d | -d -c",
    "antireflect": "2a-c 2a-b | a b c d | 2d-c 2d-b",
    "periodization": "c d | a b c d | a b, where an odd length is first made even by repeating the last sample",
    "mirror": "c b | a b c d | c b as in JPEG 2000 (for haar b a | a b c d | d c): as many coefficients as samples",
    "vc2": "a b a b | a b c d | c d c d, anew at each lifting step, as in VC-2: as many coefficients as samples",
}
# Other names of modes.
MODE_SYNONYMS = {
    "zpd": "zero", "cpd": "constant", "sym": "symmetric", "ppd": "periodic", "sp1": "smooth", "per": "periodization",
    "asym": "antisymmetric", "jpeg2000": "mirror",
}  # fmt: skip
# The ways to compute a transform.
METHODS = ("auto", "lifting", "filterbank", "laan", "in-place", "strip")
# The methods that can overwrite the image.
IN_PLACE = ("in-place", "strip")
# The number of levels unless another one is given.
DEFAULT_LEVELS = 5
# The kinds of memory that hold tiles.
TILES = ("auto", "local", "private")
# The curves by which coefficients shrink.
SHAPES = ("soft", "hard", "garrote")
# The estimates of the threshold.
ESTIMATES = ("visu", "bayes")
# The names that ask for a curve, or for an estimate with the curve soft.
SHRINKS = (*SHAPES, *ESTIMATES)
# The spaces in which colours are denoised.
DENOISE_SPACES = ("opponent", "ycbcr", "rgb")
# The largest number of shifts that are averaged.
MAX_SPINS = 64
# The largest number of levels.
MAX_LEVELS = 40


def wavelet_name(name: str) -> str:
    """The standard name of a wavelet. Raises ParameterError for an unknown one."""
    return standard_name("wavelet", name, WAVELETS, WAVELET_SYNONYMS, FAMILIES)


def default_mode(wavelet: str) -> str:
    """The mode of a wavelet for which none is given."""
    return "mirror" if WAVELETS[wavelet_name(wavelet)][0] else "symmetric"


def mode_name(name: str) -> str:
    """The standard name of an extension mode. Raises ParameterError for an unknown one."""
    return standard_name("mode", name, MODES, MODE_SYNONYMS)


@dataclass(frozen=True)
class DwtParams(Params):
    """A two-dimensional wavelet transform.

    Attributes
    ----------
    wavelet, mode
        Names of :data:`WAVELETS` and :data:`MODES`, or their synonyms.
    levels : int, optional
        How often the approximation is transformed again. None is as often as makes sense: PyWavelets'
        ``dwtn_max_level``, or in the modes ``mirror`` and ``vc2`` until the shorter side is one sample.
    method
        ``lifting`` fuses all steps, for floats along both axes in one pass. ``filterbank`` convolves, for every
        wavelet. ``laan`` does all steps of an axis in one kernel in local memory, out of place (van der Laan et al.
        2011). ``in-place`` permutes even samples to the front by chunks, then has a kernel a lifting step, all in the
        same memory (Ikuzawa et al.). ``strip`` is lifting in the same memory. ``auto`` is lifting where the wavelet
        has it, else filterbank.
    integer : bool
        The reversible transform of whole numbers. ``bior2.2`` is JPEG 2000's, ``haar`` the S transform, ``dd9/7`` and
        ``dd13/7`` round as VC-2 does; low coefficients keep the samples' range. The ``vc2-`` wavelets are VC-2's
        own: rows before columns and, but for ``vc2-haar`` and ``vc2-fidelity``, all values doubled before each
        level, so that less is lost to rounding when coefficients are quantised; with the mode ``vc2`` they give
        its coefficients bit for bit. Values beyond 32 bits wrap.
    tile
        ``auto`` lifts floats in one pass over both axes, where the device can. Otherwise, and for whole numbers and
        the filter bank, one axis follows the other: the tile is in ``local`` memory, shared by a work-group, which auto
        takes on GPUs, or ``private`` to a work-item, which it takes on CPUs (measured: docs/benchmarks).
    """

    wavelet: str = "bior4.4"
    mode: str = "mirror"
    levels: int | None = None
    method: str = Choice("The kernels that compute the transform.", METHODS).field("auto")
    integer: bool = False
    tile: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "wavelet", wavelet_name(self.wavelet))
        object.__setattr__(self, "mode", mode_name(self.mode))
        lifts, whole = WAVELETS[self.wavelet]
        check_name("tile", self.tile, TILES)
        if self.method == "auto":
            object.__setattr__(self, "method", "lifting" if lifts else "filterbank")
        whole_number = self.levels is None or isinstance(self.levels, SupportsIndex)
        if not whole_number or not 0 <= (self.levels or 0) <= MAX_LEVELS:
            raise ParameterError(f"levels must be a whole number from 0 to {MAX_LEVELS}, not {self.levels}")
        if self.method not in ("auto", "filterbank") and not lifts:
            raise ParameterError(f"{self.wavelet} has no lifting steps here: use --method filterbank")
        if self.critical and not lifts:
            raise ParameterError(f"{self.mode} needs lifting steps: use symmetric or periodization")
        if self.method in ("laan", *IN_PLACE):
            if self.wavelet.startswith("vc2-"):
                raise ParameterError(f"{self.method} does not know {self.wavelet}: use --method lifting")
            if self.mode not in ("mirror", "periodization"):
                raise ParameterError(f"{self.method} knows the modes mirror and periodization alone")
        if self.integer and not whole:
            names = ", ".join(_REVERSIBLE)
            raise ParameterError(f"{self.wavelet} has no reversible integer form: use one of {names}")
        if self.integer and self.method in ("filterbank", "strip"):
            raise ParameterError("the integer transform works by lifting: use --method lifting")

    @property
    def critical(self) -> bool:
        """Whether an odd length has one low coefficient more than high ones: as many together as samples."""
        return self.mode in ("mirror", "vc2")


@dataclass(frozen=True)
class ShrinkParams:
    """Shrinking of detail coefficients, which removes noise.

    Attributes
    ----------
    kind
        The change of a coefficient x by the threshold t. With ``soft``, it moves towards zero by t. With ``hard``, it
        stays, or becomes zero below t. With ``garrote``, it becomes x − t²/x, or zero below t (Gao 1998). ``visu`` and
        ``bayes`` are soft, with this estimate.
    threshold : float, optional
        The threshold in units of the coefficients; where it is estimated, a factor on the estimate (None is 1).
    estimate : optional
        The way in which the threshold follows from the noise. ``visu`` is σ√(2 ln N) for all bands (VisuShrink; Donoho
        and Johnstone 1994), ``bayes`` is σ²/σ_x for each band (BayesShrink; Chang, Yu and Vetterli 2000).
    space
        The planes that are shrunk, each with thresholds of its own. ``rgb`` are those of the image, whatever they mean.
        ``opponent`` and ``ycbcr`` are combinations of red, green and blue (:mod:`gpuops.wavelets.shrink`): the sum, or
        luma, and two differences, which have less detail and as much noise. Gray has one plane in any of them.
    noise : float, optional
        The noise's standard deviation in the image, for an estimate of the threshold. None is measured.
    """

    kind: str = "soft"
    threshold: float | None = None
    estimate: str | None = None
    space: str = "rgb"
    noise: float | None = None

    def __post_init__(self) -> None:
        check_name("way to shrink", self.kind, SHRINKS)
        if self.kind in ESTIMATES:
            if self.estimate not in (None, self.kind):
                raise ParameterError(f"{self.kind} and {self.estimate} are two estimates: give one")
            object.__setattr__(self, "estimate", self.kind)
            object.__setattr__(self, "kind", "soft")
        if self.estimate is not None:
            check_name("estimate", self.estimate, ESTIMATES)
        check_name("space to denoise in", self.space, DENOISE_SPACES)
        if self.threshold is None and self.estimate is None:
            raise ParameterError(f"--shrink {self.kind} needs a threshold: T, or {' or '.join(ESTIMATES)}")
        if self.threshold is not None and not (math.isfinite(self.threshold) and self.threshold >= 0):
            raise ParameterError(f"the threshold must be a finite number, 0 or more, not {self.threshold}")


def threshold_option(text: str) -> tuple[float | None, str | None]:
    """``"T"``, ``"ESTIMATE"`` or ``"ESTIMATE:FACTOR"`` → (T or factor, estimate), for :class:`ShrinkParams`.

    Raises ParameterError for anything else.
    """
    with suppress(ValueError):
        return float(text), None
    name, colon, factor = text.partition(":")
    try:
        number = float(factor) if colon else None
    except ValueError:
        raise ParameterError(f"threshold {text!r}: what follows the colon must be a number") from None
    return number, standard_name("threshold", name, ESTIMATES, {"visushrink": "visu", "bayesshrink": "bayes"})


def shrink_option(
    shrink: str | None, threshold: str | None, space: str, noise: float | None = None
) -> ShrinkParams:
    """Makes :class:`ShrinkParams` of the words of the command line. Shrinking is soft by default."""
    amount, estimate = (None, None) if threshold is None else threshold_option(threshold)
    return ShrinkParams(shrink or SHAPES[0], amount, estimate, space, noise)


@dataclass(frozen=True)
class KeepParams:
    """The largest ``percent`` % of all coefficients, 0 < percent ≤ 100, which are the best approximation by so many."""

    percent: float

    def __post_init__(self) -> None:
        if not 0.0 < self.percent <= 100.0:
            raise ParameterError(f"keep more than 0 and at most 100 % of coefficients, not {self.percent:g}")
