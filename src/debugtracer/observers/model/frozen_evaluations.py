"""Compares which parameters can be trained before, in and after an evaluation."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.freezing import freezing_line, train_that_freezes
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.frozen_evaluation import FrozenEvaluation

LEAST_STEPS = 8  # updates without them before it is told (ours)
NAMED = 4  # parameters named as evidence


class FrozenEvaluationsObserver(Observer):
    """Reads flags of parameters twice an evaluation; between them one look at the mode of the model called."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.trained = False
        """A model was called for training since the last evaluation."""
        self.trainable: list[WeakRef[Tensor]] = []
        """Parameters that could be trained when training went on after the last evaluation."""
        self.suspects: list[WeakRef[Tensor]] = []
        self.raw: RawFrames = ()
        self.step = 0
        self.files: list[str] = []

    def reset(self) -> None:
        self.trained, self.trainable, self.suspects = False, [], []

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note the first call of each phase."""
        training = module.training
        if training is self.trained or training is not torch.is_grad_enabled():
            return
        if next(iter(module.parameters()), None) is None:
            return
        self.trained = training
        if training:
            self.begins()
        else:
            self.evaluates(module)

    def held(self) -> list[Tensor]:
        """The parameters of all optimizers, each once."""
        return list({id(p): p for optimizer in self.run.optimizers for p in parameters(optimizer)}.values())

    def begins(self) -> None:
        """Note what can be trained, and forget suspects that are unfrozen again."""
        self.trainable = [WeakRef(p) for p in self.held() if p.requires_grad]
        self.suspects = [r for r in self.suspects if (p := r()) is not None and not p.requires_grad]

    def evaluates(self, module: nn.Module) -> None:
        """Find what was trained by the last update and is frozen now; tell of what stayed so since the last time."""
        self.tell()
        if not self.run.iteration:
            return
        known = [p for reference in self.trainable if (p := reference()) is not None]
        frozen = [p for p in known if not p.requires_grad]
        others = [p for p in known if p.requires_grad]
        if not frozen or not others or not self.were_trained(frozen, others):
            return
        self.suspects, self.step = [WeakRef(p) for p in frozen], self.run.step
        self.raw = raw_frames(1)
        made = getattr(sys.modules.get(type(module).__module__), "__file__", None)
        self.files = [made] if made else []

    def were_trained(self, frozen: list[Tensor], others: list[Tensor]) -> bool:
        """Whether the last update moved what is frozen now: it has a gradient as the others have, or, where all are
        cleared, was updated as often as they were."""
        if any(p.grad is not None for p in others):
            return all(p.grad is not None for p in frozen)
        counts = {id(p): updates_of(state) for o in self.run.optimizers for p, state in list(o.state.items())}
        last = max((counts.get(id(p), 0) for p in others), default=0)
        return last > 0 and all(counts.get(id(p)) == last for p in frozen)

    def tell(self) -> None:
        """Emit parameters that are still frozen some updates later."""
        steps = self.run.step - self.step
        found = [p for reference in self.suspects if (p := reference()) is not None and not p.requires_grad]
        if not found or steps < LEAST_STEPS:
            return
        self.suspects = []
        names, held = self.run.names(), self.held()
        frame = first(self.raw)
        by = freezing_line([*([frame.file] if frame is not None else []), *self.files])
        self.run.emit(
            FrozenEvaluation(
                ref=self.run.ref("update", self.run.iteration - 1),
                params=tuple(names.get(id(p), f"parameter of shape {tuple(p.shape)}") for p in found[:NAMED]),
                count=len(found),
                share=sum(p.numel() for p in found) / max(sum(p.numel() for p in held), 1),
                held=len(held),
                steps=steps,
                frame=frame,
                frozen_by=by,
                by_train=train_that_freezes(by),
            )
        )

    def ended(self) -> None:
        """Emit what is still frozen when the run is over."""
        self.tell()


def updates_of(state: Any) -> int:
    """How often a parameter was updated, where its optimizer counts that (Adam); a host sync on a device."""
    step = state.get("step") if isinstance(state, dict) else None
    return int(step) if isinstance(step, (int, float, Tensor)) else 0
