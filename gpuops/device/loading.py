"""The drivers that a device needs, loaded while Python imports modules."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from threading import Thread

from gpuops.device import choice, drivers
from gpuops.errors import GpuopsError
from gpuops.process import ahead, signals

# The thread, if there is one.
_threads: list[Thread] = []


@cache
def begin(device: str | None = None) -> None:
    """Starts to load the OpenCL drivers, in a thread; the OpenCL loader, which would load them anyway, comes later.

    It is only that of the device, if this process takes no other and the device is known from before. It is asked for
    its platforms, too, which takes a graphics card's driver a tenth of a second.
    """
    thread = Thread(target=_load, args=[device], name="drivers")
    _threads.append(thread)
    thread.start()


def end() -> None:
    """Waits for the thread, before the loader asks the same driver."""
    for thread in _threads:
        thread.join()


def _load(device: str | None) -> None:
    signals.leave_to_others()
    with suppress(GpuopsError):  # whoever needs a device gets the same error
        drivers.prepare(say=False)
        recalled = choice.recalled(choice.words(device))
        for driver in drivers.prepared():
            if recalled is None or driver.name == recalled.icd:
                ahead.load(driver.library)
                if recalled:
                    ahead.ask(driver.library)
