"""What is left of a step while the observers rest: its number, its loss, the norm of its gradients, and the root calls
that its forward could be executed again from."""

from __future__ import annotations

import sys
from typing import Any

from torch import is_grad_enabled, nn
from torch.optim import Optimizer

from debugtracer.callsites.own_frames import hide
from debugtracer.hooks.events.loop_events import Args, Call, Kwargs, RestableEvents
from debugtracer.hooks.events.silent_calls import SilentCalls
from debugtracer.hooks.scaler import current_scale
from debugtracer.recorder.gate.resting_backwards import RestingBackwards
from debugtracer.recorder.gate.resting_scaler import RestingScaler
from debugtracer.recorder.gate.resting_steps import RestingSteps
from debugtracer.recorder.gate.step_call import after_closure, closure_of
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.training_events import TrainingEvents


class RestingEvents(RestableEvents):
    """One per session. Some tens of microseconds a step."""

    def __init__(
        self, recorder: Recorder, steps: RestingSteps, backwards: RestingBackwards, observers: TrainingEvents
    ) -> None:
        self.recorder, self.steps, self.backwards, self.observers = recorder, steps, backwards, observers
        self.state, self.roots = recorder.state, recorder.state.roots.known
        self.tape = recorder.tape
        self.root_args: Args = ()
        self.scaler = RestingScaler(steps)
        self.silent = SilentCalls(self.state, observers)
        self.scheduling = False
        """The program steps a scheduler: its calls are counted beside the updates."""

    def fetched(self, batch: Batch, data: Any) -> None:
        self.state.fetched()

    def entered(self, module: nn.Module, args: Args) -> None:
        self.root_args = args
        if not is_grad_enabled():
            self.silent.entered(module, args)
        elif not self.state.stepped:
            self.backwards.entered(module)
        self.state.forward_since = True

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        args, self.root_args = self.root_args, ()
        if failed:
            hide(sys.exc_info()[1])
        else:
            self.keep(module, args, kwargs, output)

    def returned(self, module: nn.Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Take a whole root call, seen at its end alone."""
        if is_grad_enabled():
            if not self.state.stepped:
                self.backwards.entered(module)
            known = self.roots.data.get(id(module))
            if known is not None and known[0]() is module and not known[1].mutates_inputs:
                self.tape.defer(module, args, kwargs, output)
        else:
            self.silent.entered(module, args)
            self.silent.left(module, args, kwargs, output)

    def keep(self, module: nn.Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Keep a root call until its step ends; one without a graph is told."""
        if is_grad_enabled():
            root = self.roots.get(module)
            if root is not None and not root.mutates_inputs:
                self.tape.defer(module, args, kwargs, output)
        else:
            self.silent.left(module, args, kwargs, output)

    def begin(self) -> None:
        """Prepare for steps of which some calls are not told."""
        self.silent.begin()

    def rest_calls(self, rests: bool) -> None:
        """Called where root calls and batches are not told any more, and where they are again."""
        self.steps.rest_calls(rests)
        self.backwards.trained.rest_calls(rests)
        self.silent.begin()

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        return None  # functions are reported in inspected steps alone, which are never at rest

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
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

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        norm = original(*args, **kwargs)
        self.steps.health_gate.gradient_norm.clip_returned(args, kwargs, norm)
        return norm

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs, itself: bool) -> Any:
        """Run a step whose gradients are read, those of each call of its closure where it calls that itself."""
        closure = closure_of(args, kwargs) if args or kwargs else None
        if closure is not None and itself:
            return self.steps.with_closures(optimizer, original, closure, args, kwargs, self.scheduling)
        if closure is not None:
            args, kwargs = after_closure(closure, args, kwargs)
        return self.steps.step(optimizer, original, args, kwargs, self.scheduling)

    def scaler_call(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        if word == "step":
            return self.scaler.step(scaler, original, args, kwargs, current_scale(scaler), self.scheduling)
        output = original(scaler, *args, **kwargs)
        if word == "scale":
            self.state.scaled.add(args[0] if args else kwargs.get("outputs"), output)
        return output
