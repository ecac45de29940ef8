"""The gate of a loop that writes its weights itself: its numbers are judged when its backward has ended, its updates
counted from one backward to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import raw_frames
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.gate.norms import FAKE, grouped, is_bad, loss_value, norms_of, scalar, total_l2
from debugtracer.recorder.gate.trained_tensors import TrainedTensors
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.listeners import AlarmListener, SegmentListener, StepNumbers
from debugtracer.recorder.recorder import Recorder
from debugtracer.trace.window import GRAD_L2, LOSS, OWN_S, PARAM_L2, STEP_S, WAIT_S


@dataclass
class BackwardNumbers:
    """What was measured at the end of one backward."""

    tensors: list[Tensor]
    """Those that have a gradient."""
    values: dict[str, float]
    loss: float | None = None
    changed: bool = False
    """The loop has written into them since their last backward."""


class BackwardGate:
    """One per process. Does nothing once an optimizer has stepped."""

    def __init__(
        self,
        recorder: Recorder,
        alarms: AlarmListener,
        numbers: StepNumbers,
        segments: SegmentListener,
        governor: Governor,
        *,
        mode: str,
    ) -> None:
        self.recorder, self.state, self.stack = recorder, recorder.state, recorder.stack
        self.alarms, self.numbers, self.segments, self.governor = alarms, numbers, segments, governor
        self.mode = mode
        self.trained = TrainedTensors()
        self.last_s = perf_counter()

    def reset(self) -> None:
        """Reset for a new run."""
        self.trained.reset()
        self.last_s = perf_counter()

    def entered(self, module: nn.Module) -> None:
        """Note what a root call trains."""
        if not self.state.stepped and torch.is_grad_enabled():
            self.trained.entered(module)

    def close(self) -> None:
        """Judge a backward that has ended; it ends a step where the loop updates its weights itself. Raises
        StoppedByTracer."""
        if self.state.stepped:
            return
        with self.stack.paused():
            found = self.recorder.guarded(self.measure)
            if not isinstance(found, BackwardNumbers):
                return
            self.state.own_updates += found.changed
            if self.state.backward_ends_step:
                self.judge(found)
                self.end_step(found)

    def measure(self) -> BackwardNumbers:
        """Read the norms of gradients and weights; on a device with one sync, and not at all in mode prod."""
        tensors = self.trained.with_gradients(self.recorder.tape.current)
        loss = self.state.last_loss
        if not isinstance(loss, Tensor) or loss.is_meta or type(loss).__name__ == FAKE:
            loss = None  # it has no value
        on_device = any(not t.is_cpu for t in (*tensors[:1], *([loss] if loss is not None else [])))
        # the storage of a sharded weight may be gone between two uses
        if (on_device and self.mode == "prod") or self.state.roots.sharded:
            self.state.weights_unread = True
            value = None if on_device or loss is None else loss_value(loss)
            return BackwardNumbers([], {} if value is None else {LOSS: value}, value)
        self.state.host_syncs += on_device
        value = None if loss is None else float(loss.double().mean()) if on_device else loss_value(loss)
        values = {} if value is None else {LOSS: value}
        gradients = total_l2([t.grad for t in tensors if t.grad is not None])
        if gradients is None:
            return BackwardNumbers(tensors, values, value)
        with torch.no_grad():
            norms = [torch.stack(norms_of(group)) for group in grouped(tensors)]
            home = gradients.device
            if home.type == "cpu" and len(norms) == 1:
                grad_l2, each = scalar(gradients), norms[0].tolist()
            else:
                read = torch.cat([gradients.double().reshape(1), *(n.to(home).double() for n in norms)])
                grad_l2, *each = read.tolist()
        values |= {GRAD_L2: grad_l2, PARAM_L2: math.hypot(*each)}
        return BackwardNumbers(tensors, values, value, self.trained.changed(tensors, each, self.replaces()))

    def replaces(self) -> bool:
        """Whether tensors that take the place of others are an update; beside an optimizer only those of a module, for
        each microbatch brings a stage of a pipeline new inputs."""
        return self.trained.of_roots or not self.state.has_optimizer

    def judge(self, found: BackwardNumbers) -> None:
        """Raise the alarm of a loss on a device or of a gradient that is not finite, before the loop uses it."""
        state, tape = self.state, self.recorder.tape
        loss = found.loss
        bad_loss = loss is not None and not math.isfinite(loss)
        bad = not math.isfinite(found.values.get(GRAD_L2, 0.0)) and any(
            is_bad(t.grad) for t in found.tensors if t.grad is not None
        )
        if not bad and not bad_loss:
            state.quiet_until_healthy = False
        elif not state.quiet_until_healthy:
            last = tape.current.losses[-1] if tape.current.losses else (None, None)
            self.alarms.open(
                Alarm(
                    "nan_loss" if bad_loss else "inf_grad",
                    tape.current,
                    max(state.iteration - 1, 0),
                    state.step,
                    microbatch=max(len(tape.current.backwards) - 1, 0),
                    loss=last[0],
                    slot=last[1],
                    loss_value=loss,
                    grad_l2=found.values.get(GRAD_L2),
                    frames=raw_frames(),
                    previous=tape.previous,
                    trained=tuple(found.tensors),
                )
            )

    def end_step(self, found: BackwardNumbers) -> None:
        """Publish the numbers and begin the next step."""
        state, recorder = self.state, self.recorder
        now = perf_counter()
        state.step_s, self.last_s = now - self.last_s, now
        values = found.values | {STEP_S: state.step_s, OWN_S: state.own_s, WAIT_S: state.take_wait_s()}
        values |= state.phases.take(state.iteration - 1)
        recorder.guarded(lambda: self.numbers.publish(state.iteration - 1, values))
        state.step = state.iteration
        self.governor.step_closed()
        recorder.rest(not self.governor.affords(Part.TAPE))
        recorder.guarded(recorder.boundary)
        recorder.guarded(self.segments.segment_closed)

    def finish(self) -> None:
        """Count the update after the last backward: it was seen, or what the loop trained is still there."""
        if self.state.stepped or self.state.weights_unread or not self.state.iteration:
            return
        with self.stack.paused(), torch.no_grad():
            left = self.trained.last()
            norms = [norm for group in grouped(left) for norm in norms_of(group)]
            written = self.recorder.tape.current.own_writes.of_trained
            self.state.own_updates += written or self.trained.changed(left, [float(norm) for norm in norms])
