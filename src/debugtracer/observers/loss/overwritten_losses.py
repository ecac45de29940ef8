"""Finds losses of inspected steps that never reach a backward, while the last one of their line does."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import numbers
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.facts.overwritten_loss import OverwrittenLoss

MOST = 512  # losses followed in a step (ours)


class Computed:
    """One loss: the number of its node, and its value when that is read."""

    def __init__(self, output: Tensor, name: str) -> None:
        self.node = int(output.grad_fn._sequence_nr())  # type: ignore[union-attr]
        self.tensor, self.value, self.name = weakref.ref(output), output.detach().clone(), name
        self.reached = False


class OverwrittenLossesObserver(Observer):
    """Keeps numbers of nodes and copies of scalars, no graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.computed: dict[RawFrames, list[Computed]] = {}
        self.count = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget the losses of a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the losses of the step."""
        self.computed.clear()
        self.count = 0

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a loss that has a graph; what autograd.grad is asked for has reached a backward."""
        name = getattr(function, "__name__", "")
        if name == "grad" and self.computed and args:
            self.reach([t for t in (args[0] if isinstance(args[0], (tuple, list)) else args[:1]) if is_hanging(t)])
        if name not in LOSSES or not torch.is_grad_enabled() or not is_hanging(output) or output.numel() != 1:
            return
        self.count += 1
        if self.count <= MOST:
            self.computed.setdefault(raw_frames(1), []).append(Computed(output, name))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note which of them the backward will reach; drop those of a line that still keeps the others."""
        if not self.computed:
            return
        self.reach([loss for loss in losses if is_hanging(loss)])
        kept = [
            line for line, some in self.computed.items() if any(c.tensor() is not None for c in some if not c.reached)
        ]
        for line in kept:
            del self.computed[line]

    def reach(self, roots: list[Tensor]) -> None:
        """Mark what lies in the graphs of these."""
        found = numbers(roots)
        for one in (one for some in self.computed.values() for one in some):
            one.reached = one.reached or one.node in found

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit the lines of which some losses were not used."""
        for line, some in self.computed.items():
            reached = [one.reached for one in some]
            if len(some) > 1 and any(reached) and not all(reached):
                values = [float(one.value) for one in some]
                self.run.emit(
                    OverwrittenLoss(
                        ref=self.run.ref(), loss=some[-1].name, frame=frames_of(line)[0], calls=len(some),
                        only_last=reached[-1] and sum(reached) == 1,
                        is_least=values[-1] <= min(values), is_most=values[-1] >= max(values),
                    )
                )  # fmt: skip
        self.forget()


def is_hanging(value: Any) -> bool:
    """Whether it is a tensor that a call with a graph has made."""
    return isinstance(value, Tensor) and value.grad_fn is not None
