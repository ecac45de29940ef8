"""What is left of a step while the observers rest: its number, its loss, the norm of its gradients, and the root calls
that its forward could be executed again from."""

from __future__ import annotations

import math
import sys
from time import perf_counter
from typing import Any

from torch import Tensor, is_grad_enabled, nn
from torch.optim import Optimizer

from debugtracer.callsites.own_frames import hide
from debugtracer.hooks.loop_events import Args, Call, Kwargs, RestableEvents
from debugtracer.recorder.batches import Batch
from debugtracer.recorder.norms import loss_value
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.step_call import after_closure, closure_of
from debugtracer.recorder.step_gate import StepGate
from debugtracer.recorder.training_events import TrainingEvents


class RestingEvents(RestableEvents):
    """One per session. Some tens of microseconds a step."""

    def __init__(self, recorder: Recorder, gate: StepGate, observers: TrainingEvents) -> None:
        self.recorder, self.gate, self.observers = recorder, gate, observers
        self.state = recorder.state
        self.root_args: Args = ()
        self.latest: Tensor | None = None
        """The loss of the backward that begins, without its graph."""
        self.loss: float | None = None
        """The loss of the last backward, where it can be read without waiting."""
        self.scheduling = False
        """The program steps a scheduler: its calls are counted beside the updates."""

    def fetched(self, batch: Batch, data: Any) -> None:
        self.state.open_root.reset()
        self.state.fetched_at = self.state.iteration

    def entered(self, module: nn.Module, args: Args) -> None:
        self.root_args = args
        if not is_grad_enabled():
            self.observers.entered(module, args)
        self.state.forward_since = True

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        args, self.root_args = self.root_args, ()
        if failed:
            hide(sys.exc_info()[1])
        elif is_grad_enabled():
            root = self.state.roots.get(module)
            if root is not None and not root.mutates_inputs:
                self.recorder.tape.defer(module, args, kwargs, output)
        else:
            self.observers.left(module, args, kwargs, output)

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        return None  # functions are reported in inspected steps alone, which are never at rest

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        return None

    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: Kwargs) -> bool | None:
        begin = perf_counter()
        state, segment = self.state, self.recorder.tape.current
        state.last_loss = loss = self.latest if self.latest is not None else given[0].detach()
        self.latest = None
        segment.losses.append((loss, None))
        segment.backwards.append(len(segment.entries))
        state.iteration += 1
        state.forward_since = False
        state.own_s += perf_counter() - begin
        return None

    def backward_ended(self, popped: bool | None, failed: bool) -> None:
        if popped is not None:  # it began while all worked
            self.recorder.after_backward(popped, failed)
        if self.scheduling and not failed:
            self.observers.backward_ended([])

    def count_schedule(self) -> None:
        """Count backward calls and updates from here on, for the program steps a scheduler beside them."""
        self.scheduling = True

    def scheduled(self, scheduler: Any, args: Args, kwargs: Kwargs) -> None:
        self.observers.scheduled(scheduler, args, kwargs)

    def reads_bad_loss(self, given: list[Tensor]) -> bool:
        """Read the loss of the backward that begins, where nothing waits for it; True when it is NaN or infinite."""
        self.latest = given[0].detach()
        self.loss = loss_value(self.latest)
        return self.loss is not None and not math.isfinite(self.loss)

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        norm = original(*args, **kwargs)
        self.gate.health_gate.gradient_norm.clip_returned(args, kwargs, norm)
        return norm

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs) -> Any:
        closure = closure_of(args, kwargs)
        if closure is not None:
            args, kwargs = after_closure(closure, args, kwargs)
        loss, self.loss = self.loss, None
        return self.gate.at_rest(optimizer, original, args, kwargs, loss, self.scheduling)
