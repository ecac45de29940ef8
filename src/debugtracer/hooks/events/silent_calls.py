"""Root calls without a graph while all rests: an agent that plays makes hundreds a step, of which the first tells what
the others would."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from debugtracer.hooks.events.loop_events import Args, Kwargs
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.training_events import TrainingEvents


class SilentCalls:
    """One per session. Observers learn of them which batches are of an evaluation, whether one is under way, and its
    loss."""

    def __init__(self, state: RunState, observers: TrainingEvents) -> None:
        self.state, self.observers = state, observers
        self.fetch = -1
        """The batch, by its number, of which was told that a call without a graph followed."""
        self.training: bool | None = None
        """Whether the module that was told of last was in training."""

    def begin(self) -> None:
        """Report the next calls whatever they are."""
        self.fetch, self.training = -1, None

    def entered(self, module: nn.Module, args: Args) -> None:
        """Report the first call after each batch."""
        if self.fetch != self.state.fetches:
            self.fetch = self.state.fetches
            self.observers.entered(module, args)

    def left(self, module: nn.Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Report an output that may be a loss, and the first of each mode."""
        if type(output) is Tensor and output.numel() != 1 and module.training is self.training:
            return
        self.training = module.training
        self.observers.left(module, args, kwargs, output)
