"""The one path of the data: read → upload → operation → download → write → report, for one input or many."""

from __future__ import annotations

import os
import shlex
import stat
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from gpuops import files
from gpuops.errors import FileError, GpuopsError, GpuopsWarning, ParameterError
from gpuops.files import data, streams
from gpuops.gpu import Gpu
from gpuops.image import Image, download, upload
from gpuops.profile import Report, process_age

from . import naming
from .main import FAILURE, complain, say
from .options import DTYPES, Shared, refuse

Result = TypeVar("Result")
#: Pixels an inch or centimetre, and one over it the most: what formats can store, and more than scanners have.
LEAST_RESOLUTION = 1e-6


class Item:
    """One input on its way to its output."""

    def __init__(self, gpu: Gpu, shared: Shared, path: str, output: str) -> None:
        self.gpu = gpu
        self.shared = shared
        self.path = path
        self.output = output
        self.picture: files.Picture | None = None
        self._metadata = files.Metadata()
        self._associated = False  # the input's alpha was, so its colour under alpha 0 is light
        self._premultiplied = False

    @property
    def writes_data(self) -> bool:
        """The output's format holds numbers rather than a picture."""
        return writes_data(self.shared, self.output)

    # -- pictures -------------------------------------------------------------------------------------------

    def load(self, *, linear: bool, premultiply: bool = False) -> Image:
        """decode → upload → convert. ``linear`` is what the operation works on unless --space says otherwise."""
        with self.gpu.phase("decode"):
            self.picture = picture = read_picture(self.path, self.shared.layer)
        if self.shared.space != "auto":
            linear = self.shared.space == "linear"
        alpha = picture.alpha and self.shared.alpha == "keep"
        pixels = picture.pixels if alpha == picture.alpha else picture.pixels[..., :-1]
        self._premultiplied = alpha and premultiply
        image = upload(
            self.gpu,
            pixels,
            alpha=alpha,
            linearise=linear and not picture.linear,
            premultiply=self._premultiplied,
        )
        image.linear = linear or picture.linear
        # The pixels are on the device now; what remains is what they were, without their memory.
        released = np.broadcast_to(np.zeros((), picture.pixels.dtype), picture.pixels.shape)
        self.picture = replace(picture, pixels=released)
        self._metadata, self._associated = picture.metadata, picture.associated
        return image

    def run(self, operation: Callable[..., Result], *args: Any) -> Result:
        """The operation, ``--repeat`` times, under the report's phase "compute".

        Its warnings name the input, and what it refuses is this input's failure: the options alone were checked before.
        """
        with warnings.catch_warnings(record=True) as caught, self.gpu.phase("compute"):
            warnings.simplefilter("always", GpuopsWarning)
            try:
                for _ in range(self.shared.repeat):
                    caught.clear()  # every run says the same
                    result = operation(*args)
            except ParameterError as error:
                raise FileError(f"{self.path}: {error}") from error
            self.gpu.finish()
        for warning in (w for w in caught if issubclass(w.category, GpuopsWarning)):
            _warn(f"{self.path}: {warning.message}")
        return result

    @property
    def once(self) -> bool:
        """The operation runs a single time: it may overwrite its input."""
        return self.shared.repeat == 1

    def depth(self, dtype: str | None = None) -> np.dtype[Any]:
        """The depth of the output: --dtype, else ``dtype``, else the input's, as near as the format can hold it."""
        return files.output_dtype(self.format, self._wanted(dtype))

    def _wanted(self, dtype: str | None) -> str:
        return (
            DTYPES[self.shared.dtype]
            or dtype
            or (self.picture.pixels.dtype.name if self.picture else "uint8")
        )

    @property
    def display_dtype(self) -> str | None:
        """What a picture for a display is saved in by default: 8 bits, unless the format is one of numbers."""
        return "uint8" if "uint8" in self.format.dtypes and self.format.name not in ("NPY", "NPZ") else None

    def save(self, image: Image, dtype: str | None = None, *, as_stored: bool = False) -> None:
        """convert → download → encode, in :meth:`depth`; losses become warnings.

        Integer files get encoded values and float files linear light, unless the values are to stand ``as_stored``.
        """
        wanted, depth = self._wanted(dtype), self.depth(dtype)
        if depth.itemsize < np.dtype(wanted).itemsize or (depth.kind == "u" and np.dtype(wanted).kind == "f"):
            _warn(
                f"{self._name}: {self.format} holds no {_DEPTHS[wanted]}; the result has {_DEPTHS[depth.name]}"
            )
        linear = depth.kind == "f"
        with self.gpu.phase("convert"):
            pixels, losses = download(
                image,
                depth,
                encode=image.linear and not linear and not as_stored,
                linearise=linear and not image.linear and not as_stored,
                unpremultiply=self._premultiplied,
            )
        if losses.clipped:
            _warn(
                f"{self._name}: {losses.clipped} values were outside the range of {_DEPTHS[depth.name]} and clipped"
            )
        if losses.not_finite:
            _warn(f"{self._name}: {losses.not_finite} values were NaN or infinite and became 0 or the limit")
        result = files.Picture(
            pixels=pixels,
            alpha=image.alpha,
            linear=linear,
            metadata=self._metadata,
            associated=self._associated,
        )
        with self.gpu.phase("encode"):
            if self.output == naming.STREAM:
                files.write_stream(sys.stdout.buffer, result, self.format)
            else:
                files.write(self.output, result, overwrite=self.shared.overwrite)

    # -- numerical data -------------------------------------------------------------------------------------

    def load_data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and attributes of a spectrum or coefficient file; the picture's metadata goes to its result."""
        with self.gpu.phase("decode"):
            if self.path == naming.STREAM:
                arrays, attributes = data.read_data_stream(sys.stdin.buffer)
            else:
                check_input(self.path)
                with streams.with_text_name(self.path) as path:
                    arrays, attributes = files.read_data(path)
        try:
            metadata = files.Metadata.from_json(attributes.pop("metadata", None) or {})
            if not all(
                LEAST_RESOLUTION <= n <= 1 / LEAST_RESOLUTION for n in (metadata.resolution or ())[:2]
            ):
                raise ValueError("no resolution of any picture")
            self._metadata = metadata
        except (ValueError, TypeError, KeyError, AttributeError):
            _warn(f"{self.path}: the picture's metadata in it is damaged and left out")
        self._associated = attributes.pop("associated", None) is True
        return arrays, attributes

    def save_data(self, arrays: dict[str, Any], attributes: dict[str, Any]) -> None:
        """Writes a spectrum or coefficient file, with the picture's metadata in it."""
        if self._metadata.attributes:
            _warn(f"{self._name}: a file of numbers cannot hold the EXR header attributes")
        about = {"metadata": self._metadata.to_json(), "associated": self._associated}
        with self.gpu.phase("encode"):
            if self.output == naming.STREAM:
                data.write_data_stream(sys.stdout.buffer, arrays, attributes | about, self.format)
            else:
                files.write_data(self.output, arrays, attributes | about, overwrite=self.shared.overwrite)

    # -------------------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return "stdout" if self.output == naming.STREAM else self.output

    @property
    def format(self) -> files.Format:
        """The output's format."""
        return (
            files.format_named(self.shared.format or "")
            if self.output == naming.STREAM
            else files.format_of(self.output)
        )


