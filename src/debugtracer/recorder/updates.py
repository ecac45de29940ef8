"""The gate: the canary is decided before the optimizer writes, the parameters are looked at after it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.recorder.canaries import Canaries
from debugtracer.recorder.copies import Copies
from debugtracer.recorder.recorder import Recorder

Step = Callable[..., Any]
RECHECK_SKIPS = (5, 10, 20, 40, 80)  # consecutive skipped steps at which a scale search is told from a fault (CHECKS 1, number 8)
MOST_GROUPS = 32  # groups whose settings are kept whole at each step (ours)
RECHECKS = 10  # such replays per run at most (ours)


class ScalerCall:
    """A GradScaler.step in flight."""

    def __init__(self) -> None:
        self.ran = False


class Updates:
    """Runs the user's step, or lets the alarm stop it."""

    def __init__(self, recorder: Recorder, copies: Copies, canaries: Canaries) -> None:
        self.recorder = recorder
        self.copies = copies
        self.canaries = canaries
        self.scaler_call: ScalerCall | None = None
        self.skips: dict[int, int] = {}
        self.good_scale: dict[int, float] = {}
        self.rechecks = 0
        self.skipped = 0
        self.last_s = perf_counter()
        self.step_s = 0.0
        self.wait_s: Callable[[], float] = lambda: 0.0
        self.skip_step: Callable[[], bool] = lambda: False
        """Asked when a step begins: True while a bad one waits for its re-yield. May raise StoppedByTracer."""
        self.skip_write: Callable[[], bool] = lambda: False
        """Asked after the canary: True when this very step is to be replayed by re-yield. May raise StoppedByTracer."""
        self.give_up: Callable[[], None] = lambda: None
        """Ends a wait for a re-yield at once. Raises StoppedByTracer."""
        self.on_stopped_copies: Callable[[str], None] = lambda why: None
        self.moment: Callable[..., None] = lambda name, optimizer: None
        """Told `step_begins`, `step_ended` and `step_closed` with the optimizer; must not raise."""
        self.counted: Callable[[], None] = lambda: None
        """Told when a step is over and the counter stands at the next one; must not raise."""
        self.closed: Callable[[float], None] = lambda step_s: None
        """Told when a segment is closed, with the seconds of the step: the ring."""
        self.closures_inside: Callable[[Optimizer], bool] = decides_itself
        """True for optimizers that decide themselves when to call their closure (LBFGS, SAM)."""

    def forget(self) -> None:
        """A new run begins: no scaler is in the middle of a step."""
        self.scaler_call = None
        self.skips.clear()
        self.good_scale.clear()
        self.rechecks = self.skipped = 0
        self.last_s, self.step_s = perf_counter(), 0.0

    def gate(self, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One outermost step. The closure and the step are the user's and run unguarded."""
        self.recorder.has_optimizer = True
        if self.skip_step():
            return None
        if self.scaler_call is not None:
            return self.inside_scaler(self.scaler_call, optimizer, original, args, kwargs)
        closure = kwargs.get("closure", args[0] if args else None)
        if callable(closure):
            if self.closures_inside(optimizer):
                return self.with_closures(optimizer, original, closure, args, kwargs)
            with torch.enable_grad():
                result = closure()
            args, kwargs = with_closure(lambda: result, args, kwargs)
        self.recorder.marks.clear()
        with self.recorder.paused():
            with self.canaries.before(optimizer):
                if self.skip_write():
                    return None
                output = self.write(optimizer, original, args, kwargs)
            self.canaries.after(optimizer)
            self.close_step(optimizer)
        return output

    def write(self, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The copy, then the user's step; free calls are paused by the caller."""
        self.recorder.guarded(lambda: self.copy(optimizer))
        entry = self.recorder.guarded(lambda: self.recorder.tape.open("step", original, (optimizer, *args), kwargs, encoded=True))
        if entry is not None:
            entry.settings = settings(optimizer)
        self.moment("step_begins", optimizer)
        output = original(optimizer, *args, **kwargs)
        if entry is not None:
            self.recorder.guarded(lambda: self.recorder.tape.close(entry, None))
        self.moment("step_ended", optimizer)
        return output

    def copy(self, optimizer: Optimizer) -> None:
        """State before the update, while it is cheap."""
        why = self.copies.take(optimizer, self.canaries.parameters(optimizer), self.step_s)
        if why:
            self.on_stopped_copies(why)

    def inside_scaler(self, call: ScalerCall, optimizer: Optimizer, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The step that a GradScaler lets through: already counted, already judged by it."""
        call.ran = True
        output = self.write(optimizer, original, args, kwargs)
        self.canaries.after(optimizer)
        return output

    def with_closures(self, optimizer: Optimizer, original: Step, closure: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Each closure call is a sub-step: judged when it ends, before the optimizer uses its gradients."""
        recorder, listening = self.recorder, [False]

        def judged() -> Any:
            recorder.resume(listening[0])
            try:
                result = closure()
            finally:
                listening[0] = recorder.suspend()
            with self.canaries.before(optimizer, sync=True):
                if self.skip_write():
                    self.give_up()  # the optimizer is in the middle of its step: nothing can be skipped
                recorder.guarded(recorder.boundary)
            return result

        args, kwargs = with_closure(judged, args, kwargs)
        listening[0] = recorder.suspend()
        try:
            self.moment("step_begins", optimizer)
            output = original(optimizer, *args, **kwargs)
            self.moment("step_ended", optimizer)
            self.canaries.after(optimizer)
            self.close_step(optimizer)
        finally:
            recorder.resume(listening[0])
        return output

    def close_step(self, optimizer: Optimizer) -> None:
        """Numbers of the step, counters, boundary."""
        now = perf_counter()
        self.step_s, self.last_s = now - self.last_s, now
        recorder = self.recorder
        self.moment("step_closed", optimizer)
        recorder.guarded(lambda: self.canaries.publish_rest(optimizer, {"step_s": self.step_s, "own_s": recorder.own_s, "wait_s": self.wait_s()}))
        recorder.step += 1
        recorder.guarded(recorder.boundary)
        recorder.guarded(lambda: self.closed(self.step_s))
        self.counted()

    def scaler_step(self, scaler: Any, original: Step, args: tuple[Any, ...], kwargs: dict[str, Any], scale: float | None) -> Any:
        """GradScaler.step: counted once, whether or not it lets the optimizer write."""
        if self.skip_step() or self.skip_write():
            return None
        optimizer = kwargs.get("optimizer", args[0] if args else None)
        inner: Any = getattr(optimizer, "optimizer", optimizer)
        self.scaler_call = call = ScalerCall()
        self.recorder.marks.clear()
        with self.recorder.paused():
            self.recorder.guarded(lambda: self.canaries.together(False, lambda: self.canaries.alarm("nan_loss", inner)))
            self.recorder.guarded(lambda: self.canaries.scaled(inner, scale))
            try:
                output = original(scaler, *args, **kwargs)
            finally:
                self.scaler_call = None
            self.after_scaler(scaler, inner, call, scale)
        return output

    def after_scaler(self, scaler: Any, inner: Any, call: ScalerCall, scale: float | None) -> None:
        """Count what the scaler decided."""
        if call.ran:
            self.skips[id(scaler)] = 0
            if scale is not None:
                self.good_scale[id(scaler)] = scale
        else:
            self.skipped += 1
            self.recorder.guarded(lambda: self.consider_skip(scaler, inner, scale))
        self.close_step(inner)

    def consider_skip(self, scaler: Any, optimizer: Optimizer, scale: float | None) -> None:
        """A skipped step is a normal scale search, unless it repeats or hits a scale that worked before."""
        count = self.skips[id(scaler)] = self.skips.get(id(scaler), 0) + 1
        suspicious = count in RECHECK_SKIPS or (count == 1 and scale is not None and scale <= self.good_scale.get(id(scaler), 0.0))
        if not suspicious or self.rechecks >= RECHECKS or self.recorder.quiet_until_healthy:
            return
        self.rechecks += 1
        alarm = self.canaries.alarm("inf_grad", optimizer)
        alarm.scaler, alarm.at_scale_one = scaler, True
        self.recorder.alarm(alarm)


def settings(optimizer: Optimizer) -> list[dict[str, Any]]:
    """The settings of each group; many groups (one for each parameter) keep their learning rates alone."""
    groups = optimizer.param_groups
    if len(groups) > MOST_GROUPS:
        return [{"lr": valued(group.get("lr"))} for group in groups]
    return [{k: valued(v) for k, v in group.items() if k != "params"} for group in groups]


def valued(setting: Any) -> Any:
    """A setting as it is now: a schedule changes tensors in place."""
    return setting.clone() if isinstance(setting, torch.Tensor) else setting


def decides_itself(optimizer: Optimizer) -> bool:
    """LBFGS, and any step that is not torch's own: it may call its closure several times or between two writes."""
    step = getattr(type(optimizer), "step", None)
    return isinstance(optimizer, torch.optim.LBFGS) or not str(getattr(step, "__module__", "")).startswith("torch.optim")


def with_closure(closure: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of step with another closure."""
    return (args, {**kwargs, "closure": closure}) if "closure" in kwargs else ((closure, *args[1:]), kwargs)
