"""clpix run: a recipe over inputs."""

from __future__ import annotations

from pathlib import Path

from . import options
from .shared import Shared


@options.command(
    examples=(
        "clpix run look.toml photo.jpg -o out.jpg",
        "clpix run look.toml photos/*.jpg -o looks/",
        "clpix run look.toml photo.jpg -o out.png --set blur.sigma=3",
    ),
    groups={"Recipe": ("changes",)},
)
@options.argument("recipe", metavar="RECIPE")
@options.pictures
@options.dithering
@options.chain
@options.click_option(
    "changes",
    ["--set"],
    multiple=True,
    metavar="STEP.KEY=VALUE",
    help="Change a value of the recipe, such as blur.sigma=3, or blur[1].sigma=3 for the second blur; may be repeated.",
)
def command(shared: Shared, recipe: str, changes: tuple[str, ...]) -> None:
    """Do what a recipe says on every input.

    A recipe is a TOML file that a command's --save-recipe has written. It has the line `schema = 1`, and a `[[step]]`
    for each operation, with its name as `op` and its options as keys.
    """
    from gpuops.chain import Chain
    from gpuops.params.files import read_text

    from .chains import process_chain

    text = read_text(recipe, "recipe")
    steps = Chain.from_toml(text, name=recipe, folder=str(Path(recipe).parent), changes=changes)
    process_chain(shared, steps, Path(recipe).stem, also_read=(recipe,))