_DEPTHS = {
    "uint8": "8-bit integers",
    "uint16": "16-bit integers",
    "float16": "half floats",
    "float32": "floats",
}


def read_picture(path: str, layer: str | None = None) -> files.Picture:
    """The picture in a file, or in standard input."""
    if path != naming.STREAM:
        check_input(path)
        with streams.with_text_name(path) as name:
            return files.read(name, layer=layer)
    try:
        return files.read_stream(sys.stdin.buffer, layer=layer)
    except OSError as error:
        raise FileError(f"standard input: could not be read ({error.strerror or error})") from None


def _warn(message: str) -> None:
    warnings.warn(message, GpuopsWarning, stacklevel=2)


def process(
    shared: Shared,
    op: str,
    work: Callable[[Gpu, Item], None],
    *,
    also_read: Iterable[str] = (),
    check: Callable[[bool], None] = lambda _writes_data: None,
) -> None:
    """Runs ``work`` on every input; each failure is one line, and the exit code says that some failed.

    ``also_read`` are further files that no output may overwrite, such as a kernel image. ``check`` refuses options
    that have no meaning for an output of numbers, or of a picture.
    What can be known to fail is refused before the device is even opened.
    """
    with reporting(shared) as report:
        assert shared.output is not None
        if (*shared.inputs, *also_read).count(naming.STREAM) > 1:
            raise ParameterError("'-' is standard input, which can be read once: name it once")
        outputs = naming.outputs_for(shared.inputs, shared.output, op)
        if naming.STREAM in outputs:
            _check_stream(shared)
        elif shared.format is not None:
            refuse("an output's name says its format, and --format that of '-'", "format")
        for output in outputs:
            check(writes_data(shared, output))
        failed = 0
        tasks = []
        for path, output in zip(shared.inputs, outputs, strict=True):
            try:
                check_output(shared, output)
                _check(shared, path, output, tuple(also_read))
                tasks.append((path, output))
            except FileError as error:
                complain("error", error)
                failed += 1
        if tasks:
            gpu = open_gpu(shared, report)
            for path, output in _with_progress(shared, tasks):
                try:
                    work(gpu, Item(gpu, shared, path, output))
                except BrokenPipeError:
                    raise
                except (GpuopsError, click.UsageError, OSError, MemoryError) as error:
                    if isinstance(error, (ParameterError, click.UsageError)) and len(shared.inputs) == 1:
                        raise
                    complain("error", _failure(path, error))
                    failed += 1
        if failed and len(shared.inputs) > 1:
            complain("error", f"{failed} of {len(shared.inputs)} inputs failed")
    if failed:
        click.get_current_context().exit(FAILURE)


