"""The entry point: a group that imports a command only when it is used, and the one place where errors become
exit codes."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gpuops import notes
from gpuops.errors import GpuopsError
from gpuops.ops import OPERATIONS
from gpuops.process import ahead, memory, standard_error

from . import exits
from .commands import CommandGroup
from .exits import SUCCESS, USAGE
from .messages import complain, say, warn

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# The line that --help has about each command. The module of that name defines `command`, except for
# operations that are declared once.
COMMANDS = {
    "fft": "image → spectrum, or a picture of it",
    "ifft": "spectrum → image",
    "dwt": "image → wavelet coefficients, or a picture of them",
    "idwt": "wavelet coefficients → image",
    **OPERATIONS,
    "run": "a recipe, which is a chain of operations in a file",
    "compare": "how far two images differ; the verdict is the exit code",
    "regress": "image regression suites: pictures beside their references",
    "info": "what a file is, and the statistics of its values",
    "devices": "what can run, and what was skipped and why",
    "bench": "measure this device",
    "server": "a resident helper that makes commands start at once",
    "help": "help on a command, or on the options that all have",
}
# Objects that the imports of a command make, and a few more.
_IMPORTED = 100_000
# The commands that their transforms' modules define, as `inverse`.
_INVERSES = {"ifft": "fft", "idwt": "dwt"}


class Commands(CommandGroup):
    """Lists commands without importing them: `--help` must not wait for numpy or OpenCL."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            say(ctx.get_help())
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in OPERATIONS:
            from .derived import command as derived

            command = derived(name)
        elif name in COMMANDS:
            module = import_module(f".{_INVERSES.get(name, name)}", __package__)
            command = module.inverse if name in _INVERSES else module.command
        else:
            return None
        command.name, command.short_help = name, COMMANDS[name]
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        known = (item for item in COMMANDS.items() if item[0].startswith(incomplete))
        items = [CompletionItem(name, help=text) for name, text in known]
        return items or super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=(
        "clpix tonemap light.exr -o picture.png",
        "clpix blur photo.jpg --sigma 2 then sharpen -o out.jpg",
        "clpix help blur",
    ),
)
@click.version_option(package_name="clpix", message="clpix %(version)s", help="Show the version.")
def cli() -> None:
    """Image processing on any GPU or CPU through OpenCL.

    clpix COMMAND INPUT... -o OUTPUT; clpix COMMAND --help tells its options.
    """


def _usage(error: click.ClickException) -> str:
    """Returns a complaint about the command line, with the command that tells more."""
    text = error.format_message().rstrip(".")
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "output":
        text += ": name the output, such as -o out.png"
    context = getattr(error, "ctx", None)
    return text if context is None else f"{text} (see {context.command_path.strip()} --help)"


def _occupy_standard_streams() -> None:
    """Keeps the number of a closed standard stream from going to the next file opened: what libraries print
    would end up in there. Reading and writing fail as they do on a closed one; what goes to stderr is lost."""
    for number, name, mode, flags in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, flags)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, errors="backslashreplace", closefd=False))


def _collect_later() -> None:
    """Has Python look for garbage only when the imports are done: their objects stay, and are more than a small
    command makes. To look at them again and again takes 4 % of its time."""
    usual = gc.get_threshold()

    def first(_phase: str, _info: dict[str, int]) -> None:
        gc.callbacks.remove(first)
        gc.set_threshold(*usual)

    gc.callbacks.append(first)
    gc.set_threshold(_IMPORTED, *usual[1:])


def main(args: list[str] | None = None) -> None:
    """Runs the program and exits."""
    code = run(args)
    if args is None:
        exits.leave(code)
    sys.exit(code)


def run(args: list[str] | None = None) -> int:
    """Runs the program in a process that has done nothing yet. Returns the exit code; what it says is written."""
    _occupy_standard_streams()
    # There is nothing here for numpy's threads to do, and signals that they took while drivers load might get lost.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    memory.keep_freed()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # clpix tells its warnings as notes
    if args is None:
        ahead.single = True
        _collect_later()
    exits.handle_signals()
    if "_CLPIX_COMPLETE" in os.environ:  # a shell asks what a command line may go on with
        from . import completion

        completion.register()
    with standard_error.apart():
        return _run(args)


def _run(args: list[str] | None) -> int:
    """Runs a command. Returns the exit code, after one line for an error."""
    command = next(iter(args or sys.argv[1:]), "")
    try:
        with notes.to(warn):
            code = cli.main(args, prog_name="clpix", standalone_mode=False)
        code = code if isinstance(code, int) else SUCCESS
    except click.ClickException as error:
        complain("error", _usage(error))
        code = error.exit_code
    except GpuopsError as error:
        complain("error", error)
        code = exits.exit_code(error, command)
    except OSError as error:  # stdout on a full disk, a folder for kernels that cannot be made
        if not isinstance(error, BrokenPipeError):  # `clpix … | head`: the reader has seen enough
            reason = error.strerror or error
            complain("error", f"{error.filename or 'stdout'}: could not be written ({reason})")
        code = exits.exit_code(error, command)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # The failure has been reported; output that is left must not fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
