"""The one way from the hooks inward: what a loop does goes to the recorder and the gate first, then to the
observers."""

from __future__ import annotations

import sys
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.own_frames import hide
from debugtracer.hooks.events.loop_events import Args, Call, Kwargs, LoopEvents
from debugtracer.hooks.events.scaler_events import ScalerEvents
from debugtracer.hooks.inspection import Inspection, InspectionMode
from debugtracer.recorder.gate.backward_gate import BackwardGate
from debugtracer.recorder.gate.step_gate import StepGate
from debugtracer.recorder.listeners import IncidentPolicy, Notes
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.training_events import TrainingEvents
from debugtracer.trace.window import BACKWARD_S, FORWARD_S

OTHER_THREAD = "a second thread trains too: it runs untouched and is neither counted nor watched"


class StepEvents(LoopEvents):
    """One per session."""

    def __init__(
        self,
        recorder: Recorder,
        gate: StepGate,
        backward_gate: BackwardGate,
        observers: TrainingEvents,
        inspection: Inspection,
        policy: IncidentPolicy,
        ring: SnapshotRing,
        notes: Notes,
    ) -> None:
        self.recorder, self.gate, self.observers = recorder, gate, observers
        self.backward_gate = backward_gate
        self.state, self.stack = recorder.state, recorder.stack
        self.policy, self.ring, self.notes = policy, ring, notes
        self.inspection = inspection
        self.inspected_call = InspectionMode(observers, recorder.state)
        self.scaler = ScalerEvents(recorder, gate, observers)
        self.losses: list[Tensor] = []
        self.root_args: Args = ()

    # data
    def next_fetch(self) -> None:
        self.policy.next_fetch()

    def again(self, iterator: Any) -> tuple[Any] | None:
        return self.policy.again(iterator)

    def fetched(self, batch: Batch, data: Any) -> None:
        if self.state.open_root.reset():
            self.inspected_call.end()
            self.stack.push()
        self.recorder.on_fetch()
        self.observers.fetched(batch, data)

    def handed_out(self, iterator: Any, data: Any) -> None:
        self.policy.handed_out(iterator, data)

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        self.observers.loader_iterated(info, iterator)

    # model
    def entered(self, module: nn.Module, args: Args) -> None:
        self.root_args = args
        self.recorder.on_enter(module, args)
        self.backward_gate.entered(module)
        self.observers.entered(module, args)
        if self.inspection.on:
            self.inspected_call.begin()
        self.state.phases.begin()

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        self.state.phases.end(FORWARD_S)
        self.inspected_call.end()
        if failed:
            hide(sys.exc_info()[1])  # the program may print it itself
        self.recorder.on_leave(module, kwargs, output, failed)
        args, self.root_args = self.root_args, ()
        if not failed:
            self.observers.left(module, args, kwargs, output)

    def custom_function(self, apply: Call, args: Args, kwargs: Kwargs) -> Any:
        return self.recorder.on_custom_function(apply, args, kwargs)

    def compiles(self) -> None:
        self.state.compiles = True

    def peeked(self, loss: Tensor) -> None:
        self.recorder.on_peek(loss)

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.observers.called(function, args, kwargs, output)

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        self.observers.scored(function, args, kwargs, output)

    # step
    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: Kwargs) -> bool | None:
        self.losses = given
        self.observers.backward_begins(given)
        popped = self.recorder.on_backward(given, grad_tensors, options)
        self.state.phases.begin()
        return popped

    def backward_ended(self, popped: bool | None, failed: bool = False) -> None:
        self.state.phases.end(BACKWARD_S)
        losses, self.losses = self.losses, []
        if popped is not None and not failed:
            self.observers.backward_ended(losses)
        self.recorder.after_backward(popped, failed)
        if popped is not None and not failed:
            self.backward_gate.close()
        if self.state.backward_ends_step:
            self.look_closely()

    def other_thread(self) -> None:
        self.notes.note("threads", OTHER_THREAD)

    def zero_grad(self, owner: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        output = self.recorder.on_quiet_call("zero_grad", original, (owner, *args), kwargs)
        self.observers.zeroed(owner)
        return output

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        norm = self.recorder.on_quiet_call("clip", original, args, kwargs)
        self.gate.health_gate.gradient_norm.clip_returned(args, kwargs, norm)
        self.observers.clipped(original.__name__, args, kwargs, norm)
        return norm

    def scaler_call(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        output = self.scaler(word, scaler, original, args, kwargs)
        if word == "step":
            if scaler not in self.state.scalers:
                self.state.scalers[scaler] = True
            self.look_closely()
        return output

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs) -> Any:
        output = self.gate.gate(optimizer, original, args, kwargs)
        self.look_closely()
        return output

    def look_closely(self) -> None:
        """Decide about the next step; one that is inspected is recorded too."""
        self.inspection.update()
        if self.inspection.on:
            self.recorder.wake()

    def optimizer_found(self, optimizer: Optimizer) -> None:
        self.recorder.on_optimizer()
        self.ring.reset()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        self.observers.optimizer_built(optimizer)

    def scheduled(self, scheduler: Any, args: Args, kwargs: Kwargs) -> None:
        self.observers.scheduled(scheduler, args, kwargs)

    def scheduler_built(self, scheduler: Any) -> None:
        self.state.schedulers[scheduler] = True
        self.observers.scheduler_built(scheduler)

    def settle(self) -> None:
        """Drop the root call in flight after an exception went through a step."""
        self.state.open_root.reset()
        self.inspected_call.end()