def _failure(path: str, error: Exception) -> str:
    """What went wrong with one input of several: what does not fit it may fit the next."""
    if isinstance(error, click.UsageError):
        return f"{path}: {error.format_message()}"
    if isinstance(error, MemoryError):
        return f"{path}: does not fit in memory; use a smaller one"
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}"
    return f"{path}: {error}" if isinstance(error, ParameterError) else str(error)


def _check_stream(shared: Shared) -> None:
    """What -o - asks of the other options."""
    if shared.format is None:
        raise ParameterError("'-' needs --format, such as --format png")
    try:
        files.format_named(shared.format)
    except FileError as error:
        raise ParameterError(f"--format: {error}") from None
    if shared.timing_file is None:
        refuse("there is no file to overwrite", "overwrite")


def writes_data(shared: Shared, output: str) -> bool:
    """Whether the format of an output holds numbers (spectra, coefficients) rather than a picture alone."""
    return files.is_data_format(f"stdout.{shared.format}" if output == naming.STREAM else output)


def check_output(shared: Shared, output: str) -> None:
    """Refuses a --dtype that the output's format does not have, and a folder that libraries cannot name."""
    folder = os.path.dirname(os.path.realpath(output))
    if output != naming.STREAM and not streams.is_text(folder):
        raise FileError(f"{output}: the folder's name is not UTF-8; choose another one")
    fmt = files.format_named(shared.format or "") if output == naming.STREAM else files.format_of(output)
    wanted = DTYPES[shared.dtype]
    if wanted is not None and wanted not in fmt.dtypes:
        names = [name for name, dtype in DTYPES.items() if dtype in fmt.dtypes]
        raise ParameterError(f"{fmt} holds no {_DEPTHS[wanted]}: use --dtype {' or '.join(names)}")


def _check(shared: Shared, path: str, output: str, also_read: tuple[str, ...]) -> None:
    if path != naming.STREAM:
        check_input(path)
    if output != naming.STREAM:
        if len(shared.inputs) > 1 or output != shared.output:
            naming.make_folder(output)
        files.check_output(output, overwrite=shared.overwrite, inputs=(*shared.inputs, *also_read))


def check_input(path: str) -> None:
    """Refuses what cannot be read as a file."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; name the images in it, such as {os.path.join(path, '*.png')}")
    if not stat.S_ISREG(mode):  # it may be readable once only, and files are looked at before they are read
        raise FileError(f"{path}: is no regular file; give '-' for it and redirect standard input")


def open_gpu(shared: Shared, report: Report | None) -> Gpu:
    """The device that the options name."""
    gpu = Gpu(shared.device, report=report, dump=shared.dump_kernels)
    if report is not None:
        from gpuops import report_formats

        report.context |= report_formats.device_context(gpu.info) | {
            "command": naming.printable(shlex.join(["clpix", *sys.argv[1:]]))
        }
    if shared.verbose:
        say(f"clpix: device {gpu.info.index}: {gpu.info.name} ({gpu.info.platform})")
    return gpu


class reporting:
    """The frame of a run: warnings as --quiet wants them, and the timing report at the end."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.report: Report | None = None

    def __enter__(self) -> Report | None:
        if self.shared.quiet:
            warnings.simplefilter("ignore", GpuopsWarning)
        if self.shared.timing or self.shared.timing_file:
            self.report = Report()
            age = process_age()
            if age is not None:  # what Python and the imports took before this line
                self.report.started -= age
                self.report.add("import", age)
            with self.report.phase("import"):
                from gpuops import report_formats
            if self.shared.timing_file:
                report_formats.check_path(self.shared.timing_file)
                files.check_place(
                    self.shared.timing_file, overwrite=self.shared.overwrite, inputs=self.shared.inputs
                )
        return self.report

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        report = self.report
        if report is None or kind is not None:
            return
        from gpuops import report_formats

        report.close()
        if self.shared.timing_file:
            report_formats.write(report, self.shared.timing_file, overwrite=self.shared.overwrite)
        if self.shared.timing:
            say(report_formats.table(report))


def _with_progress(shared: Shared, tasks: list[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    wanted = shared.progress
    if wanted is None:
        wanted = len(tasks) > 1 and sys.stderr.isatty() and not shared.quiet
    for index, (path, output) in enumerate(tasks, 1):
        if wanted:
            say(f"clpix: [{index}/{len(tasks)}] {Path(path).name} → {Path(output).name}")
        yield path, output
