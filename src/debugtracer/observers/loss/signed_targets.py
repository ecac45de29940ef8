"""Counts, on inspected steps, the targets of losses that know 1 and -1 alone."""

from __future__ import annotations

import inspect
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.signed_target import SIGNED, SignedTarget
from debugtracer.trace.number import number

MOST = 8  # calls emitted of a step (ours)
ELEMENTS = 2**20  # targets of a call that is looked at (ours)
ANY_NUMBER = frozenset({"soft_margin_loss", "margin_ranking_loss"})
"""Losses that multiply with the target: only 0 pulls nowhere."""


class SignedTargetsObserver(Observer):
    """One host sync for each call of such a loss, in inspected steps alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.step, self.emitted, self.number = -1, 0, 0

    @of_functions(SIGNED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Measure the targets of one call."""
        name = getattr(function, "__name__", "")
        if name not in SIGNED or not torch.is_grad_enabled():
            return
        if self.step != self.run.step:
            self.step, self.emitted = self.run.step, 0
        bound = inspect.signature(getattr(F, name)).bind(*args, **kwargs).arguments
        target, reduction = bound["target"], bound.get("reduction", "mean")
        whole = isinstance(target, Tensor) and is_dense(target) and 0 < target.numel() <= ELEMENTS
        if whole and reduction != "none" and self.emitted < MOST:  # with "none" a mask may follow
            self.emitted, self.number = self.emitted + 1, self.number + 1
            self.emit(name, target.detach())

    def emit(self, name: str, target: Tensor) -> None:
        """Write down what the targets are."""
        with torch.no_grad():
            values = target.double() if target.is_floating_point() else target.long()
            pulls = values != 0 if name in ANY_NUMBER else values.abs() == 1
            counted = [(~pulls).sum(), (values < 0).sum(), values.min(), values.max()]
            other, negative, low, high = torch.stack([c.double() for c in counted]).tolist()
        running = running_module()
        self.run.emit(
            SignedTarget(
                ref=self.run.ref(), loss=name, number=self.number, total=target.numel(), other=int(other),
                negative=int(negative), low=number(low), high=number(high), frame=self.run.here(),
                module=path_of(running, self.run.modules()) if running is not None else None,
            )
        )  # fmt: skip
