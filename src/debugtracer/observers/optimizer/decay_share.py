"""Measures weight decay beside the gradient in the first updates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.origins.setting_origin import setting_line
from debugtracer.errors import guarded
from debugtracer.observers.numerics.tensor_health import l2s_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.decay_share import DecayShare
from debugtracer.trace.number import number

LOOKS = 3  # updates of an optimizer (ours)
MELTS = 0.01  # rate times decay from which its line is looked for (ours)
MOST = 99  # no constructor takes it by place
DECOUPLED = ("AdamW", "Adafactor", "Lion", "Muon", "LAMB", "Lamb")
ADAPTIVE = ("Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "RMSpropTF")


class DecayShareObserver(Observer):
    """Two norms for each group that decays, in the first three updates."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks: ById[Optimizer, list[int]] = ById()
        self.count = 0

    def reset(self) -> None:
        self.looks.clear()

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Measure the groups that decay."""
        known = self.looks.get(optimizer)
        if known is None:
            known = self.looks[optimizer] = [self.count, 0]
            self.count += 1
        if known[1] >= LOOKS:
            return
        groups = [g for g in optimizer.param_groups if is_plain(g.get("weight_decay")) and is_plain(g.get("lr"))]
        if not groups:
            known[1] = LOOKS
            return
        decays, grads = norms(groups, self.run.state.norms.of_gradients(parameters(optimizer)) or {})
        kind = type(optimizer).__name__
        decay, lr = max(float(g["weight_decay"]) for g in groups), max(float(g["lr"]) for g in groups)
        large = known[1] == LOOKS - 1 and (decays >= grads or decay * lr > MELTS)
        self.run.emit(
            DecayShare(
                ref=self.run.ref("update", self.run.iteration - 1), optimizer=known[0], kind=kind,
                frame=self.run.built_at(optimizer), number=known[1], decay=number(decay), lr=number(lr),
                decay_frame=self.said_at(optimizer, decay) if large else None,
                decoupled=kind in DECOUPLED or any(g.get("decoupled_weight_decay") for g in groups),
                adaptive=kind in ADAPTIVE, decay_l2=number(decays), grad_l2=number(grads),
            )
        )  # fmt: skip
        known[1] += 1

    def said_at(self, optimizer: Optimizer, decay: float) -> Frame | None:
        """The line of the constant or option that says the decay. Reads source."""
        stack = frames_of(self.run.state.optimizers.get(optimizer) or ())
        return guarded("decay_share.line")(setting_line)(stack, type(optimizer).__name__, "weight_decay", MOST, decay)


def is_plain(value: Any) -> bool:
    """Whether this is a number above 0 that can be read without waiting for a device."""
    return isinstance(value, (int, float)) and value > 0


def norms(groups: list[dict[str, Any]], read: Mapping[int, float]) -> tuple[float, float]:
    """The norm of decay times weight, and of the gradient, over all parameters with one; `read` are those of gradients
    that are known, by the id of their parameter."""
    decays: list[float] = []
    grads: list[float] = []
    for group in groups:
        held = [p for p in group["params"] if p.grad is not None and p.grad.layout is torch.strided]
        decays += [l2 * group["weight_decay"] for l2 in l2s_of(held)]
        grads += [read[id(p)] for p in held if id(p) in read]
        grads += l2s_of([p.grad for p in held if id(p) not in read])
    return math.hypot(*decays), math.hypot(*grads)
