"""Little CMS, as imagecodecs brings it, as the reference of colours by ICC profiles."""

from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray


def xyz(profile: bytes, values: NDArray[Any], space: str) -> NDArray[Any]:
    """CIE XYZ under D50 in double, for the relative colorimetric intent, of values of ``space``: rgb, cmyk or gray."""
    found = imagecodecs.cms_transform(
        values,
        profile,
        imagecodecs.cms_profile("xyz"),
        colorspace=space,
        outcolorspace="xyz",
        outdtype="float64",
        intent=imagecodecs.CMS.INTENT.RELATIVE_COLORIMETRIC,
        flags=imagecodecs.CMS.FLAGS.NOOPTIMIZE,
    )
    return np.asarray(found)
