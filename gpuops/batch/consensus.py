"""Steps whose parameters all inputs of a command decide together: each input is measured before any is worked on.

For jobs of several inputs, ``settled(jobs, run, ...)`` does a measuring job for each, and gives the jobs with the
results in their chains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from ..chain import Chain
from ..operation import Params, Together, operation_of

if TYPE_CHECKING:
    from .chains import Measuring
    from .job import Job
    from .pipeline import Done


class Settled(NamedTuple):
    """The figure that an input was measured for, and the value that its step uses, both in a ``unit`` for people."""

    source: str
    figure: str
    measured: float
    used: float
    unit: str


def is_open(jobs: Sequence[Job]) -> bool:
    """Says whether the inputs of these jobs, which have the same chain, are to decide about a step together."""
    return bool(jobs) and _open(jobs[0].chain) is not None


def settled(
    jobs: Sequence[Job],
    run: Callable[[Sequence[Job]], Iterable[Done]],
    failed: Callable[[Done], None],
    tell: Callable[[Settled], None],
) -> list[Job]:
    """Returns the jobs with chains that no longer depend on other inputs.

    ``run`` does jobs in their order. An input that could not be measured is given to ``failed``, and left out.
    """
    while jobs and (step := _open(jobs[0].chain)):
        place, rule = step
        measured: list[Params | None] = []
        for done in run([_measuring(job, place) for job in jobs]):
            measured.append(done.told if done.error is None else None)
            if done.error is not None:
                failed(done)
        given = zip(jobs, measured, rule.settled(measured), strict=True)
        known = [(job, one, params) for job, one, params in given if one is not None]
        for job, one, params in known:
            tell(_figures(job.source, rule, one, params))
        jobs = [_with(job, place, params) for job, _, params in known]
    return list(jobs)


def decided(
    chain: Chain,
    measured: Callable[[Iterator[Measuring]], list[Params]],
    tell: Callable[[int, Settled], None],
    source: str,
) -> Iterator[Chain]:
    """Gives the chains of inputs whose number is not known, such as the frames of a video.

    ``measured`` does such work on each input, and returns the parameters found. ``tell`` is given the figures of each
    input, with its number in the ``source``.
    """
    chains: list[Chain] = []
    while step := _open(chains[0] if chains else chain):
        from .chains import Measuring

        place, rule = step
        all_params = measured(Measuring(Chain(*one.steps[: place + 1])) for one in (chains or repeat(chain)))
        chains = chains or [chain] * len(all_params)
        settled = rule.settled(all_params)
        for number, (one, params) in enumerate(zip(all_params, settled, strict=True)):
            tell(number, _figures(source, rule, one, params))
        chains = [_placed(one, place, params) for one, params in zip(chains, settled, strict=True)]
        if not chains:
            return iter(())
    return iter(chains) if chains else repeat(chain)


def _figures(source: str, rule: Together, measured: Params, used: Params) -> Settled:
    return Settled(source, rule.figure, getattr(measured, rule.figure), getattr(used, rule.figure), rule.unit)


def alone(job: Job) -> Job:
    """Returns the job of an input that has no neighbours."""
    while step := _open(job.chain):
        job = _with(job, step[0], step[1].alone)
    return job


def _open(chain: Chain | None) -> tuple[int, Together] | None:
    """Returns the place of the first step that is to be decided, and how it is."""
    for place, params in enumerate(chain or ()):
        if rule := operation_of(params).together(params):
            return place, rule
    return None


def _measuring(job: Job, place: int) -> Job:
    """Returns the job that measures an input for a step."""
    from .chains import Measuring

    assert job.chain is not None
    work = Measuring(Chain(*job.chain.steps[: place + 1]))
    return replace(job, work=work, asides=(), options=replace(job.options, repeat=1))


def _with(job: Job, place: int, params: Params) -> Job:
    """Returns a job with other parameters of a step."""
    assert job.chain is not None
    return replace(job, work=_placed(job.chain, place, params))


def _placed(chain: Chain, place: int, params: Params) -> Chain:
    """Returns a chain with other parameters of a step."""
    return Chain(*(params if at == place else step for at, step in enumerate(chain)))
