"""The discrete wavelet transform in two dimensions, with PyWavelets' names, modes and coefficient structure."""

from __future__ import annotations

from .functions import dwt2, idwt2, iswt2, swt2, threshold, wavedec2, waverec2, wpdec2, wprec2

__all__ = ["dwt2", "idwt2", "iswt2", "swt2", "threshold", "wavedec2", "waverec2", "wpdec2", "wprec2"]
