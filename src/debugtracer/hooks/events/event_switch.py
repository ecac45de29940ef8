"""Where the events of a loop go: to what records and observes all of a step, or, to stay under the promised cost, to
what looks at its loss and gradients alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.hooks.events.built_lines import BuiltLines
from debugtracer.hooks.events.call_rest import CallRest
from debugtracer.hooks.events.loop_events import Args, Call, Kwargs, LoopEvents, RestableEvents
from debugtracer.hooks.events.resting_events import RestingEvents
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.recorder.gate.step_call import steps_itself
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.training_events import TrainingEvents


class RestingObservers(TrainingEvents, Protocol):
    """Observers that can rest."""

    def rest(self, rests: bool) -> None:
        """Listen only to what is lost otherwise, until `rest(False)`."""


class EventSwitch(LoopEvents):
    """One per session. It changes between two steps, and at once where something is seen that must not be missed: a bad
    number, something new, a GradScaler."""

    def __init__(
        self, working: StepEvents, resting: RestingEvents, observers: RestingObservers, governor: Governor
    ) -> None:
        self.working, self.resting, self.observers, self.governor = working, resting, observers, governor
        self.target: RestableEvents = working
        self.scales = False
        """The program scales its losses: it is followed call by call until its scaler is known."""
        self.observers_rest = False
        """The observers alone rest, in a loop that writes its weights itself: its backward calls are its gate."""
        self.by_hand = False
        """What rests is such a loop."""
        self.listeners: list[Callable[[bool], None]] = []
        self.calls, self.passed = CallRest(resting), resting.steps.passed
        self.known = working.gate.known.data
        self.lines = BuiltLines(working.state, working.gate.known)

    def on_rest(self, listener: Callable[[bool], None]) -> None:
        """Call the listener whenever all rests, and when it works again."""
        self.listeners.append(listener)

    def tell(self, rests: bool) -> None:
        """Tell whoever listens of it."""
        for listener in self.listeners:
            listener(rests)

    def wake(self) -> None:
        """Let everything work from here on; what rested hears that it has missed something."""
        if self.target is self.working:
            self.rest_observers(False)
            return
        self.target = self.working
        self.calls.change(False)
        self.tell(False)
        self.resting.steps.wake()
        self.working.recorder.guarded(self.working.recorder.tape.record_deferred)
        self.observers.rest(False)
        self.observers.missed()

    def between_steps(self) -> None:
        """Let all rest or work where the governor says so; never inside a root call."""
        if self.all_works():
            self.wake()
        elif self.target is self.working and self.is_between_calls():
            self.target, self.by_hand = self.resting, False
            self.resting.begin()
            self.resting.steps.begin()
            self.observers.rest(True)
            self.tell(True)
        elif self.target is self.resting and not self.by_hand:
            self.rest_calls(True)

    def rest_calls(self, allowed: bool) -> None:
        """Let root calls and batches rest, where that is allowed, or report them again."""
        rests = allowed and not self.governor.affords(Part.CALLS) and self.calls.may_rest()
        self.calls.change(rests and self.is_between_calls())

    def between_backwards(self) -> None:
        """Let all rest or work in a loop that writes its weights itself; its observers alone where only its calls tell
        what it trains."""
        if self.scales or self.all_works():
            self.wake()
        elif self.target is self.working and self.is_between_calls() and self.resting.backwards.can_begin():
            self.target, self.by_hand, self.observers_rest = self.resting, True, False
            self.resting.begin()
            self.resting.backwards.begin()
            self.observers.rest(True)
            self.tell(True)
        elif self.target is self.working:
            self.rest_observers(True)
        elif self.by_hand:
            self.rest_calls(self.resting.backwards.calls_may_rest())

    def all_works(self) -> bool:
        """Whether nothing rests in the next step: it is paid for, looked at closely, or an alarm is looked into."""
        working = self.working
        return self.governor.affords(Part.OBSERVERS) or working.state.quiet_until_healthy or working.inspection.on

    def is_between_calls(self) -> bool:
        """Whether no root call and no backward is in flight in this thread: an optimizer may step inside one."""
        return self.working.state.open_root.module is None and torch._C._current_graph_task_id() == -1

    def rest_observers(self, rests: bool) -> None:
        """Let the observers alone rest, or work again after they have missed something."""
        if rests == self.observers_rest:
            return
        self.observers_rest = rests
        self.observers.rest(rests)
        if not rests:
            self.observers.missed()

    def reset(self) -> None:
        """Begin anew, with everything at work."""
        self.observers.rest(False)
        self.resting.steps.reset()
        self.lines.reset()
        self.target, self.scales, self.observers_rest = self.working, False, False
        self.calls.change(False)
        self.tell(False)

    def rests(self) -> bool:
        return self.target is self.resting

    def takes_loss(self, given: Tensor | Sequence[Tensor]) -> bool | None:
        resting = self.resting
        if self.target is not resting:
            return None
        if self.passed.to_come:
            return self.passed.backward(self.by_hand) and resting.scheduling
        try:
            if not resting.steps.take_loss(given if isinstance(given, Tensor) else given[0]):
                return None
        except Exception as error:
            swallow("hooks.events.event_switch", error)
            return None
        return self.by_hand or resting.scheduling

    def next_fetch(self) -> None:
        self.working.next_fetch()

    def again(self, iterator: Any) -> tuple[Any] | None:
        return self.working.again(iterator)

    def fetched(self, batch: Batch, data: Any) -> None:
        self.target.fetched(batch, data)

    def handed_out(self, iterator: Any, data: Any) -> None:
        self.working.policy.handed_out(iterator, data)

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        self.working.loader_iterated(info, iterator)

    def entered(self, module: nn.Module, args: Args) -> None:
        self.target.entered(module, args)

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        self.target.left(module, kwargs, output, failed)

    def custom_function(self, apply: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.target.custom_function(apply, args, kwargs)

    def compiles(self) -> None:
        self.wake()
        self.working.compiles()

    def root_called(self, module: nn.Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Hand on a root call that a stand-in has seen at rest."""
        try:
            if self.target is self.resting:
                self.resting.returned(module, args, kwargs, output)
            else:
                self.working.left(module, kwargs, output, False)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.events.event_switch", error)

    def root_failed(self, module: nn.Module) -> None:
        """Hand on one that raised."""
        self.target.left(module, {}, None, True)

    def peeked(self, loss: Tensor) -> None:
        self.wake()
        self.working.peeked(loss)

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.target.called(function, args, kwargs, output)

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.target.scored(function, args, kwargs, output)

    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: Kwargs) -> bool | None:
        if self.target is self.resting:
            self.wake()
        return self.working.backward_begins(given, grad_tensors, options)

    def backward_ended(self, popped: bool | None, failed: bool) -> None:
        if self.target is self.resting:
            if popped is not None or self.resting.scheduling:
                self.resting.backward_ended(popped, failed)
            if self.by_hand and not failed:
                if not self.resting.backwards.end():
                    self.wake()
                    self.working.backward_gate.close()
                elif self.resting.steps.rows:
                    return
                self.working.look_closely()
                self.between_backwards()
            return
        self.working.backward_ended(popped, failed)
        if self.working.state.backward_ends_step:
            self.between_backwards()

    def other_thread(self) -> None:
        self.working.other_thread()

    def zero_grad(self, owner: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        if self.target is self.resting:
            return original(owner, *args, **kwargs)
        return self.working.zero_grad(owner, original, args, kwargs)

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.target.clip(original, args, kwargs)

    def scaler_call(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        if not self.scales:
            self.scales = True
            self.passed.keep_all()
            self.wake()
        output = self.target.scaler_call(word, scaler, original, args, kwargs)
        if word == "step" and not (self.target is self.resting and self.resting.steps.rows):
            if self.target is self.resting:
                self.working.look_closely()
            self.between_steps()
        return output

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs) -> Any:
        if self.working.gate.scaler_call is not None:  # the step of its scaler is not over
            return self.working.gate.gate(optimizer, original, args, kwargs)
        known = self.known.get(id(optimizer)) if self.target is self.resting else None
        if known is not None and known[0]() is optimizer:
            resting, steps = self.resting, self.resting.steps
            # what is asked of every step comes first: each further call costs a microsecond or two
            itself = steps_itself(cast("Any", type(optimizer))) if args or kwargs else False
            if self.passed.to_come:
                output = original(optimizer, *args, **kwargs)
                if self.passed.step(optimizer, resting.scheduling):
                    return output
                steps.ended(optimizer, None, resting.scheduling)
            elif steps.to_leave_out and not itself and not steps.skips and not resting.state.quiet_until_healthy:
                output = original(optimizer, *args, **kwargs)
                steps.ended(optimizer, None, resting.scheduling)
            else:
                output = resting.step(optimizer, original, args, kwargs, itself)
            if self.target is not resting:  # a bad loss in its closure
                self.resting.steps.publish()
            elif self.resting.steps.rows:
                return output
            self.working.look_closely()
        else:
            self.wake()
            output = self.working.step(optimizer, original, args, kwargs)
        self.between_steps()
        return output

    def optimizer_found(self, optimizer: Optimizer) -> None:
        if not self.lines.knows(optimizer) or self.target is self.working or self.by_hand:
            self.wake()
        self.working.optimizer_found(optimizer)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        if self.target is not self.resting:
            self.working.optimizer_built(optimizer)

    def scheduled(self, scheduler: Any, args: Args, kwargs: Kwargs) -> None:
        self.resting.count_schedule()
        self.target.scheduled(scheduler, args, kwargs)

    def scheduler_built(self, scheduler: Any) -> None:
        self.wake()
        self.working.scheduler_built(scheduler)

    def settle(self) -> None:
        """Drop the root call in flight after an exception went through a step."""
        self.reset()
        self.working.settle()
