"""The command ``clpix regress serve``."""

from __future__ import annotations

import sys

from . import options
from .compare import GROUPS, GivenOptions, comparing
from .suites import Device, ReadingOptions


@options.command(
    short_help="Compare what lines of JSON ask for",
    examples=(
        "clpix regress serve",
        "clpix regress serve expected/ --max-flip 0.01",
        "clpix regress serve --min-ssim 0.99 --ignore 0,0,64,16",
    ),
    groups={**GROUPS},
)
@options.argument("references", required=False, metavar="[REFERENCES]")
@comparing
@options.collected("telling", ReadingOptions)
def serve(telling: ReadingOptions, given: GivenOptions, references: str | None) -> None:
    """Compare pictures as long as another program asks: a line of JSON on stdin, and one on stdout that answers.

    A request has the files to compare, such as {"id": 1, "result": "new.png", "reference": "old.png"}, or in place of
    "reference" the "name" of one of REFERENCES. It may have "thresholds", which count over those of the command line,
    "metrics", "ignore", "mask", and "diff", a file for the picture of the difference. The answer has the id, the
    status and the figures, or an error. The end of stdin ends the command.
    """
    from functools import partial

    from gpuops.regress.requests import Requests

    with Device(telling.device) as device:
        known = None if references is None else partial(device.references, references)
        requests = Requests(given.of(telling), given.thresholds, device.open, known)
        for answer in requests.answers(sys.stdin.buffer):
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()
