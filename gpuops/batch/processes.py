"""The number of processes that share a device: more than one for many small pictures.

The threads of one process take turns at Python's lock. Python's work on a picture, of whatever size, takes some
milliseconds; only codecs and kernels run without the lock. So one process does a few hundred pictures a second at most,
however many processors there are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..process.memory import of_machine
from .job import Job

# Bytes of a file that take as long to decode, with its result to encode, as Python's work on a picture takes.
_AS_LONG = 1 << 17
# Jobs that make up for the start of one more process.
_WORTH = 500
# The most processes: more of them wait for the one that gives them jobs.
_MOST = 4
# Bytes of the machine's memory for each process.
_ROOM = 1 << 30


def processes_for(jobs: Sequence[Job], processors: int) -> int:
    """Returns how many processes on one device do jobs soonest, if so many processors are theirs."""
    most = min(_MOST, len(jobs) // _WORTH, of_machine() // _ROOM)
    if most < 2:
        return 1
    try:
        size = sum(os.path.getsize(job.source) for job in jobs) / len(jobs)
    except OSError:  # an input is at an address, or has vanished
        return 1
    under_lock = _AS_LONG / (_AS_LONG + size)
    return max(1, min(most, round(processors * under_lock)))
