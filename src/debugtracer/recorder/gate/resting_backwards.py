"""A backward at rest in a loop that writes its weights itself: the norm of its gradients is looked at, and whether the
loop has written since the one before."""

from __future__ import annotations

import math
from time import perf_counter

import torch
from torch import Tensor, nn

from debugtracer.errors import swallow
from debugtracer.recorder.gate.backward_gate import BackwardGate
from debugtracer.recorder.gate.norms import PLAIN, all_on_cpu
from debugtracer.recorder.gate.resting_row import row
from debugtracer.recorder.gate.resting_steps import RestingSteps
from debugtracer.recorder.tape.foreign_modes import foreign

# backward calls in a row at which nothing moved, after which weights are read in one of sixteen (ours): a rate that was
# divided until nothing moves any more is no reason to read all weights for the rest of the run
STILL = 32
RARELY = 16


class RestingBackwards:
    """One per process. Some tens of microseconds a backward: one fused norm of the gradients and of one weight."""

    def __init__(self, gate: BackwardGate, steps: RestingSteps) -> None:
        self.gate, self.steps = gate, steps
        self.state, self.trained = gate.state, gate.trained
        self.place = -1
        """Which of the tensors that are trained is looked at: the last, until it stands still and another does not."""
        self.weight: tuple[int, float] | None = None
        """That tensor, and its norm after the last backward."""
        self.norms: list[float] | None = None
        """Of all of them, where that one alone did not tell of a write."""
        self.read_at, self.unread = 0, 1
        """The backward whose gradients were read last, and how many there were since: all of them were followed by a
        write where the weight is another than then."""
        self.still = 0
        """Backward calls in a row at which none of them had moved."""

    def can_begin(self) -> bool:
        """Whether what the last backward has trained would be found without the calls of the loop, and read at
        once."""
        trained = self.trained.last()
        known = trained and not self.trained.made_anew and not self.state.roots.sharded
        return bool(known) and all(t.is_cpu and type(t) in PLAIN for t in trained)

    def begin(self) -> None:
        """Prepare for backward calls after one that was seen whole."""
        self.steps.begin()
        self.weight = self.norms = None
        self.place, self.still = -1, 0
        self.read_at = self.state.iteration

    def calls_may_rest(self) -> bool:
        """Whether what a backward trains is known without the root calls before it."""
        return self.trained.are_always_the_same()

    def entered(self, module: nn.Module) -> None:
        """Note what a root call trains: what it trained at its last call, as long as that is there. Where it is
        something else by now, nothing of it has a gradient and the gate decides."""
        if not module._parameters and not module._modules:
            return  # a loss: it trains nothing
        held = self.trained.roots.get(module)
        if held and held[0]() is not None:
            self.trained.called[id(module)] = held
        else:
            self.trained.entered(module)

    def end(self) -> bool:
        """Close a step whose gradients are good; False, and nothing is closed, where the gate is to decide."""
        begin, state, gate, steps, trained = perf_counter(), self.state, self.gate, self.steps, self.trained
        grad_l2: float | None = None
        if not steps.to_leave_out or state.quiet_until_healthy:
            grad_l2 = self.read()
            if grad_l2 is None:
                return False
        elif not trained.keeps:
            trained.left_out()
        now = perf_counter()
        state.own_s += now - begin
        state.step_s, gate.last_s = now - gate.last_s, now
        if steps.passed.passes:
            state.step_s = steps.passed.looked_at(state.step_s)
        number, state.step = state.iteration - 1, state.iteration
        values = number, state.step, grad_l2, steps.loss, None, state.step_s, state.own_s, state.wait_s, None
        steps.close(row(values), now)
        return True

    def read(self) -> float | None:
        """The norm of the gradients of this backward; None: the gate decides."""
        try:
            tensors = self.trained.at_rest()
            grad_l2 = None if self.state.quiet_until_healthy or foreign() else self.good_norm(tensors)
        except Exception as error:
            swallow("recorder.gate.resting_backwards", error)
            return None
        if grad_l2 is not None:
            self.trained.counted(tensors)
        return grad_l2

    def good_norm(self, tensors: list[Tensor]) -> float | None:
        """The norm of the gradients, where it can be read at once and is finite; counts an update that came before."""
        gradients = [grad for t in tensors if (grad := t.grad) is not None]
        if not gradients or not (all_on_cpu(tensors) and PLAIN.issuperset(map(type, tensors))):
            return None
        weight = tensors[self.place if self.place < len(tensors) else -1]
        found = torch._foreach_norm([*gradients, weight.detach()])
        *each, norm = map(Tensor.tolist, found)
        grad_l2 = math.hypot(*each)  # type: ignore[arg-type]
        if not (math.isfinite(grad_l2) and math.isfinite(norm)):  # type: ignore[arg-type]
            return None
        self.count(tensors, (id(weight), norm))  # type: ignore[arg-type]
        return grad_l2

    def count(self, tensors: list[Tensor], weight: tuple[int, float]) -> None:
        """Count an update where that weight is another than before, or, where it stays, any of them."""
        self.unread, self.read_at = max(self.state.iteration - self.read_at, 1), self.state.iteration
        before, self.weight = self.weight, weight
        if before is not None and before == weight:
            self.count_of_all(tensors)
            return
        self.state.own_updates += self.unread
        self.still = 0
        # of another set than before the next one tells
        self.norms = None

    def count_of_all(self, tensors: list[Tensor]) -> None:
        """Count an update where any of them is another than at the last backward, and look at that one from here on;
        where none moves for long, at some backward calls alone."""
        if self.still >= STILL and self.still % RARELY:
            self.still += 1
            return
        before, norms = self.norms, all_norms(tensors)
        self.norms = norms
        moved = [] if before is None else [n for n, norm in enumerate(norms) if n >= len(before) or before[n] != norm]
        self.still = 0 if moved else self.still + 1
        if moved:
            self.state.own_updates += self.unread
            self.place = moved[-1]
            self.weight = id(tensors[self.place]), norms[self.place]


def all_norms(tensors: list[Tensor]) -> list[float]:
    """The norm of each."""
    return [norm.tolist() for norm in torch._foreach_norm([t.detach() for t in tensors])]  # type: ignore[misc]
