"""Options of how files are read and written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import files
from ..files import Format
from ..params.colours import AUTO, WORKING
from ..params.dither import Dither
from ..params.files import STREAM
from ..params.storage import USUAL, Storage

if TYPE_CHECKING:
    from ..params.kinds import Params
    from ..pixels.colour import Colour


@dataclass(frozen=True)
class Options:
    """Options of how files are read and written, whatever the work on them is.

    Attributes
    ----------
    layer : str, optional
        Which layer of a file that has several.
    drop_layers, layers : bool
        Whether other layers do not go to outputs, and whether any output could hold them: a job says so.
    space : str
        ``auto``: the work is done on light or on stored values, as it wants; ``linear`` or ``encoded``: on these.
    alpha : bool
        Whether alpha is kept.
    dtype : str, optional
        The depth of the output, by numpy's name. The default is that of the input, as near as the format can hold it.
    colour : str
        The colour space of the output, by a name in :mod:`gpuops.params.colours`.
    input_colour, usual_colour : str, optional
        What values of inputs are, whatever these say, and what they are if these say nothing: names in
        :data:`gpuops.params.colours.INPUTS`.
    working : str
        The primaries of the light that steps work on, by a name in :mod:`gpuops.params.colours`.
    storage : Storage
        The quality, subsampling, compression and gain map of the output.
    strip : bool
        Whether outputs are turned upright, and have no metadata but what says their colours.
    dither : Dither, optional
        The noise before colours are rounded to integers.
    format : str, optional
        The format of standard output, as a file's extension.
    overwrite : bool
        Whether files that exist may be replaced.
    repeat : int
        How often the work is done, for timing.
    memory : int, optional
        The bytes of the host's memory that pictures may take. The default is half of the machine's. Pictures that need
        more are read and written by rows where that is possible. Others are read as a whole all the same, but if a
        number is given they are refused.
    scratch : str, optional
        A folder for temporary files in place of memory.
    smaller_for : Params, optional
        The step that a JPEG's decoder may make the picture smaller for. A job whose first step allows it says so.
    fuse : bool
        Whether steps of a chain may join each other's launches, and read and write the file's pixels themselves.
    """

    layer: str | None = None
    drop_layers: bool = False
    layers: bool = False
    space: str = "auto"
    alpha: bool = True
    dtype: str | None = None
    colour: str = AUTO
    input_colour: str | None = None
    usual_colour: str | None = None
    working: str = WORKING[0]
    storage: Storage = USUAL
    strip: bool = False
    dither: Dither | None = None
    format: str | None = None
    overwrite: bool = False
    repeat: int = 1
    memory: int | None = None
    scratch: str | None = None
    smaller_for: Params | None = None
    fuse: bool = True

    @property
    def light(self) -> Colour:
        """The light that steps work on."""
        from ..pixels.spaces import working

        return working(self.working)

    def meant(self, picture: files.Picture) -> files.Picture:
        """Returns a picture that was read, whose values are what the options say."""
        from ..pixels.spaces import named

        name = self.input_colour or (self.usual_colour if picture.assumed else None)
        return picture if name is None else picture.meant(named(name))

    def format_of(self, path: str) -> Format:
        """Returns the format of an output."""
        gain_map = self.storage.gain_map
        if path == STREAM:
            return files.format_named(self.format or "", gain_map=gain_map)
        return files.format_of(path, gain_map=gain_map)

    def writes_data(self, path: str) -> bool:
        """Says whether an output's format holds numbers (spectra, coefficients) rather than just a picture."""
        return files.is_data_format(f"stdout.{self.format}" if path == STREAM else path)

    def depth_of(self, path: str, usual: str) -> str:
        """Returns the depth of an output: ``usual`` unless the options say another one, as near as its format has."""
        return files.output_dtype(self.format_of(path), self.dtype or usual).name
