"""The names of colour spaces that results can have. The spaces themselves are in :mod:`gpuops.pixels.spaces`."""

from __future__ import annotations

#: The default: sRGB for integers and light for floats, or the input's own space where values are stored ones.
AUTO = "auto"
#: The space of each input.
INPUT = "input"
#: Spaces for displays and files of integers.
SIGNALS = (
    "srgb", "display-p3", "adobe-rgb", "prophoto-rgb", "rec709", "rec2020", "rec2100-pq", "rec2100-hlg",
    "display-p3-pq",
)  # fmt: skip
#: Linear light of several primaries.
LIGHTS = ("linear", "linear-p3", "linear-rec2020", "acescg", "aces2065-1")
#: Numbers without a colour.
DATA = "data"
#: All that a user can name for what inputs hold.
INPUTS = (*SIGNALS, *LIGHTS, DATA)
#: The primaries of the light that steps work on; Rec. 709 is the default.
WORKING = ("rec709", "rec2020", "acescg")
#: All that a user can name for results.
NAMES = (AUTO, INPUT, *SIGNALS, *LIGHTS)
