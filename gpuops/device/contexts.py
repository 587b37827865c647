"""Contexts on devices: one that was opened before it was known what for is taken by the first who needs it."""

from __future__ import annotations

import pyopencl as cl

# Contexts that wait for somebody who needs them.
_waiting: list[cl.Context] = []


def keep(context: cl.Context) -> None:
    """Keeps a context for the next one who asks for one on its device."""
    _waiting.append(context)


def context(device: cl.Device) -> cl.Context:
    """Returns a new context on a device, or one that was kept."""
    for one in _waiting:
        if one.devices == [device]:
            _waiting.remove(one)
            return one
    return cl.Context([device])
