"""Follows groups of parameters whose learning rate is 0 beside groups that learn: are their weights those of a new
layer?"""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from debugtracer.observers.observed_run import FIRST_STEPS, ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.default_init import DefaultInit
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.idle_group import IdleGroup
from debugtracer.trace.number import number

MOST = 16  # groups that are followed (ours: one group a layer is a way to give each a rate)


class Idle:
    """One group with a rate of 0."""

    def __init__(self, index: int, groups: int) -> None:
        self.index, self.groups = index, groups
        self.drawn = DefaultInit()
        self.param = ""
        """A matrix that was seen to have the values it was drawn with."""
        self.rate = 0.0


class IdleGroupsObserver(Observer):
    """Reads the rates of groups at the updates of inspected steps, and weights only of a group whose rate is 0."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.idle: ById[Optimizer, dict[int, Idle]] = ById()
        self.updates: ById[Optimizer, int] = ById()

    def reset(self) -> None:
        self.idle.clear()
        self.updates.clear()

    def step_begins(self, optimizer: Optimizer) -> None:
        """Count updates; a group that has a rate is followed no longer, nor one that got it before it was looked at."""
        begun = self.updates.get(optimizer) or 0
        self.updates[optimizer] = begun + 1
        if not begun:
            self.idle[optimizer] = first_idle(optimizer)
        groups = self.idle.get(optimizer)
        if not groups:
            if self.run.step >= FIRST_STEPS and not any(held for _, held in self.idle.items()):
                self.run.unsubscribe(self.step_begins)
            return
        for index in [i for i in groups if i >= len(optimizer.param_groups) or rate(optimizer.param_groups[i])]:
            del groups[index]
        if self.run.inspecting:
            for index, idle in groups.items():
                self.look(optimizer, optimizer.param_groups[index], idle)

    def look(self, optimizer: Optimizer, group: dict[str, Any], idle: Idle) -> None:
        """Compare the weights that have a gradient with those of a new layer; one that was set is none."""
        held = [p for p in group["params"] if p.grad is not None]
        fresh = [p for p in held if idle.drawn.untouched([p], self.run.iteration)]
        names = self.run.names() if fresh else {}
        idle.param = next((names[id(p)] for p in fresh if id(p) in names), "")
        idle.rate = max((rate(g) for g in optimizer.param_groups), default=0.0)

    def ended(self) -> None:
        """Emit the groups that never had a rate and hold weights as they were drawn."""
        for place, (optimizer, groups) in enumerate(list(self.idle.items())):
            total = sum(p.numel() for g in optimizer.param_groups for p in g["params"])
            for index, idle in groups.items():
                values = sum(p.numel() for p in optimizer.param_groups[index]["params"])
                if not idle.param or not idle.rate:
                    continue
                self.run.emit(
                    IdleGroup(
                        ref=self.run.ref("update", self.run.iteration - 1), optimizer=place,
                        kind=type(optimizer).__name__, frame=self.run.built_at(optimizer), group=index,
                        groups=len(optimizer.param_groups), updates=self.updates.get(optimizer) or 0, values=values,
                        share=values / max(total, 1), param=idle.param, rate=number(idle.rate),
                    )
                )  # fmt: skip


def first_idle(optimizer: Optimizer) -> dict[int, Idle]:
    """The groups without a rate, where others have one."""
    rates = [rate(group) for group in optimizer.param_groups]
    found = [index for index, value in enumerate(rates) if not value]
    return {i: Idle(i, len(rates)) for i in found} if len(found) < len(rates) and len(rates) <= MOST else {}


def rate(group: dict[str, Any]) -> float:
    """The rate of a group; one that is a tensor counts as a rate and is not read."""
    value = group.get("lr", 1.0)
    return float(value) if isinstance(value, (int, float)) else 1.0
