"""The command ``clpix help``."""

from __future__ import annotations

import click

from . import commands, help_page, man, options

# The word that stands for the options that commands share.
_SHARED = "options"


def _names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Returns the words that may follow, for a shell that completes."""
    program = ctx.find_root().command
    assert isinstance(program, click.Group)
    return [name for name in (*program.list_commands(ctx), _SHARED) if name.startswith(incomplete)]


@click.command(
    cls=commands.Strict,
    examples=("clpix help blur", "clpix help --all bench fft", "clpix help options", "clpix help --man man1"),
)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_names)
@click.option("--all", "whole", is_flag=True, help="Explain every option.")
@click.option(
    "--man",
    "folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write the man pages of all commands into this folder, such as ~/.local/share/man/man1.",
)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], whole: bool, folder: str | None) -> None:
    """Show what a command does, as its --help; `clpix help options` explains the options that commands share."""
    if folder is not None:
        if words or whole:
            ctx.fail("--man writes the pages of all commands: leave out all else")
        click.echo(f"{folder}: {len(man.write(ctx.find_root(), folder))} man pages")
        return
    width = ctx.make_formatter().width
    if words == (_SHARED,):
        click.echo(help_page.shared(options.all_shared(), ctx, width))
        return
    assert ctx.parent is not None
    found = _found(ctx.parent, words)
    if not whole:
        click.echo(found.get_help())
        return
    pages = []
    for path, one in commands.leaves(found.command, found):
        with click.Context(one, found.parent, " ".join((found.info_name or "", *path)).strip()) as context:
            assert isinstance(one, commands.Strict)
            pages.append(help_page.whole(one, context, width))
    click.echo("\n\n\n".join(pages))


def _found(ctx: click.Context, words: tuple[str, ...]) -> click.Context:
    """Returns a context of the command that words call."""
    for word in words:
        group = ctx.command
        if not isinstance(group, commands.CommandGroup):
            ctx.fail(f"{ctx.command_path} has no subcommands: leave out {word!r}")
        _, command, _ = commands.CommandGroup.resolve_command(group, ctx, [word])
        assert command is not None
        ctx = click.Context(command, ctx, word)
    return ctx
