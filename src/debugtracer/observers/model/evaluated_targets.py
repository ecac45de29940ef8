"""Looks for models that training gives their own targets (teacher forcing), and asks of the first evaluation that does
so, too, how its outputs depend on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.model.recorded_call import RecordedCall, may_be_called_again, simple
from debugtracer.observers.model.shadow_model import is_traced, unnoticed
from debugtracer.observers.model.target_trials import RUNS, is_given, targets_used
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.evaluated_targets import EvaluatedTargets

LOOKS = 3  # inspected backwards in which models are looked for (ours)
MOST = 2**20  # elements of targets that are compared (ours)
CALLS = 4  # of models and of losses that are noted in a step (ours)


class GivenCall(NamedTuple):
    """A call of a model in training."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class EvaluatedTargetsObserver(Observer):
    """Some forwards of a deep copy at the first evaluation of such a model; the program's model, generators and
    gradients are not touched."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[GivenCall] = []
        self.wanted: list[tuple[Tensor, RawFrames]] = []
        self.forced: ById[nn.Module, tuple[int, RawFrames]] = ById()
        """Models that get their targets in training: the number of the argument, and the loss."""
        self.looks = 0

    def reset(self) -> None:
        self.forget()
        self.forced.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Let go of the step in flight."""
        self.given, self.wanted = [], []

    @of_functions(COMPARED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss."""
        name = getattr(function, "__name__", "")
        if name not in COMPARED or not torch.is_grad_enabled() or len(self.wanted) >= CALLS:
            return
        target = arguments(name, args, kwargs)["target"]
        if not target.requires_grad and target.numel() <= MOST:
            self.wanted.append((target, raw_frames(1)))

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a call of training in an inspected step; ask at the first one of an evaluation."""
        if torch.is_grad_enabled():
            several = sum(isinstance(one, Tensor) for one in (*args, *kwargs.values())) > 1
            if self.looks < LOOKS and self.run.inspecting and several and len(self.given) < CALLS:
                self.given.append(GivenCall(module, args, kwargs))
        elif self.forced and not module.training and (known := self.forced.pop(module, None)) is not None:
            self.evaluated(module, args, kwargs, *known)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find the models that were given what the loss asks for."""
        given, wanted = self.given, self.wanted
        self.forget()
        self.looks += 1
        for call in given:
            values = [*call.args, *call.kwargs.values()]
            found = [(n, raw) for target, raw in wanted for n, one in enumerate(values) if is_given(one, target)]
            if found and self.run.function_tests and any(True for _ in call.module.parameters()):
                self.forced[call.module] = found[0]
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins)
            if not self.forced:
                self.run.unsubscribe(self.left)

    def evaluated(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], number: int, raw: RawFrames
    ) -> None:
        """Try a copy with what an evaluation gives the model, and emit what depends on the targets."""
        if not simple((*args, *kwargs.values())) or is_traced() or not may_be_called_again(module):
            return
        call = RecordedCall(module, args, kwargs)
        values, names = call.whole(), call.names()
        if number >= len(values) or not isinstance(values[number], Tensor) or values[number].dim() < 2:
            return
        with unnoticed(self.run.disabled):
            try:
                shadow = self.run.shadows.of(module, call.autocast, self.run.iteration)
                used = targets_used(shadow, call.args, call.kwargs, values[number])
            except Exception:
                return  # a model that cannot be copied or called once more is no fault
        if used:
            self.run.emit(
                EvaluatedTargets(
                    ref=self.run.ref("forward", self.run.iteration - 1), root=type(module).__name__,
                    argument=names[number], runs=RUNS, used=used, numbers=values[number].is_floating_point(),
                    frame=first(raw_frames(2)), loss_frame=first(raw),
                )
            )  # fmt: skip
