"""OpenColorIO's configs (the extra ``ocio``): how one is found, what it has, and the transforms that it describes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, visible

if TYPE_CHECKING:
    from ..ops.ocio import OcioParams

#: Short names of built-in configs: the newest of their kind.
SHORT = {"studio": "studio-config-latest", "cg": "cg-config-latest"}
#: The environment variable that names the config.
VARIABLE = "OCIO"
#: The most views that a message names.
_FEW = 5
#: The name that the linear light of Rec. 709 has in the built-in configs.
LIGHT = "Linear Rec.709 (sRGB)"


def library() -> Any:
    """Returns OpenColorIO. Raises ParameterError where it is not installed."""
    try:
        import PyOpenColorIO
    except ImportError:
        raise ParameterError("ocio needs OpenColorIO: pip install 'clpix[ocio]'") from None
    PyOpenColorIO.SetLoggingLevel(PyOpenColorIO.LOGGING_LEVEL_NONE)  # what it has to say are errors here
    return PyOpenColorIO


def name_of(config: str | None) -> str:
    """Returns the file or the built-in config that an option names, or else the environment. Raises ParameterError."""
    name = config or os.environ.get(VARIABLE)
    if not name:
        raise ParameterError(
            "ocio has no config: give --config FILE, or a built-in one such as --config studio, or set $OCIO"
        )
    return SHORT.get(name, name)


def load(config: str | None) -> Any:
    """Returns a PyOpenColorIO.Config. Raises ParameterError where there is none, or it cannot be read."""
    name = name_of(config)
    return _loaded(name, os.stat(name).st_mtime_ns if os.path.isfile(name) else 0)


@cache
def _loaded(name: str, _modified: int) -> Any:
    ocio = library()
    with _told(name):
        if os.path.isfile(name) or name.startswith("ocio://"):
            return ocio.Config.CreateFromFile(name)
        known = [entry[0] for entry in ocio.BuiltinConfigRegistry().getBuiltinConfigs()]
        if name in (*known, *SHORT.values()):
            return ocio.Config.CreateFromBuiltinConfig(name)
    near = _near(name, [*SHORT, *known], "a file, studio or cg")
    raise ParameterError(f"there is no config {name!r}{near}")


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Makes an error of OpenColorIO one line that names the config."""
    ocio = library()
    try:
        yield
    except (ocio.Exception, ocio.ExceptionMissingFile) as error:
        raise ParameterError(f"{name}: {' '.join(str(error).split())}") from None


def _near(name: str, known: Iterable[str], otherwise: str) -> str:
    """Returns the end of a message on an unknown name: what was meant, or ``otherwise``."""
    lower = {other.lower(): other for other in known}
    close = [lower[guess] for guess in get_close_matches(name.lower(), lower, 3)]
    close += [other for key, other in lower.items() if name.lower() in key and other not in close]
    return f": did you mean {' or '.join(map(repr, close[:3]))}?" if close else f": give {otherwise}"


def listing(config: str | None) -> str:
    """Returns what a config has, for people: displays with their views, looks and colour spaces."""
    contents = load(config)
    lines = [f"config: {name_of(config)}", "displays and their views (the first ones are the defaults):"]
    displays = list(contents.getDisplays())
    default = contents.getDefaultDisplay()
    for display in sorted(displays, key=lambda name: name != default):
        views = sorted(contents.getViews(display), key=lambda name: name != contents.getDefaultView(display))
        lines += [f"  {display}", *(f"    {view}" for view in views)]
    lines += ["looks:", *(f"  {look}" for look in contents.getLookNames())]
    lines += ["colour spaces:", *(f"  {space}" for space in _spaces(contents))]
    return "\n".join(map(visible, lines))


def _spaces(config: Any) -> list[str]:
    ocio = library()
    return list(config.getColorSpaceNames(ocio.SEARCH_REFERENCE_SPACE_ALL, ocio.COLORSPACE_ACTIVE))


def space_in(config: Any, name: str, option: str) -> str:
    """Returns the name of a colour space by its name, alias or role. Raises ParameterError."""
    space = config.getColorSpace(name)
    if space is None:
        raise ParameterError(f"{option}: no colour space {name!r}{_near(name, _spaces(config), _SEE)}")
    return str(space.getName())


