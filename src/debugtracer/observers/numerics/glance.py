"""A glance at a step between two close looks: norms of what each leaf module gave and of what the update changed."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.numerics.health import MOST_TENSORS
from debugtracer.observers.numerics.leaf_outputs import LeafOutputs
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.gate.norms import FUSED, PLAIN, all_on_cpu, norms_of
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.layer_norms import NormRole

Names = tuple[str, ...]

EVERY = 8  # steps between two glances at first (ours)
DENSE = 64  # glances until they become half as frequent, and so on: 1e6 steps leave 800 (ours)
SPARE_S = 1.5  # seconds that must be left of those that are given to a run: verdicts come before pictures (ours)
COPY_BYTES = 256 * 1024**2  # weights copied to measure their update; a larger model has none between close looks (ours)


class Glance:
    """Host memory alone: nothing waits for a device. What it measures is drawn, never judged. It is prepared when the
    step before is over, so that the events of a step without one cost nothing."""

    def __init__(self, run: ObservedRun) -> None:
        self.run = run
        self.leaves = LeafOutputs(run, lambda: run.step == self.step, self.look)
        self.clear()

    def clear(self) -> None:
        """Start with no glance taken."""
        self.due, self.taken = EVERY, 0
        self.drop()

    def drop(self) -> None:
        """Forget what was seen, and follow nothing."""
        self.leaves.leave()
        self.step = -1
        """The step that is looked at."""
        self.outputs: dict[str, float] = {}
        self.before: dict[int, list[Tensor]] = {}
        """The weights of each optimizer before its update."""

    def prepare(self, step: int, stepped: Optimizer) -> None:
        """Look at the step that comes after that of an optimizer, where there is time to spare."""
        self.drop()
        if self.run.governor.balance_s < SPARE_S:
            return
        self.step = step
        self.taken += 1
        every = EVERY << (self.taken // DENSE)
        self.due = step - step % every + every
        self.leaves.wait()
        room = COPY_BYTES
        for optimizer in {id(o): o for o in (*self.run.optimizers, stepped)}.values():
            held = parameters(optimizer)
            room -= sum(p.numel() * p.element_size() for p in held)
            if held and len(held) <= MOST_TENSORS and room >= 0 and alike(held):
                with torch.no_grad():
                    self.before[id(optimizer)] = [p.detach().clone() for p in held]

    def look(self, path: str, output: Tensor, kind: str) -> None:
        """Measure the output of one leaf; of a module called several times the last one counts."""
        if not (type(output) in PLAIN and output.is_cpu and output.dtype in FUSED) or len(self.outputs) >= MOST_TENSORS:
            return
        with self.run.state.owned(), torch.no_grad(), torch._C.DisableTorchFunction():
            if output.layout is torch.strided and output.numel():
                self.outputs[path] = float(norms_of([output.detach()])[0].item())

    def taken_of(self, optimizer: Optimizer, names: Names) -> list[tuple[NormRole, Names, tuple[float, ...]]]:
        """What was seen in the step that is over, by role."""
        outputs, before = self.outputs, self.before.get(id(optimizer), [])
        self.drop()
        found: list[tuple[NormRole, Names, tuple[float, ...]]] = []
        if outputs:
            found.append(("activation", tuple(outputs), tuple(outputs.values())))
        held = parameters(optimizer) if before else []
        if held and len(held) == len(before) == len(names):
            with torch.no_grad():
                changes = torch._foreach_sub([p.detach() for p in held], before)
                found.append(("update", names, tuple(float(norm.item()) for norm in norms_of(list(changes)))))
        return found


def alike(tensors: list[Tensor]) -> bool:
    """Whether one fused call can measure them all: plain, dense, in host memory and of one type."""
    first = tensors[0].dtype
    return (
        first in FUSED
        and all_on_cpu(tensors)
        and all(type(t) in PLAIN and t.layout is torch.strided and t.dtype is first for t in tensors)
    )
