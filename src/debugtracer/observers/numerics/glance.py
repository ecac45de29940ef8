"""A glance at a step between two close looks: norms of what each leaf module gave and of what the update changed."""

from __future__ import annotations

import torch
from torch import Tensor, nn
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
    """Host memory alone: nothing waits for a device. What it measures is drawn, never judged."""

    def __init__(self, run: ObservedRun) -> None:
        self.run = run
        self.leaves = LeafOutputs(run, lambda: self.on, self.look)
        self.clear()

    def clear(self) -> None:
        """Start with no glance taken."""
        self.leaves.leave()
        self.on, self.due, self.taken = False, EVERY, 0
        self.decided = -1
        """The step for which `on` was decided."""
        self.outputs: dict[str, float] = {}
        self.before: list[Tensor] = []

    def decides(self) -> bool:
        """Whether the step in flight is one, to be asked from `due` on; where time is short nothing is done in it."""
        step = self.run.state.step
        if step != self.decided:
            self.decided, self.outputs, self.before = step, {}, []
            self.on = step >= self.due and not self.run.inspecting and self.run.governor.balance_s >= SPARE_S
            if self.on:
                self.taken += 1
                every = EVERY << (self.taken // DENSE)
                self.due = step - step % every + every
        return self.on

    def entered(self, module: nn.Module) -> None:
        """Follow a root from its call."""
        if self.decides():
            self.leaves.follow(module)

    def left(self) -> None:
        """Stop following the root."""
        self.leaves.leave()

    def look(self, path: str, output: Tensor, kind: str) -> None:
        """Measure the output of one leaf; of a module called several times the last one counts."""
        if not (type(output) in PLAIN and output.is_cpu and output.dtype in FUSED) or len(self.outputs) >= MOST_TENSORS:
            return
        with self.run.state.owned(), torch.no_grad(), torch._C.DisableTorchFunction():
            if output.layout is torch.strided and output.numel():
                self.outputs[path] = float(norms_of([output.detach()])[0].item())

    def step_begins(self, optimizer: Optimizer) -> None:
        """Copy the weights, to see what the update makes of them."""
        held = parameters(optimizer) if self.decides() else []
        sizes = sum(p.numel() * p.element_size() for p in held)
        if held and len(held) <= MOST_TENSORS and sizes <= COPY_BYTES and alike(held):
            with torch.no_grad():
                self.before = [p.detach().clone() for p in held]

    def taken_of(self, optimizer: Optimizer, names: Names) -> list[tuple[NormRole, Names, tuple[float, ...]]]:
        """What was seen in the step that is over, by role; nothing where it is none."""
        outputs, before = self.outputs, self.before
        self.on, self.outputs, self.before = False, {}, []
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
