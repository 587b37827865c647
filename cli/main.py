"""The entry point: a group that imports a command only when it is used, and the one place where errors become
exit codes."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING

import click

from gpuops import notes
from gpuops.errors import DeviceError, GpuopsError, ParameterError, shortened, visible
from gpuops.ops import OPERATIONS
from gpuops.process import heap, signals, standard_error

from .commands import CommandGroup

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
    "help": "help on a command, or on the options that all have",
}

# The exit codes.
SUCCESS, FAILURE, USAGE, NO_DEVICE = range(4)


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
            command = import_module(f".{name}", __package__).command
        else:
            return None
        command.name = name
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        return found or super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"clpix {version('clpix')}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=(
        "clpix tonemap light.exr -o picture.png",
        "clpix blur photo.jpg --sigma 2 then sharpen -o out.jpg",
        "clpix help blur",
    ),
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
def cli() -> None:
    """Image processing on any GPU or CPU through OpenCL.

    clpix COMMAND INPUT... -o OUTPUT; clpix COMMAND --help tells its options.
    """


def exit_code(error: GpuopsError) -> int:
    """Returns the exit code for an error of the library."""
    if isinstance(error, ParameterError):
        return USAGE
    if isinstance(error, DeviceError):
        return NO_DEVICE
    return FAILURE


def say(text: str) -> None:
    """Writes text to stderr. If stderr is closed, the exit code still tells of the error."""
    if (status := sys.modules.get(f"{__package__}.status")) is not None:
        status.hide()
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


def show(text: str) -> None:
    """Writes text to stdout, where no progress stands in the way."""
    if (status := sys.modules.get(f"{__package__}.status")) is not None:
        status.hide()
    click.echo(text)


def warn(text: str, *, details: bool = False) -> None:
    """Writes a note to stderr as a warning; one that is a detail only if those are wanted, and without that word."""
    if not isinstance(text, notes.DetailNote):
        complain("warning", text)
    elif details:
        say(f"clpix: {visible(text)}")


def complain(kind: str, message: object) -> None:
    """Writes one line to stderr, whatever characters names have."""
    say(shortened(f"clpix: {kind}: {visible(' '.join(str(message).split()))}"))


def _usage(error: click.ClickException) -> str:
    """Returns a complaint about the command line, with the command that tells more."""
    text = error.format_message().rstrip(".")
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "output":
        text += ": name the output, such as -o out.png"
    context = getattr(error, "ctx", None)
    if context is None:
        return text
    return f"{text} (see {context.command_path.strip()} --help)"


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """Ends the program on Ctrl-C, a kill or a closed terminal, with one line and without half-written files.

    Not by an exception: raised within a callback from C it would be swallowed, or bring the process down.
    """
    modules = (sys.modules.get(f"{__package__}.{name}") for name in ("status", "remarks"))
    left = b"".join(getattr(module, "left_behind", bytes)() for module in modules)
    standard_error.write(
        left + b"clpix: error: interrupted; finished results are kept, nothing is half written\n"
    )
    # Before these modules are loaded to their end, no process is started, and no file begun.
    for module, name in (
        ("gpuops.batch.devices", "end_all"),
        ("gpuops.batch.cluster", "end_all"),
        ("gpuops.files.drafts", "discard_unfinished"),
    ):
        function = getattr(sys.modules.get(module), name, None)
        if function is not None:
            function()
    os._exit(128 + number)  # as shells report a signal


@contextmanager
def interrupted_by(number: int) -> Iterator[list[int]]:
    """Gives a list that is empty until the signal comes; what is within it ends by itself. A second one ends all."""
    came: list[int] = []

    def first(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(number, _interrupt)

    before = signal.signal(number, first)
    try:
        yield came
    finally:
        signal.signal(number, before)


def _handle_signals() -> None:
    for number in signals.NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores one
            signal.signal(number, _interrupt)


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


def main(args: list[str] | None = None) -> None:
    """Runs the program and exits."""
    _occupy_standard_streams()
    # There is nothing here for numpy's threads to do, and signals that they took while drivers load might get lost.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    heap.keep_freed()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # clpix tells its warnings as notes
    _handle_signals()
    if "_CLPIX_COMPLETE" in os.environ:  # a shell asks what a command line may go on with
        from . import completion

        completion.register()
    with standard_error.apart():
        code = _run(args)
    sys.exit(code)


def _run(args: list[str] | None) -> int:
    """Runs a command. Returns the exit code, after one line for an error."""
    try:
        with notes.to(warn):
            code = cli.main(args, prog_name="clpix", standalone_mode=False)
        code = code if isinstance(code, int) else SUCCESS
    except click.ClickException as error:
        complain("error", _usage(error))
        code = error.exit_code
    except GpuopsError as error:
        complain("error", error)
        code = exit_code(error)
    except OSError as error:  # stdout on a full disk, a folder for kernels that cannot be made
        if not isinstance(error, BrokenPipeError):  # `clpix … | head`: the reader has seen enough
            complain(
                "error", f"{error.filename or 'stdout'}: could not be written ({error.strerror or error})"
            )
        code = USAGE if (args or sys.argv[1:])[:1] == ["compare"] else FAILURE  # compare's 1 is "they differ"
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (
            OSError
        ):  # the failure has been reported; output that is left must not fail again when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
