"""Gives a shadow copy the same few inputs again, some updates later: do its outputs still differ?"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.model.function_trials import SLOW_S
from debugtracer.observers.model.recorded_call import RecordedCall, called_by_torch, first_samples, refused, simple
from debugtracer.observers.model.shadow_copies import ShadowCopies
from debugtracer.observers.model.shadow_model import ShadowModel, is_traced, unnoticed
from debugtracer.observers.model.side_effects import side_effect
from debugtracer.observers.observed_run import FIRST_STEPS, ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.answer_spread import AnswerSpread
from debugtracer.trace.number import number

LOOKS = (64, 128)  # iterations at which a copy is run (ours: an optimizer that ruins a model does so in ten)
FIRST_LOOK = FIRST_STEPS  # the iteration at which the copy of the first one is
ROOTS = 3  # roots that are looked at (ours)


class FirstInputs:
    """A root, the first samples it was given, and how far its outputs lay apart then."""

    def __init__(self, name: str, call: RecordedCall) -> None:
        self.name, self.module, self.autocast = name, WeakRef(call.module), call.autocast
        self.args, self.kwargs, self.samples = first_samples(call)
        self.first = 0.0
        self.copy: ShadowModel | None = None
        """As it was at the first look, until that is taken."""


class AnswerSpreadsObserver(Observer):
    """Three forwards of four samples on deep copies; the program's model, generators and gradients are not touched."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.kept: list[FirstInputs] = []

    def reset(self) -> None:
        self.kept.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the samples of the first calls."""
        root = self.run.state.roots.get(module)
        if not self.run.function_tests or self.run.iteration or len(self.kept) >= ROOTS or root is None:
            return
        if not torch.is_grad_enabled() or not root.has_parameters or not simple((*args, *kwargs.values())):
            return
        if any(k.module() is module for k in self.kept) or refused(module) is not None or root.draws.draws:
            return
        one = FirstInputs(type(module).__name__, RecordedCall(module, args, kwargs))
        if one.samples > 1:
            self.kept.append(one)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Run the copies when a look is due; the first one after the steps that are dear already."""
        at = self.run.iteration - 1
        if at == 0:
            self.run.unsubscribe(self.left)
            self.kept = [one for one in self.kept if self.copied(one)]
        if at == FIRST_LOOK or at in LOOKS:
            self.kept = [one for one in self.kept if self.look(one, at)]
        if not self.kept or at >= LOOKS[-1]:
            self.kept = []
            self.run.unsubscribe(self.left, self.backward_ended)

    def copied(self, one: FirstInputs) -> bool:
        """Copy a root as it is before its first update; whether it can be called."""
        module = one.module()
        if is_traced():
            return False  # a tracer would see ours
        if module is None or not called_by_torch() or side_effect(module) is not None:
            return False  # a replaced __call__ would see ours
        with unnoticed(self.run.disabled):
            one.copy = copy_of(self.run.shadows, module, one, self.run.iteration)
        return one.copy is not None

    def look(self, one: FirstInputs, at: int) -> bool:
        """Run a copy of one root; whether to look at it again. Not while the program traces its own calls."""
        if is_traced():
            return True
        module, copy, one.copy = one.module(), one.copy, None
        first = copy is not None
        if not called_by_torch():
            return False
        begin = perf_counter()
        with unnoticed(self.run.disabled):
            if copy is None and module is not None:
                copy = copy_of(self.run.shadows, module, one, self.run.iteration)
            found = spread(copy, one) if copy is not None else None
        if found is None or perf_counter() - begin > SLOW_S:
            return False
        apart, scale = found
        if first:
            one.first = apart
            return apart > 0
        self.run.emit(
            AnswerSpread(
                ref=self.run.ref("forward", at),
                root=one.name,
                samples=one.samples,
                first=number(one.first),
                now=number(apart),
                scale=number(scale),
            )
        )
        return True


def copy_of(shadows: ShadowCopies, module: nn.Module, one: FirstInputs, iteration: int) -> ShadowModel | None:
    """A copy of a root; None where it cannot be copied, which is no fault."""
    try:
        return shadows.of(module, one.autocast, iteration)
    except Exception:
        return None


def spread(copy: ShadowModel, one: FirstInputs) -> tuple[float, float] | None:
    """How far the outputs for the samples lie apart, and the size of all; None where the copy gives none of that
    shape."""
    try:
        output, _ = copy.run(one.args, one.kwargs)
    except Exception:  # a model that cannot be called once more is no fault
        return None
    if (
        output is None
        or output.is_meta
        or not output.dim()
        or output.shape[0] % one.samples
        or not output.is_floating_point()
    ):
        return None
    rows = output.detach().reshape(one.samples, -1).double()
    if rows.shape[1] == 0 or not bool(torch.isfinite(rows).all()):
        return None
    return float(rows.std(0).mean()), float(rows.std())
