"""PBM, whose content is that of PNM."""

from __future__ import annotations

from .pnm import read
from .record import Format

FORMAT = Format("PBM", (".pbm",), ("uint8",), read, channels=(1,))
