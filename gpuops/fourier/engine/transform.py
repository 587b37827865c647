"""Plans: transforms whose passes are built and bound on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import launch
from .passes import passes
from .problem import Problem

if TYPE_CHECKING:
    from ...gpu import Gpu
    from ...image import Image


class TransformPlan:
    """Bound launches of a :class:`Problem`; a call of the plan costs a few microseconds of Python for each launch."""

    def __init__(self, gpu: Gpu, problem: Problem) -> None:
        self.gpu = gpu
        self.problem = problem
        self.passes = passes(gpu.limits, problem)
        self.steps = launch.steps(gpu, problem, self.passes)
        # For each pass: the elements of its target, 0 if that is the result; whether it multiplies by a spectrum.
        ways = [(p.temporary, p.schedule.pairs == "convolve") for p in self.passes]
        self._ways = list(zip(self.steps, *zip(*ways, strict=True), strict=True))
        self._stored = problem.stored
        # While it is kept the plan takes bytes of tables on the device, and programs that suit its size only.
        self.nbytes = sum(step.nbytes for step in self.steps)
        self.programs = {step.of for step in self.steps if step.of.once}
        self._result = problem.result

    def __call__(
        self,
        image: Image,
        spectrum: Image | None = None,
        *,
        into: Image | None = None,
        lost: Image | None = None,
    ) -> Image:
        """Transforms ``image``. ``spectrum`` is that of a convolution's kernel; ``into`` and ``lost`` are the pixels to
        write, and encode.cl's counts."""
        self.gpu.check_own(image)
        result = image.like(*self._result) if into is None else into
        source = image
        with self.gpu.lock:  # all threads that call the plan share its kernels' arguments
            if lost is not None:
                self.steps[-1].kernel.set_arg(launch.LOST, lost.buffer)
            for step, temporary, multiplies in self._ways:
                target = self.gpu.empty((temporary,), self._stored) if temporary else result
                step.kernel.set_arg(0, source.buffer)
                step.kernel.set_arg(4, target.buffer)
                if multiplies and spectrum is not None:
                    step.kernel.set_arg(2, spectrum.buffer)
                step()
                source = target
        return result


def plan(gpu: Gpu, problem: Problem) -> TransformPlan:
    """The plan for a problem, kept on the Gpu. Raises DeviceError for double precision if the device has none."""
    if problem.double:
        gpu.check_double()
    return gpu.kept(problem, lambda: TransformPlan(gpu, problem))
