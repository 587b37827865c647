"""Shares of work for processes that know nothing of each other: share I of N."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..errors import ParameterError

T = TypeVar("T")

# The variables by which Slurm tells a task of a job array its number, the first number, the step between numbers, and
# how many tasks there are; and the values of variables that are not set.
_ARRAY = {
    "SLURM_ARRAY_TASK_ID": 1,
    "SLURM_ARRAY_TASK_MIN": 1,
    "SLURM_ARRAY_TASK_STEP": 1,
    "SLURM_ARRAY_TASK_COUNT": 1,
}
# The variables by which Slurm tells a process of srun its number, from 0 on, and how many processes there are.
_STEP = ("SLURM_PROCID", "SLURM_NTASKS")


def shard(items: Sequence[T], text: str, environment: Mapping[str, str] = os.environ) -> list[T]:
    """Returns the items of a shard, ``text``: I/N with I from 1 to N, or ``slurm`` for Slurm's number of this process.

    Each item is in one shard of N. Raises ParameterError for a shard that does not exist.
    """
    named = _of_slurm(environment) if text == "slurm" else text
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", named, re.ASCII)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        said = "" if named == text else f" of {named}"
        raise ParameterError(f"--shard {text}{said}: write I/N with I from 1 to N, such as 2/4")
    return list(items[index - 1 :: count])


def _of_slurm(environment: Mapping[str, str]) -> str:
    numbers = {
        name: int(value) for name in (*_ARRAY, *_STEP) if (value := environment.get(name, "")).isdecimal()
    }
    if "SLURM_ARRAY_TASK_ID" in numbers:
        task, first, step, count = (numbers.get(name, usual) for name, usual in _ARRAY.items())
        return f"{(task - first) // max(1, step) + 1}/{count}"
    if all(name in numbers for name in _STEP):
        return f"{numbers[_STEP[0]] + 1}/{numbers[_STEP[1]]}"
    raise ParameterError(
        "--shard slurm: Slurm's variables are not set; this is no task of a job array, and no process of srun"
    )
