"""A step of a chain that writes what is there at its place, and leaves it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, Flag, Operation, Params, Traits, Whole, Written
from ..params.storage import QUALITIES, SUBSAMPLINGS, Storage
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class WriteParams(Params):
    """Write what the chain has come to: ``then write FILE``; for several inputs FILE is a template, as of -o.

    The file has its own quality, subsampling, compression and gain map: those of the command are for its output.
    """

    output: str = Written("The file, or a template of {stem} {name} {ext} {op} {index}.", "FILE", str).field()
    quality: int | None = Whole("Of JPEG and WebP.", *QUALITIES).field(None)
    subsampling: str | None = Choice("Of JPEG.", SUBSAMPLINGS).field(None)
    compression: str | None = Written("As of the command.", "NAME[:LEVEL]", str).field(None)
    gain_map: bool = Flag("As of the command.").field(False)

    @property
    def storage(self) -> Storage:
        """How the file is stored."""
        return Storage(self.quality, self.subsampling, self.compression, self.gain_map)


def _write(gpu: Gpu, image: Image, params: WriteParams) -> Image:
    """Gives the image back: whoever runs the chain knows the file's metadata, and writes it."""
    return image


OPERATION = Operation(
    "write",
    WriteParams,
    _write,
    traits=Traits("stored", kind="pointwise", keeps_range=True, bytes_per_value=0.0),
    writes=True,
)
