"""The tape executed again with the changes an intervention has asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.entry import Entry, Leaf, Slot
from debugtracer.replay.plan import Plan
from debugtracer.replay.reexecute import Reexecution


class Changed(Reexecution):
    """One run over a plan with one thing changed."""

    def __init__(self, plan: Plan, backward: Callable[..., Any], rerun: Rerun) -> None:
        super().__init__(plan, backward, self.surrounded)
        self.rerun = rerun
        self.given: dict[int, Tensor] = {}
        self.before_backward: Callable[[Tensor], None] = lambda loss: None
        """Told the loss while its graph is whole."""

    @contextlib.contextmanager
    def surrounded(self, entry: Entry) -> Iterator[None]:
        """The contexts of the intervention around one call."""
        with contextlib.ExitStack() as stack:
            for around in self.rerun.around:
                stack.enter_context(around(entry))
            yield

    def autocasts(self, entry: Entry) -> tuple[tuple[str, torch.dtype], ...]:
        """None when full precision is asked for."""
        return entry.autocast if self.rerun.autocast else ()

    def seed(self, entry: Entry) -> None:
        """The recorded state, or another seed for each call."""
        super().seed(entry)
        if self.rerun.seed is not None and entry.rng is not None:
            torch.manual_seed(self.rerun.seed * 1_000_003 + entry.index)

    def execute(self, entry: Entry) -> None:
        """Nothing for a call that is left out."""
        if entry.kind not in self.rerun.left_out:
            super().execute(entry)

    def resolve(self, reference: Slot | Leaf) -> Tensor:
        """The exchanged input where there is one."""
        if isinstance(reference, Leaf) and id(reference) in self.rerun.inputs:
            if id(reference) not in self.given:
                self.given[id(reference)] = self.rerun.inputs[id(reference)].detach().clone().requires_grad_(reference.tensor.requires_grad)
            return self.given[id(reference)]
        if isinstance(reference, Leaf) and self.rerun.cast is not None and not isinstance(reference.tensor, torch.nn.Parameter):
            return self.cast(reference)
        return super().resolve(reference)

    def cast(self, leaf: Leaf) -> Tensor:
        """An input in the dtype and on the device asked for; one tensor for each leaf."""
        if id(leaf) not in self.given:
            assert self.rerun.cast is not None
            value = super().resolve(leaf).detach()
            self.given[id(leaf)] = self.rerun.cast(value).requires_grad_(leaf.tensor.requires_grad)
        return self.given[id(leaf)]

    def call(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """An update that is part of the step has the settings of its time, then the changed ones."""
        if entry.kind == "backward":
            self.before_backward(args[0][0])
        if entry.kind == "step":
            optimizer = args[0]
            for group, then in zip(optimizer.param_groups, entry.settings, strict=False):
                group.update(then)
            gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
            for hook in self.rerun.on_gradients:
                hook(gradients)
            for change in self.rerun.on_update:
                change(optimizer)
            if self.rerun.step_by is not None:
                return self.rerun.step_by(optimizer)
        return super().call(entry, args, kwargs)
