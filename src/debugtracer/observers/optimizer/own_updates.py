"""Tells how many updates a loop without an optimizer has written itself."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.rebound import rebinding_line
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.own_updates import OwnUpdates

EVERY = 64  # backward calls from one fact to the next (ours)


class OwnUpdatesObserver(Observer):
    """Silent once an optimizer has stepped; reads two counters."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: RawFrames = ()
        """Where the first backward was called."""
        self.trains = False
        self.inputs: list[WeakRef[Tensor]] = []
        """Arguments of the last model called that ask for a gradient."""
        self.read = False
        """One of them has got one."""

    def reset(self) -> None:
        self.last, self.trains, self.inputs, self.read = (), False, [], False

    @always
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note whether a model trains, and what it is called with."""
        if not self.run.state.stepped and torch.is_grad_enabled():
            self.trains = module.training
            self.inputs = [WeakRef(a) for a in args if isinstance(a, Tensor) and a.requires_grad and a.is_leaf]

    @always
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Emit the counters now and then."""
        if self.run.state.stepped:
            self.run.unsubscribe(self.entered, self.backward_ended)
            return
        self.last = self.last or raw_frames(1)
        self.read = self.read or any((t := r()) is not None and t.grad is not None for r in self.inputs)
        if self.run.iteration % EVERY == 0:
            self.tell()

    def ended(self) -> None:
        """Emit what the whole run came to."""
        if not self.run.state.stepped and self.run.iteration:
            self.tell()

    def tell(self) -> None:
        """Emit the counters as they stand."""
        state = self.run.state
        if state.weights_unread:
            return
        self.run.emit(
            OwnUpdates(
                ref=self.run.ref("update", self.run.iteration - 1),
                backwards=state.iteration,
                updates=state.own_updates,
                optimizers=len(state.optimizers),
                trains=self.trains,
                inputs=self.read,
                backward_frame=(at := first(self.last)),
                rebound=rebinding_line(at.file) if at is not None and not state.own_updates else None,
            )
        )
