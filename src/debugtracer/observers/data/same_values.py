"""Sees whether each step is given the same data, in any order of its rows: a run whose one batch is the whole set."""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.data.digest import readable
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.same_values import SameValues

LOOKS = 3  # steps that must agree before anything is said (ours: a rollout is learnt from more than once)
MOST = 1 << 20  # values of a tensor that is read (ours)
TENSORS = 32  # read in a step (ours)


class SameValuesObserver(Observer):
    """Sums that no order changes, of what the loop hands to torch; it looks at two steps where they differ, which is
    nearly always."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.forget()

    def forget(self) -> None:
        """Reset to a run of which nothing is known yet."""
        self.first: set[tuple[object, ...]] = set()
        self.now: set[tuple[object, ...]] = set()
        self.read_now = 0
        """Tensors read in this step."""
        self.made: dict[int, WeakRef[Tensor]] = {}
        """What this step computed from parameters and let go of the graph: no data."""
        self.looks = 0
        self.began = self.inside = self.over = False

    def reset(self) -> None:
        self.forget()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Read what the loop gives a module; what is called inside of it is the module's own."""
        self.inside = True
        self.read(args)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Read what it was given by name, and note what it gave without a graph."""
        self.inside = False
        self.read(kwargs.values())
        self.note(output)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Read what the loop gives a function."""
        if self.inside or self.over:
            return
        tensors = [value for value in chain(args, kwargs.values()) if isinstance(value, Tensor)]
        if any(value.requires_grad or self.computed(value) for value in tensors):
            self.note(output)
        self.read(tensors)

    def note(self, output: Any) -> None:
        """Keep in mind a result that hangs on parameters and does not show it."""
        for value in output if isinstance(output, (tuple, list)) else (output,):
            if isinstance(value, Tensor) and not value.requires_grad and len(self.made) < MOST:
                self.made[id(value)] = WeakRef(value)

    def computed(self, value: Tensor) -> bool:
        """Whether a tensor without a graph was made of parameters."""
        known = self.made.get(id(value))
        return known is not None and known() is value

    def read(self, values: Any) -> None:
        """Take the sums of data that was not read in this step."""
        if self.over or not torch.is_grad_enabled():
            return
        for value in values:
            if not isinstance(value, Tensor) or value.requires_grad or isinstance(value, nn.Parameter):
                continue
            if self.read_now >= TENSORS or self.computed(value) or value.numel() < 2:
                continue
            if value.numel() > MOST or not readable(value):
                self.over = True
                return
            self.read_now += 1
            if self.began:  # what was read before is compared with nothing
                self.now.add(sums(value))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Compare the step with the second of the run: what was read before the first one may have made the data."""
        now, self.now, self.read_now, self.made = self.now, set(), 0, {}
        began, self.began = self.began, True
        if self.over or not began or not now:
            return
        self.first = self.first or now
        if now == self.first:
            self.looks += 1
            if self.looks == LOOKS:
                self.run.emit(SameValues(ref=self.run.ref("update", self.run.iteration - 1), looks=LOOKS))
            return
        self.over = True
        if self.looks >= LOOKS:
            ref = self.run.ref("update", self.run.iteration - 1)
            self.run.emit(SameValues(ref=ref, looks=self.looks + 1, same=False))
        self.run.unsubscribe(self.called, self.entered, self.left)


def sums(value: Tensor) -> tuple[object, ...]:
    """What says that two tensors hold the same values in some order: sums of terms that are never negative, so that
    their order moves the last digits only."""
    with torch.no_grad():
        wide = value.detach().to(torch.complex128 if value.is_complex() else torch.float64)
        size = wide.abs()
        told = torch.stack(
            [size.sum(), size.square().sum(), (wide.real if value.is_complex() else wide).clamp_min(0).sum()]
        )
        return tuple(value.shape), str(value.dtype), *(f"{number:.9e}" for number in told.tolist())
