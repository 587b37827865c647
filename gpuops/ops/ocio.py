"""OpenColorIO: from one colour space of a config to another, or to a display."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Flag, Operation, Params, Text, Traits, later
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class OcioParams(Params):
    """Convert colours as an OpenColorIO config says: to a colour space, or to a view of a display.

    The config is a file (.ocio, .ocioz), the one that the environment's OCIO names, or a built-in one. Of these,
    studio-config-latest (or `studio`) and cg-config-latest (or `cg`) have the views of ACES 2.0. --list shows what a
    config has, and does nothing else. Without --to the result is for a display: the config's default display and view,
    unless --display and --view name others.

    --from names the colour space of the values that are stored in the file, whatever the file says. Without it the file
    says what its colours are. The step then gets linear Rec. 709 light, which the config has to know. The result's
    values go to the file as they are. If their space is a known one, such as sRGB, Display P3 or Rec. 2100 with PQ, the
    file gets its profile. Otherwise one line says that no profile tells what the values are.

    The transform is the one that OpenColorIO's shader for GPUs computes, with tables interpolated in float32. Alpha
    stays. Gray images stay gray: they get the luminance of the result.
    """

    config: str | None = Text("A file, or the name of a built-in config.  [default: $OCIO]", "CONFIG").field(
        None
    )
    source: str | None = Text(
        "The colour space of the image's values.  [default: what the file says]", "SPACE", option="from"
    ).field(None)
    to: str | None = Text("The colour space of the result.", "SPACE").field(None)
    display: str | None = Text("The display that the result is for.", "DISPLAY").field(None)
    view: str | None = Text("The view of that display.", "VIEW").field(None)
    look: str | None = Text("Looks to apply, with commas between them; -LOOK undoes one.", "LOOK").field(None)
    inverse: bool = Flag("Go the other way: from the result's space back to the image's.").field(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.to is not None and (self.display is not None or self.view is not None):
            raise ParameterError("--to names a colour space, and --display and --view a display: give one")


def ocio(gpu: Gpu, image: Image, params: OcioParams) -> Image:
    """Converts the colours of a planar float32 Image, straight where it has alpha; alpha is copied.

    Values are as they are with ``source``, or ``inverse``; else linear Rec. 709 light. Raises ParameterError for a
    config or names that there are not, and where the image is neither gray nor RGB.
    """
    from ..notes import note
    from ..ocio import transform
    from ..pixels.colour import LINEAR

    if not (params.source or params.inverse or image.space.colour == LINEAR):
        raise ParameterError("ocio gets values as they are stored: say by --from which colour space that is")
    conversion = transform.transform_of(gpu, params)
    result = transform.applied(gpu, image, conversion)
    if conversion.colour is None:
        note(f"no profile tells what {conversion.name} is: the result has none")
    light = params.inverse and params.source is None
    result.space = replace(
        image.space,
        colour=conversion.colour or transform.UNKNOWN,
        display=params.to is None and not params.inverse,
        levels=None,
        as_is=not light,
        unknown="" if conversion.colour else conversion.name,
    )
    return result


def _traits(params: OcioParams) -> Traits:
    stored = params.source is not None or params.inverse
    return Traits(
        "as is" if stored else "light",
        rec709=True,
        display=params.to is None and not params.inverse,
        asked=True,
        kind="pointwise",
    )


OPERATION = Operation(
    "ocio",
    OcioParams,
    ocio,
    traits=_traits,
    check=later("ocio.config", "processor"),
    groups={"Transform": ("from", "to", "display", "view", "look", "inverse")},
    examples=(
        "clpix ocio light.exr --config studio -o shown.png",
        "clpix ocio light.exr --config cg --to ACEScg -o acescg.exr",
        'clpix ocio photo.png --config cg --from "sRGB - Texture" --to ACES2065-1 -o aces.exr',
    ),
)