_SEE = "one of those that clpix ocio --list shows"


def light_in(config: Any, name: str) -> str:
    """Returns the colour space of a config that is linear light of Rec. 709. Raises ParameterError."""
    ocio = library()
    standard = ocio.Config.CreateFromBuiltinConfig(SHORT["cg"])
    try:
        return str(ocio.Config.IdentifyBuiltinColorSpace(config, standard, LIGHT))
    except ocio.Exception:
        raise ParameterError(
            f"{name}: does not say which of its colour spaces is linear Rec. 709 light: give --from"
        ) from None


def display_of(config: Any, params: OcioParams) -> tuple[str, str]:
    """Returns the display and the view that parameters name, or the defaults. Raises ParameterError."""
    display = params.display or str(config.getDefaultDisplay())
    if display not in (displays := list(config.getDisplays())):
        raise ParameterError(f"--display: no display {display!r}{_near(display, displays, _SEE)}")
    view = params.view or str(config.getDefaultView(display))
    if view not in (views := list(config.getViews(display))):
        there = ", ".join(map(repr, views)) if len(views) <= _FEW else _SEE
        raise ParameterError(f"--view: {display!r} has no view {view!r}{_near(view, views, there)}")
    return display, view


def look_of(config: Any, params: OcioParams) -> str:
    """Returns the looks that parameters name, such as "one, -two", which undoes two. Raises ParameterError."""
    looks = list(config.getLookNames())
    for part in (params.look or "").split(","):
        name = part.strip().lstrip("+-").strip()
        if name and name not in looks:
            raise ParameterError(f"--look: no look {name!r}{_near(name, looks, _SEE)}")
    return params.look or ""


def ends_of(config: Any, params: OcioParams) -> tuple[str, str]:
    """Returns the colour spaces that a transform, which is not inverted, leads from and to. Raises ParameterError."""
    if params.source is None:
        source = light_in(config, name_of(params.config))
    else:
        source = space_in(config, params.source, "--from")
    if params.to is not None:
        return source, space_in(config, params.to, "--to")
    display, view = display_of(config, params)
    space = str(config.getDisplayViewColorSpaceName(display, view))
    return source, display if space == "<USE_DISPLAY_NAME>" else space


def processor(params: OcioParams) -> Any:
    """Returns the PyOpenColorIO.Processor of parameters. Raises ParameterError for what the config does not have."""
    ocio, config = library(), load(params.config)
    source, target = ends_of(config, params)
    look = look_of(config, params)
    with _told(name_of(params.config)):
        if params.to is None:
            display, view = display_of(config, params)
            pipeline = ocio.LegacyViewingPipeline()
            pipeline.setDisplayViewTransform(ocio.DisplayViewTransform(source, display, view))
            pipeline.setLooksOverrideEnabled(bool(look))
            pipeline.setLooksOverride(look)
            transform = pipeline.getProcessor(config)
        elif look:
            transform = config.getProcessor(ocio.LookTransform(source, target, look))
        else:
            transform = config.getProcessor(source, target)
        if params.inverse:
            group = transform.createGroupTransform()
            group.setDirection(ocio.TRANSFORM_DIR_INVERSE)
            transform = config.getProcessor(group)
        return transform


def shader_of(params: OcioParams, function: str) -> Any:
    """Returns the PyOpenColorIO.GpuShaderDesc of a transform, whose function has this name."""
    ocio = library()
    with _told(name_of(params.config)):
        description = ocio.GpuShaderDesc.CreateShaderDesc(
            language=ocio.GPU_LANGUAGE_GLSL_4_0, functionName=function, resourcePrefix="ocio_of_"
        )
        fixed = int(ocio.OPTIMIZATION_DEFAULT) | int(ocio.OPTIMIZATION_NO_DYNAMIC_PROPERTIES)
        program = processor(params).getOptimizedGPUProcessor(ocio.OptimizationFlags(fixed))
        program.extractGpuShaderInfo(description)
        return description
