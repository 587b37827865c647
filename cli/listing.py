"""What an OpenColorIO config has, for `clpix ocio --list`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

# The option by its title, for the command's help.
GROUPS = {"Config": ("config", "list")}


class Listing(click.Option):
    """A flag that shows what the config has, in place of all work, and whatever else the command needs."""

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if opts.get(self.name or "") and not ctx.resilient_parsing:
            from gpuops.ocio import config

            click.echo(config.listing(opts.get("config")))
            ctx.exit()
        return super().handle_parse_result(ctx, opts, args)


#: Adds the flag to a command.
options = click.option(
    "--list",
    cls=Listing,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="Show the displays, views, looks and colour spaces of the config, and do nothing.",
)
