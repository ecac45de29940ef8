"""The gate of every update: the numbers are judged before the optimizer writes, the parameters are looked at after
it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from torch.optim import Optimizer

from debugtracer.recorder.gate.health_gate import HealthGate
from debugtracer.recorder.gate.scaler_call import ScalerCall
from debugtracer.recorder.gate.scaler_without_step import leave_out_of_scaler
from debugtracer.recorder.gate.step_call import (
    after_closure,
    as_recorded,
    closure_of,
    decides_itself,
    left_out,
    settings,
    with_closure,
)
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.listeners import IncidentPolicy, Notes, SegmentListener
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.training_events import TrainingEvents
from debugtracer.trace.window import OWN_S, STEP_S, UPDATE_S, WAIT_S

Step = Callable[..., Any]
RECHECK_SKIPS = (5, 10, 20, 40, 80)  # skips in a row: scale search or fault? (docs/rationale/checks.md#scaler-skips)
RECHECKS = 10  # such replays per run at most (ours)
IN_ITS_STEP = "the optimizer calls the loss itself and is in the middle of its step"


class StepGate:
    """Runs the user's step, or lets the alarm stop it."""

    def __init__(
        self,
        recorder: Recorder,
        copies: Copies,
        health_gate: HealthGate,
        events: TrainingEvents,
        policy: IncidentPolicy,
        segments: SegmentListener,
        notes: Notes,
        governor: Governor,
    ) -> None:
        self.recorder, self.state, self.stack = recorder, recorder.state, recorder.stack
        self.copies, self.health_gate = copies, health_gate
        self.events, self.policy, self.segments, self.notes = events, policy, segments, notes
        self.governor = governor
        self.known: ById[Optimizer, bool] = ById()
        """Optimizers whose step was seen whole."""
        self.scaler_call: ScalerCall | None = None
        self.skips: ById[Any, int] = ById()
        self.good_scale: ById[Any, float] = ById()
        self.rechecks = 0
        self.last_s = perf_counter()

    def reset(self) -> None:
        """Reset for a new run: no scaler is in the middle of a step."""
        self.scaler_call = None
        self.skips.clear()
        self.good_scale.clear()
        self.rechecks = self.state.skipped = 0
        self.last_s, self.state.step_s = perf_counter(), 0.0

    def gate(self, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one outermost step. The closure and the step are the user's and run unguarded."""
        self.state.has_optimizer = self.state.stepped = True
        if self.policy.skip_step():
            return None
        if self.scaler_call is not None:
            return self.inside_scaler(self.scaler_call, optimizer, original, args, kwargs)
        closure = closure_of(args, kwargs)
        if closure is not None:
            if decides_itself(optimizer):
                return self.with_closures(optimizer, original, closure, args, kwargs)
            args, kwargs = after_closure(closure, args, kwargs)
        self.recorder.marks.clear()
        self.known[optimizer] = True
        with self.stack.paused():
            with self.health_gate.before(optimizer):
                if self.policy.skip_write():
                    return None
                if self.state.health.bad and self.policy.holds(optimizer):
                    return self.leave_out(optimizer, args, kwargs)
                output = self.write(optimizer, original, args, kwargs)
            self.health_gate.after(optimizer)
            if self.state.health.weights:
                self.policy.wrote_bad_weights(optimizer)
            self.close_step(optimizer)
        return output

    def leave_out(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Close a step without its write; the answer is what its closure gave."""
        self.copies.skip(optimizer)
        self.close_step(optimizer)
        return left_out(optimizer, *args, **kwargs)

    def write(self, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The copy, then the user's step; free calls are paused by the caller."""
        self.recorder.guarded(lambda: self.copy(optimizer))
        kept, named = as_recorded(args, kwargs)
        entry = self.recorder.guarded(
            lambda: self.recorder.tape.open("step", original, (optimizer, *kept), named, encoded=True)
        )
        if entry is not None:
            entry.settings = settings(optimizer)
        self.events.step_begins(optimizer)
        self.state.phases.begin()
        output = original(optimizer, *args, **kwargs)
        self.state.phases.end(UPDATE_S)
        if entry is not None:
            self.recorder.guarded(lambda: self.recorder.tape.close(entry, None))
        self.events.step_ended(optimizer)
        return output

    def copy(self, optimizer: Optimizer) -> None:
        """Copy the state before the update, while that is cheap."""
        if not self.governor.affords(Part.COPIES):
            self.copies.skip(optimizer)
            return
        why = self.copies.take(optimizer, parameters(optimizer), self.state.step_s)
        if why:
            self.notes.note("copies-off", why)

    def inside_scaler(
        self, call: ScalerCall, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The step that a GradScaler lets through: already counted, already judged by it."""
        call.ran = True
        if call.at_rest:
            return original(optimizer, *args, **kwargs)
        output = self.write(optimizer, original, args, kwargs)
        self.health_gate.after(optimizer)
        return output

    def with_closures(
        self,
        optimizer: Optimizer,
        original: Step,
        closure: Callable[[], Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run a step whose closure calls are sub-steps, each judged at its end, before the optimizer uses its
        gradients."""
        stack, listening = self.stack, [False]
        self.known[optimizer] = True

        def judged() -> Any:
            stack.resume(listening[0])
            try:
                result = closure()
            finally:
                listening[0] = stack.suspend()
            self.judge_closure(optimizer)
            return result

        args, kwargs = with_closure(judged, args, kwargs)
        listening[0] = stack.suspend()
        try:
            self.events.step_begins(optimizer)
            output = original(optimizer, *args, **kwargs)
            self.events.step_ended(optimizer)
            self.health_gate.after(optimizer)
            if self.state.health.weights:
                self.policy.wrote_bad_weights(optimizer)
            self.close_step(optimizer)
        finally:
            stack.resume(listening[0])
        return output

    def judge_closure(self, optimizer: Optimizer) -> None:
        """Judge the gradients of one closure call, before the optimizer uses them."""
        with self.health_gate.before(optimizer, sync=True):
            if self.policy.skip_write():
                self.policy.give_up()  # the optimizer is in the middle of its step: nothing can be skipped
            if self.state.health.bad:
                self.policy.holds(optimizer, IN_ITS_STEP)
            self.recorder.guarded(self.recorder.boundary)

    def close_step(self, optimizer: Optimizer) -> None:
        """Tell the observers that the step is over, and count it."""
        self.time_step()
        self.events.step_closed(optimizer)
        self.count_step(optimizer)

    def time_step(self) -> None:
        """Measure the time since the last step."""
        now = perf_counter()
        self.state.step_s, self.last_s = now - self.last_s, now

    def count_step(self, optimizer: Optimizer) -> None:
        """Publish the numbers of the step, advance the counters and start a new segment."""
        recorder, state = self.recorder, self.state
        times_s = {STEP_S: state.step_s, OWN_S: state.own_s, WAIT_S: state.take_wait_s()}
        times_s |= state.phases.take(state.step)
        recorder.guarded(lambda: self.health_gate.publish_rest(optimizer, times_s))
        if id(optimizer) != state.stepped_by:
            self.events.optimizer_changed(optimizer)
        state.stepped_by, state.stepped_at = id(optimizer), state.iteration
        state.step += 1
        self.governor.step_closed()
        recorder.guarded(self.begin_segment)

    def begin_segment(self) -> None:
        """Start the segment of the next step, recorded or not."""
        self.recorder.rest(not self.governor.affords(Part.TAPE))
        self.recorder.boundary()
        self.segments.update_over()
        self.segments.segment_closed()

    def scaler_step(
        self, scaler: Any, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any], scale: float | None
    ) -> Any:
        """Run GradScaler.step, counted once, whether or not it lets the optimizer write."""
        if self.policy.skip_step() or self.policy.skip_write():
            return None
        optimizer = kwargs.get("optimizer", args[0] if args else None)
        inner: Any = getattr(optimizer, "optimizer", optimizer)
        self.state.has_optimizer = self.state.stepped = True  # also where the scaler skips the update
        self.scaler_call = call = ScalerCall()
        self.recorder.marks.clear()
        with self.stack.paused():
            self.recorder.guarded(
                lambda: self.health_gate.ranks.together(False, lambda: self.health_gate.alarm("nan_loss", inner))
            )
            self.recorder.guarded(lambda: self.health_gate.scaled(inner, scaler, scale))
            if self.state.health.bad and self.policy.holds(inner):
                self.scaler_call = None
                self.recorder.guarded(lambda: leave_out_of_scaler(scaler, optimizer))
                self.close_step(inner)
                return None
            try:
                output = original(scaler, *args, **kwargs)
            finally:
                self.scaler_call = None
            if self.state.health.weights:
                self.policy.wrote_bad_weights(inner)
            self.after_scaler(scaler, inner, call, scale)
        return output

    def after_scaler(self, scaler: Any, inner: Any, call: ScalerCall, scale: float | None) -> None:
        """Count what the scaler decided."""
        if call.ran:
            self.scaler_wrote(scaler, scale)
            self.close_step(inner)
        else:
            self.scaler_skipped(scaler, inner, scale)

    def run_scaler(
        self, scaler: Any, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, bool]:
        """Run GradScaler.step at rest; whether it has let the optimizer write."""
        self.scaler_call = call = ScalerCall(at_rest=True)
        try:
            return original(scaler, *args, **kwargs), call.ran
        finally:
            self.scaler_call = None

    def scaler_wrote(self, scaler: Any, scale: float | None) -> None:
        """Note that a scaler lets updates through again."""
        self.skips[scaler] = 0
        if scale is not None:
            self.good_scale[scaler] = scale

    def scaler_skipped(self, scaler: Any, inner: Any, scale: float | None) -> None:
        """Count an update that a scaler has left out, and close its step."""
        self.state.skipped += 1
        if scale is None:
            scale = self.recorder.guarded(self.health_gate.scaler_skipped)
        self.recorder.guarded(lambda: self.consider_skip(scaler, inner, scale))
        if self.state.quiet_until_healthy or (scale is not None and scale <= 1.0):  # bad at loss scale 1 too
            self.policy.scaler_failed(inner, self.skips.get(scaler, 0))
        else:
            self.policy.scale_too_high(inner, scaler, self.skips.get(scaler, 0))
        self.close_step(inner)

    def worked(self, scaler: Any) -> float:
        """The loss scale with which its last update was let through; 0 before the first."""
        return self.good_scale.get(scaler, self.health_gate.reads.worked_scale.get(scaler, 0.0))

    def consider_skip(self, scaler: Any, optimizer: Optimizer, scale: float | None) -> None:
        """Check a skipped step: a normal scale search, unless it repeats or hits a scale that worked before."""
        count = self.skips[scaler] = self.skips.get(scaler, 0) + 1
        suspicious = count in RECHECK_SKIPS or (count == 1 and scale is not None and scale <= self.worked(scaler))
        if not suspicious or self.rechecks >= RECHECKS or self.state.quiet_until_healthy:
            return
        self.rechecks += 1
        alarm = self.health_gate.alarm("inf_grad", optimizer)
        alarm.scaler, alarm.at_scale_one = scaler, True
        self.recorder.alarms.open(alarm)
