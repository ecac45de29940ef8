"""The way from the hooks inward, by one of two doors: everything is recorded and observed, or all but the numbers of
the step rests to stay under the promised cost."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.hooks.loop_events import Args, Call, Kwargs, LoopEvents
from debugtracer.hooks.resting_events import RestingEvents
from debugtracer.hooks.step_events import StepEvents
from debugtracer.recorder.batches import Batch, LoaderInfo
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.step_call import closure_of, decides_itself
from debugtracer.recorder.training_events import TrainingEvents


class RestingObservers(TrainingEvents, Protocol):
    """Observers that can rest."""

    def rest(self, rests: bool) -> None:
        """Listen only to what is lost otherwise, until `rest(False)`."""


class EventSwitch(LoopEvents):
    """One per session. It changes sides between two steps, and at once where something is seen that must not be missed:
    a bad number, something new, a GradScaler."""

    def __init__(
        self, awake: StepEvents, resting: RestingEvents, observers: RestingObservers, governor: Governor
    ) -> None:
        self.awake, self.resting = awake, resting
        self.observers, self.governor = observers, governor
        self.target: LoopEvents = awake
        self.must_stay = False
        """The program scales its losses, or its optimizer calls the loss itself: both are followed call by call."""

    def wake(self) -> None:
        """Let everything work from here on; what rested hears that it has missed something."""
        if self.target is self.awake:
            return
        self.target = self.awake
        self.awake.recorder.guarded(self.awake.recorder.tape.record_deferred)
        self.observers.rest(False)
        self.observers.missed()

    def between_steps(self) -> None:
        """Let all rest or work where the governor says so; never inside a root call."""
        if self.must_stay or self.governor.affords(Part.OBSERVERS) or self.awake.inspection.on:
            self.wake()
        elif self.target is self.awake and self.awake.state.open_root.module is None and not inside_backward():
            self.target = self.resting
            self.observers.rest(True)

    def reset(self) -> None:
        """Begin anew, with everything at work."""
        self.observers.rest(False)
        self.target, self.must_stay = self.awake, False

    # data
    def next_fetch(self) -> None:
        self.awake.next_fetch()

    def again(self, iterator: Any) -> tuple[Any] | None:
        return self.awake.again(iterator)

    def fetched(self, batch: Batch, data: Any) -> None:
        self.target.fetched(batch, data)

    def handed_out(self, iterator: Any, data: Any) -> None:
        self.awake.handed_out(iterator, data)

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        self.awake.loader_iterated(info, iterator)

    # model
    def entered(self, module: nn.Module, args: Args) -> None:
        self.target.entered(module, args)

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        self.target.left(module, kwargs, output, failed)

    def custom_function(self, apply: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.target.custom_function(apply, args, kwargs)

    def compiles(self) -> None:
        self.awake.compiles()

    def peeked(self, loss: Tensor) -> None:
        self.wake()
        self.awake.peeked(loss)

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.target.called(function, args, kwargs, output)

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.target.scored(function, args, kwargs, output)

    # step
    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: Kwargs) -> bool | None:
        if self.target is self.resting and self.resting.is_bad(given):
            self.wake()
        return self.target.backward_begins(given, grad_tensors, options)

    def backward_ended(self, popped: bool | None, failed: bool) -> None:
        self.target.backward_ended(popped, failed)

    def other_thread(self) -> None:
        self.awake.other_thread()

    def zero_grad(self, owner: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.target.zero_grad(owner, original, args, kwargs)

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.target.clip(original, args, kwargs)

    def scaler_call(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        self.must_stay = True
        self.wake()
        return self.awake.scaler_call(word, scaler, original, args, kwargs)

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs) -> Any:
        if (args or kwargs) and closure_of(args, kwargs) is not None and decides_itself(optimizer):
            self.must_stay = True
        if self.must_stay or (self.target is self.resting and not self.resting.gate.knows(optimizer)):
            self.wake()
        output = self.target.step(optimizer, original, args, kwargs)
        if self.target is self.resting:
            self.awake.look_closely()
        self.between_steps()
        return output

    def optimizer_found(self) -> None:
        self.wake()
        self.awake.optimizer_found()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        self.wake()
        self.awake.optimizer_built(optimizer)

    def scheduled(self, scheduler: Any, args: Args, kwargs: Kwargs) -> None:
        self.resting.count_schedule()
        self.target.scheduled(scheduler, args, kwargs)

    def scheduler_built(self, scheduler: Any) -> None:
        self.wake()
        self.awake.scheduler_built(scheduler)

    def settle(self) -> None:
        """Drop the root call in flight after an exception went through a step."""
        self.reset()
        self.awake.settle()


def inside_backward() -> bool:
    """Whether a backward runs in this thread: an optimizer may step inside one."""
    return bool(torch._C._current_graph_task_id() != -1)
