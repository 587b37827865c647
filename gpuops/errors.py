"""The library's errors: they have one base class, and each has a text of one line for the person."""

from __future__ import annotations

from collections.abc import Collection


class GpuopsError(Exception):
    """Base of every error that a person can do something about; its text is one line that says what to do."""


class ParameterError(GpuopsError, ValueError):
    """A parameter, or a combination of parameters, that has no meaning."""


class FileError(GpuopsError):
    """A file that could not be found, understood, or written."""


class DeviceError(GpuopsError):
    """No usable OpenCL device, or a device that cannot do what was asked."""


class ClusterError(GpuopsError):
    """A cluster that does not answer, or whose workers cannot do the work."""


class TooLongError(DeviceError):
    """Rows that a device's local memory cannot hold, where they cannot be transformed in several passes."""


class GpuopsWarning(UserWarning):
    """A warning of something that a person should know: a loss, a clipped value, a device passed over."""


def check_name(what: str, value: object, names: Collection[object]) -> None:
    """Raises ParameterError unless ``value`` is one of the names that there are of ``what``."""
    if value not in names:
        raise ParameterError(f"unknown {what} {value!r}: use one of {', '.join(map(str, names))}")
