"""Asks once of a model that is to give its input back whether it reads it in an order, as one that predicts each place
from those before it, and sees its own place, too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.place_order import is_given_back, masked_layer, place_order
from debugtracer.observers.model.recorded_call import RecordedCall, may_be_called_again, simple
from debugtracer.observers.model.shadow_model import is_traced, unnoticed
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.loss_call import BINARY, INDEXED
from debugtracer.trace.facts.own_places import OwnPlaces

MOST = 2**20  # elements of targets that are compared (ours)
SHORTEST = 6  # places (ours)
CALLS = 2  # of models and of losses that are kept of the first step (ours)


class OwnPlacesObserver(Observer):
    """Two forwards of a deep copy after the first backward; the program's model, generators and gradients are not
    touched."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.kept: list[RecordedCall] = []
        self.wanted: list[tuple[str, Tensor, RawFrames]] = []

    def reset(self) -> None:
        self.kept, self.wanted = [], []

    @of_functions(BINARY, INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the targets of the first likelihoods."""
        name = getattr(function, "__name__", "")
        if (name not in BINARY and name not in INDEXED) or not torch.is_grad_enabled() or len(self.wanted) >= CALLS:
            return
        target = arguments(name, args, kwargs)["target"]
        if not target.requires_grad and SHORTEST <= target.numel() <= MOST:
            self.wanted.append((name, target.detach().clone(), raw_frames(1)))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep what the first models were given: one input each."""
        if not self.run.function_tests or not torch.is_grad_enabled() or len(self.kept) >= CALLS:
            return
        values = (*args, *kwargs.values())
        if sum(isinstance(one, Tensor) for one in values) != 1 or not simple(values):
            return
        if any(True for _ in module.parameters()) and not any(one.module is module for one in self.kept):
            self.kept.append(RecordedCall(module, args, kwargs))

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Try the model whose input is the target of a loss."""
        kept, wanted = self.kept, self.wanted
        self.reset()
        self.run.unsubscribe(self.called, self.left, self.backward_ended)
        if is_traced():
            return
        for call in kept:
            (value,) = call.tensors()
            found = next((one for one in wanted if is_given_back(value, one[1])), None)
            if found is not None:
                self.ask(call, value, *found)
                return

    def ask(self, call: RecordedCall, value: Tensor, loss: str, target: Tensor, raw: RawFrames) -> None:
        """Try a copy, and emit what came of it."""
        if not may_be_called_again(call.module):
            return

        def given(other: Tensor) -> tuple[tuple[Any, ...], dict[str, Any]]:
            args = tuple(other if one is value else one for one in call.args)
            return args, {name: other if one is value else one for name, one in call.kwargs.items()}

        with unnoticed(self.run.disabled):
            try:
                shadow = self.run.shadows.of(call.module, call.autocast, self.run.iteration)
                told = place_order(shadow, value, given, target)
            except Exception:
                return  # a model that cannot be copied or called once more is no fault
        if told is None:
            return
        layer = masked_layer(call.module)
        made = made_at([call.module], f"{layer}.weight") if layer else None
        self.run.emit(
            OwnPlaces(
                ref=self.run.ref("forward", self.run.iteration - 1), root=type(call.module).__name__,
                tried=told.tried, own=told.own, reached=told.reached, ordered=told.ordered, loss=loss,
                module=layer or None, frame=made, called=call.frame, loss_frame=first(raw),
            )
        )  # fmt: skip
