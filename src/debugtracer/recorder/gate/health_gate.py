"""How the numbers of a step are read: at once on the CPU, with one sync, on the device without any, or late."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Literal

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.gate.device_gate import gated, gates_itself
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.gate_alarm import gate_alarm
from debugtracer.recorder.gate.gradient_norm import GradientNorm
from debugtracer.recorder.gate.late_reading import LateReading
from debugtracer.recorder.gate.norms import all_on_cpu, is_bad, l2_on_cpu, loss_value, scalar, total_l2
from debugtracer.recorder.gate.pending_read import PendingRead, ReadNumbers
from debugtracer.recorder.gate.sync_read import read_at_once
from debugtracer.recorder.listeners import AlarmListener, GateRanks, StepNumbers
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.run_state import parameters as parameters_of
from debugtracer.recorder.state.sharded import local
from debugtracer.recorder.tape.step_tape import Segment, Tape
from debugtracer.trace.incident import Symptom
from debugtracer.trace.window import GRAD_L2, LOSS, LR, PARAM_L2, SCALE

Reading = Literal["sync", "device", "late"]


class HealthGate:
    """Judges every step of one process by a few fused norms."""

    def __init__(
        self,
        state: RunState,
        tape: Tape,
        alarms: AlarmListener,
        numbers: StepNumbers,
        ranks: GateRanks,
        device_numbers: DeviceNumbers | None = None,
        *,
        mode: str,
        gate: str,
    ) -> None:
        self.state, self.tape = state, tape
        self.alarms, self.sink, self.ranks = alarms, numbers, ranks
        self.mode, self.gate = mode, gate
        self.device_numbers = device_numbers or DeviceNumbers()
        self.numbers: dict[str, float] = {}
        self.param_l2: Tensor | None = None
        """Norm after the last update, not read yet."""
        self.late = False
        self.reads = LateReading(self.device_numbers)
        self.gradient_norm = GradientNorm(state, self.device_numbers.l2)

    def reset(self) -> None:
        """Reset for a new run: no reading is under way."""
        self.reads = LateReading(self.device_numbers)
        self.numbers.clear()
        self.param_l2 = None
        self.gradient_norm.reset()
        self.state.host_syncs = 0

    def reading(self, optimizer: Optimizer, parameters: list[Tensor]) -> Reading:
        """Choose how to read: on the CPU at once; fused on a device in dev gated there; in observe and prod late; else
        with one sync (docs/rationale/replay.md#gate)."""
        if self.ranks.meets():
            return "sync"
        if self.gate != "auto":
            return "sync" if self.gate == "device" and not gates_itself(optimizer) else self.gate  # type: ignore[return-value]
        if not parameters or parameters[0].device.type == "cpu":
            return "sync"
        if self.mode in ("observe", "prod"):
            return "late"
        return "device" if self.mode == "dev" and gates_itself(optimizer) else "sync"

    def before(
        self, optimizer: Optimizer, sync: bool = False, weights: bool = True
    ) -> contextlib.AbstractContextManager[Any]:
        """Decide before the write; the answer is a context for the write. Without `weights` nobody calls after().

        Raises StoppedByTracer."""
        try:
            with self.state.owned():
                parameters = parameters_of(optimizer)
                reading = "sync" if sync else self.reading(optimizer, parameters)
                self.late = reading != "sync"
                gradients = [grad for p in parameters if (grad := p.grad) is not None]
            if reading != "sync":
                self.collect()
                return self.measure(optimizer, parameters, gradients, reading, weights)
            self.decide(optimizer, parameters, gradients)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("recorder.gate.health_gate", error)
        return contextlib.nullcontext()

    def decide(self, optimizer: Optimizer, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """Read now: nothing waits on the CPU; one sync for all numbers on a device."""
        with self.state.owned():
            on_device, param_l2 = False, 0.0
            if all_on_cpu(parameters):
                grad_l2, losses = self.gradient_norm.read(parameters), self.cpu_losses()
            elif (norm := self.gradient_norm.of(parameters)) is not None and norm.device.type != "cpu":
                on_device = True
                grad_l2, losses, param_l2 = self.read_once(norm)
            else:
                grad_l2, losses = 0.0 if norm is None else scalar(norm), self.cpu_losses()
        self.numbers = {LOSS: losses[-1]} if losses else {}
        if not self.state.roots.sharded or any(local(grad).numel() for grad in gradients):
            self.numbers[GRAD_L2] = grad_l2  # a rank that holds no part of any gradient has measured none
        if (
            on_device
            and not math.isfinite(param_l2)
            and self.tape.previous is not None
            and any(is_bad(p) for p in parameters)
        ):
            self.raise_alarm(self.alarm("bad_update", optimizer, self.tape.previous))
        for number, loss in enumerate(losses):
            if not math.isfinite(loss) and on_device:
                self.raise_alarm(self.loss_alarm(optimizer, self.tape.current, number))
        bad = not math.isfinite(grad_l2) and any(is_bad(g) for g in gradients)
        self.state.health.judged(losses, bad, self.state.iteration)
        if self.ranks.together(bad, lambda: self.alarm("inf_grad", optimizer)):
            return
        if bad:
            self.raise_alarm(self.alarm("inf_grad", optimizer))
        elif all(math.isfinite(loss) for loss in losses):
            self.state.quiet_until_healthy = False

    def read_once(self, norm: Tensor) -> tuple[float, list[float], float]:
        """Read all numbers of a step with one host sync."""
        param_l2, self.param_l2 = self.param_l2, None
        self.state.host_syncs += 1
        numbers, waited_s = read_at_once(norm, [loss for loss, _ in self.tape.current.losses], param_l2)
        self.state.own_s -= waited_s  # what the device still computes, it computes without us too
        return numbers

    def cpu_losses(self) -> list[float]:
        """The losses of the segment; already judged at their backward."""
        return [v for t, _ in self.tape.current.losses if (v := loss_value(t)) is not None]

    def measure(
        self, optimizer: Optimizer, parameters: list[Tensor], gradients: list[Tensor], reading: Reading, weights: bool
    ) -> contextlib.AbstractContextManager[Any]:
        """Measure what is read later; with a fused optimizer the device itself skips a bad update."""
        with self.state.owned():
            segment, gates = self.tape.current, reading == "device"
            losses, flag = [loss for loss, _ in segment.losses], None
            sent = PendingRead(optimizer, segment, self.state.step, gates)
            if gates:
                flag = self.reads.judged(sent, gradients, losses)
            else:
                self.reads.measure(sent, gradients, losses, self.gradient_norm.clip_of(parameters))
            if not weights:
                self.reads.send()
        return contextlib.nullcontext() if flag is None else gated(optimizer, flag)

    def collect(self) -> None:
        """Read the numbers of the last step. Raises StoppedByTracer."""
        arrived = self.reads.take()
        if arrived is None:
            return
        numbers, sent = arrived
        try:
            self.judge(numbers, sent)
        finally:  # after the alarm, which speaks of what was before the step
            self.sink.publish(sent.step, sent.numbers | numbers.series())

    def scaler_skipped(self) -> float | None:
        """Read at once what was measured of a step that a scaler has left out, after waiting for the device itself;
        answers the scale. Raises StoppedByTracer."""
        self.reads.send()
        arrived, self.late = self.reads.take(), False
        if arrived is None:
            return None
        self.judge(*arrived)
        self.numbers |= arrived[0].series()
        return arrived[0].scale

    def judge(self, numbers: ReadNumbers, sent: PendingRead) -> None:
        """Judge the numbers of the last step, whose update is written unless the device held it back."""
        if sent.clipped and numbers.grad_l2 == math.inf:
            numbers = numbers.after_clip(any(map(is_bad, parameters_of(sent.optimizer))))
        written = not sent.gated or (sent.scaler is not None and numbers.param_l2 != 0.0)
        weights_bad = not math.isfinite(numbers.param_l2) and any(map(is_bad, parameters_of(sent.optimizer)))
        if weights_bad or (written and numbers.bad):
            self.state.health.wrote_bad_weights()
        of = sent.optimizer, sent.segment
        for number, loss in enumerate(numbers.losses):
            if not math.isfinite(loss):
                self.raise_alarm(self.loss_alarm(*of, number, written, sent.step))
        if numbers.bad and all(map(math.isfinite, numbers.losses)):
            self.raise_alarm(self.alarm("inf_grad", *of, written, sent.step, numbers.grad_l2))
        elif weights_bad and not numbers.bad:
            self.raise_alarm(self.alarm("bad_update", *of, True, sent.step))
        elif not numbers.bad and math.isfinite(numbers.grad_l2):
            self.state.quiet_until_healthy = False

    def after(self, optimizer: Optimizer) -> None:
        """Measure the parameters after step(), where a fault leaves finite gradients; read at once on the CPU, else
        late."""
        try:
            with self.state.owned():
                parameters = parameters_of(optimizer)
                if self.late:
                    self.reads.send_with(parameters)
                    return
                if not all_on_cpu(parameters):
                    self.param_l2 = norm = self.device_numbers.l2(parameters)
                    if norm is None or norm.device.type != "cpu":
                        return
                    value = self.numbers[PARAM_L2] = scalar(norm)
                else:
                    with torch.no_grad():
                        value = self.numbers[PARAM_L2] = l2_on_cpu(parameters, self.state.norms.weights)
            if not math.isfinite(value) and any(is_bad(p) for p in parameters):
                self.state.health.wrote_bad_weights()
                self.raise_alarm(self.alarm("bad_update", optimizer))
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("recorder.gate.health_gate", error)

    def scaled(self, optimizer: Optimizer, scaler: Any, scale: float | None) -> None:
        """Read the numbers of a step that a GradScaler judges: on the CPU at once, from a device late. Raises
        StoppedByTracer."""
        parameters, self.late = parameters_of(optimizer), False
        if scale is None and parameters and not parameters[0].is_cpu and not self.ranks.meets():
            self.collect()
            self.state.health.judged([], False, self.state.iteration)  # as long as nothing is read
            sent = PendingRead(optimizer, self.tape.current, self.state.step, True, scaler=scaler)
            gradients = [grad for p in parameters if (grad := p.grad) is not None]
            self.reads.measure(sent, gradients, [loss for loss, _ in self.tape.current.losses])
            self.late = True
            return
        losses = self.cpu_losses()
        # whether the gradients are good enough is the scaler's to say
        self.state.health.judged(losses, False, self.state.iteration)
        self.numbers = {LOSS: losses[-1]} if losses else {}
        if scale is not None:
            norm = total_l2([p.grad for p in parameters if p.grad is not None])
            self.numbers |= {SCALE: scale, GRAD_L2: 0.0 if norm is None else scalar(norm)}
        if losses and all(math.isfinite(v) for v in losses) and math.isfinite(self.numbers.get(GRAD_L2, 0.0)):
            self.state.quiet_until_healthy = False

    def publish_rest(self, optimizer: Optimizer, rest: dict[str, float]) -> None:
        """Publish the numbers of a closed step; a late reading joins them when it is read."""
        lr = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
        if isinstance(lr, (int, float)):
            rest[LR] = float(lr)
        if not self.late or not self.reads.join(rest):
            self.sink.publish(self.state.step, self.numbers | rest)
        self.numbers = {}

    def raise_alarm(self, alarm: Alarm) -> None:
        """Hand an alarm on, unless the incident is open already."""
        if not self.state.quiet_until_healthy:
            self.alarms.open(alarm)

    def alarm(
        self,
        symptom: Symptom,
        optimizer: Optimizer,
        segment: Segment | None = None,
        written: bool = False,
        step: int | None = None,
        grad_l2: float | None = None,
    ) -> Alarm:
        """An alarm at the gate, for the current segment or an older one."""
        number = grad_l2 if grad_l2 is not None else self.numbers.get(GRAD_L2)
        return gate_alarm(self.tape, symptom, optimizer, segment, written=written, step=step, grad_l2=number)

    def loss_alarm(
        self,
        optimizer: Optimizer,
        segment: Segment,
        number: int,
        written: bool = False,
        step: int | None = None,
    ) -> Alarm:
        """Build the alarm for the loss of one microbatch."""
        alarm = self.alarm("nan_loss", optimizer, segment, written, step)
        (alarm.loss, alarm.slot), alarm.microbatch = segment.losses[number], number
        alarm.iteration = segment.first_iteration + number
        return alarm
