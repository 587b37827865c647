"""Parameters of the Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ParameterError, check_name
from ..records import dataclass
from .files import FileOperand
from .kinds import Choice, Params
from .notations import Written

# The places of the factor 1/n, as scipy.fft names them.
NORMS = ("ortho", "backward", "forward")
# The memory through which the stages of a transform exchange values.
METHODS = ("auto", "local", "global")
# The choices of the largest radix.
RADICES = ("auto", "2", "4", "8", "16", "32")
# The sources of twiddle factors.
TWIDDLES = ("auto", "table", "compute")
# The ways to compute a radix that is not prime.
BUTTERFLIES = ("subdivided", "direct")


@dataclass(frozen=True)
class FftParams(Params):
    """The way to compute transforms; their results do not depend on it.

    Attributes
    ----------
    method
        ``local`` has one dispatch for each axis, which exchanges values through local memory. ``global`` has one
        dispatch for each stage, through global memory. ``auto`` suits the device: on a CPU whose compiler
        knows vectors each work-item takes whole rows and columns, as lanes; elsewhere it is ``local``.
    radix
        The largest radix: 2, 4, 8, 16 or 32, taken as often as it divides the length. ``auto`` is fast: up to 8 on CPUs
        and 32 elsewhere (16 in double precision). Prime factors up to 199 have a radix of their own; with ``global`` on
        a GPU those up to 61 (29 in double precision). Lengths with larger prime factors are transformed by a
        convolution (Bluestein), and so are some with two large prime factors where work-items share butterflies.
    twiddle
        With ``table``, twiddle factors are read from a table, correctly rounded. With ``compute``, polynomials compute
        them where they are used. ``auto`` is the table, which is more accurate.
    butterfly
        How a work-item computes a radix that is not prime. ``subdivided`` makes transforms of 4 and 2 in its registers.
        ``direct`` sums all values times their roots for each result, which takes more arithmetic.
    """

    method: str = Choice("The kernels that compute the transform.", METHODS).field("auto")
    radix: str = Choice("The largest radix.", RADICES).field("auto")
    twiddle: str = Choice("", TWIDDLES).field("auto")
    butterfly: str = "subdivided"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("butterfly", self.butterfly, BUTTERFLIES)


# The windows that an image may be multiplied by.
WINDOWS = ("none", "hann", "hamming", "blackman")
# The real numbers that a picture may show of a spectrum: ln |F|, |F|, the angle in radians, |F|², both parts of F.
VIEWS = ("log-magnitude", "magnitude", "phase", "power", "real", "imag")
# Those that change their sign from a frequency of a real image to the opposite one.
ODD = ("phase", "imag")
# The kinds of filters.
FILTERS = ("lowpass", "highpass", "bandpass", "bandstop", "notch")
# The shapes of a filter's edge.
SHAPES = ("gaussian", "butterworth", "ideal")
# The precisions of a spectrum.
PRECISIONS = ("half", "single", "double")


# The radius of a notch that is given by its place alone.
NOTCH_RADIUS = 0.02
# The most notches of a filter.
MOST_NOTCHES = 64


@dataclass(frozen=True)
class FrequencyFilter:
    """A filter of frequencies, in cycles per pixel (0.5 is the finest that pixels can show).

    Attributes
    ----------
    kind
        ``lowpass`` keeps frequencies below ``high``, ``highpass`` those above ``low``, ``bandpass`` those between,
        ``bandstop`` all but those between, and ``notch`` all but those near its ``notches``.
    shape
        The shape of the lowpass L(r) with cutoff c, which is ½ at r = c: ``gaussian`` is 2^−(r/c)², ``butterworth`` is
        1 / (1 + (r/c)^2n) with n = ``order``, and ``ideal`` is 1 up to c and 0 above. A highpass is 1 − L, a bandpass
        the product of a lowpass and a highpass, a bandstop 1 − that, and a notch the product of a highpass around each
        of its places and around their mirror images.
    notches : ((x, y, radius), …)
        The places of a notch filter, and the cutoff around each; −(x, y) belongs to (x, y).
    """

    kind: str
    low: float = 0.0
    high: float = 0.0
    notches: tuple[tuple[float, float, float], ...] = ()
    shape: str = "gaussian"
    order: int = 2

    def __post_init__(self) -> None:
        check_name("kind of filter", self.kind, FILTERS)
        check_name("shape of filter", self.shape, SHAPES)
        radii = tuple(radius for *_, radius in self.notches)
        used = {"lowpass": (self.high,), "highpass": (self.low,), "notch": radii}
        for cutoff in used.get(self.kind, (self.low, self.high)):
            if not 0 < cutoff <= 1:
                raise ParameterError(f"a cutoff is in cycles per pixel, above 0 to 1, not {cutoff}")
        if self.kind in ("bandpass", "bandstop") and self.low >= self.high:
            raise ParameterError(f"a band from {self.low} to {self.high} is empty: give LOW:HIGH")
        if (self.kind == "notch") != bool(self.notches) or len(self.notches) > MOST_NOTCHES:
            raise ParameterError(f"a notch filter has 1 to {MOST_NOTCHES} places, and others have none")
        for x, y, _ in self.notches:
            if not (abs(x) <= 0.5 and abs(y) <= 0.5):
                raise ParameterError(f"a notch lies at frequencies from −0.5 to 0.5, not at {x:g},{y:g}")
        if not 1 <= self.order <= 16:
            raise ParameterError(f"the order of a Butterworth filter is 1 to 16, not {self.order}")


# How each kind of filter has its cutoff written, where that is not one number.
_FORMS = {"notch": "FX,FY or FX,FY,RADIUS", "bandpass": "LOW:HIGH", "bandstop": "LOW:HIGH"}


def filter_option(
    kind: str, cutoffs: str | Sequence[str], shape: str = "gaussian", order: int = 2
) -> FrequencyFilter:
    """Makes a filter of the words of the command line.

    A cutoff is ``F``, for a band ``LOW:HIGH``, and for a notch ``FX,FY[,RADIUS]``, of which there may be several.
    """
    (cutoff, *more) = words = [cutoffs] if isinstance(cutoffs, str) else list(cutoffs)
    if more and kind != "notch":
        raise ParameterError(f"a {kind} has one --cutoff, not {len(words)}: only a notch may have several")
    notches: tuple[tuple[float, float, float], ...] = ()
    low = high = 0.0
    try:
        if kind == "notch":
            notches = tuple(map(_notch, words))
        elif kind in ("bandpass", "bandstop"):
            low, high = map(float, cutoff.split(":"))
        else:
            low = high = float(cutoff)
    except ValueError:
        form = _FORMS.get(kind, "one number")
        wrong = " ".join(words)
        raise ParameterError(f"--cutoff of a {kind} is {form}, in cycles per pixel, not {wrong!r}") from None
    return FrequencyFilter(kind, low, high, notches, shape, order)


def _notch(text: str) -> tuple[float, float, float]:
    x, y, *rest = map(float, text.split(","))
    (radius,) = rest or [NOTCH_RADIUS]
    return x, y, radius


def _padding(text: str) -> str:
    number = text.isascii() and text.isdigit() and len(text) < 10
    if text not in ("none", "pow2", "fast") and not number:
        raise ParameterError(f"--pad is none, pow2, fast or a number of pixels, not {text!r:.40}")
    return text


@dataclass(frozen=True)
class SpectrumParams(Params):
    """The definition of an image's spectrum, which a spectrum file records.

    Attributes
    ----------
    norm
        The place of the factor 1/n, as in scipy.fft.
    half
        Whether only columns 0 … n // 2 are kept: the others of a real image's spectrum follow, X[−k] = conj X[k].
    shift
        Whether frequency 0 is in the middle (of the rows only, where half of the columns are kept).
    window
        The window by which the image is multiplied, on both axes, before the transform.
    pad
        The zeros that continue the image to the right and below: ``none``; up to the next power of two (``pow2``) or
        the next fast length (``fast``) of each axis; or a number of pixels.
    filter, mask
        The filter that multiplies the spectrum, and the picture of factors that does, with frequency 0 in the middle.
    precision
        ``half`` stores the spectrum in 16 bits, ``double`` computes and stores it in 64.
    """

    norm: str = Choice("The scaling, as in scipy.fft.", NORMS).field("ortho")
    half: bool = True
    shift: bool = False
    window: str = Choice("", WINDOWS).field("none")
    pad: str = Written("Add zeros to the right and below.", "none|pow2|fast|N", _padding, hidden=False).field(
        "none"
    )
    filter: FrequencyFilter | None = None
    mask: FileOperand | None = None
    precision: str = Choice(
        "The bits of stored numbers, also between the axes: half has 16, double 64 and computes with 64.",
        PRECISIONS,
    ).field("single")
    how: FftParams = FftParams()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.precision == "half" and self.norm != "ortho":
            raise ParameterError(f"--precision half needs --norm ortho: with {self.norm!r} values do not fit")
