"""How the numbers of a step are read: at once on the CPU, with one sync, on the device without any, or late."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.gate.async_readback import AsyncReadback
from debugtracer.recorder.gate.device_gate import gated, gates_itself
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.gate_alarm import gate_alarm
from debugtracer.recorder.gate.gradient_norm import GradientNorm
from debugtracer.recorder.gate.norms import all_on_cpu, is_bad, l2_on_cpu, loss_value, scalar, total_l2
from debugtracer.recorder.listeners import AlarmListener, GateRanks, StepNumbers
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.run_state import parameters as parameters_of
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.state.sharded import local
from debugtracer.recorder.tape.step_tape import Segment, Tape
from debugtracer.trace.incident import Symptom
from debugtracer.trace.window import GRAD_L2, LOSS, LR, PARAM_L2, SCALE

Reading = Literal["sync", "device", "late"]
LATE = "the update had been written before its numbers were read"


@dataclass
class PendingRead:
    """What a vector of numbers on its way belongs to."""

    optimizer: Optimizer
    segment: Segment
    step: int
    gated: bool
    """The device skipped the update if it was bad, so the weights are still those of the step."""
    numbers: dict[str, float] = field(default_factory=dict)


class HealthGate:
    """Judges every step of one process by a few fused norms."""

    def __init__(
        self,
        state: RunState,
        tape: Tape,
        alarms: AlarmListener,
        numbers: StepNumbers,
        ranks: GateRanks,
        copies: Copies,
        *,
        mode: str,
        gate: str,
        device_numbers: DeviceNumbers | None = None,
    ) -> None:
        self.state, self.tape = state, tape
        self.alarms, self.sink, self.ranks = alarms, numbers, ranks
        self.mode, self.gate, self.copies = mode, gate, copies
        self.device_numbers = device_numbers or DeviceNumbers()
        self.async_readback, self.written_readback = AsyncReadback(), AsyncReadback()
        self.numbers: dict[str, float] = {}
        self.param_l2: Tensor | None = None
        """Norm after the last update, not read yet."""
        self.late = False
        self.gradient_norm = GradientNorm(state, self.device_numbers.l2)

    def reset(self) -> None:
        """Reset for a new run: no reading is under way."""
        self.async_readback, self.written_readback = AsyncReadback(), AsyncReadback()
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

    def before(self, optimizer: Optimizer, sync: bool = False) -> contextlib.AbstractContextManager[Any]:
        """Decide before the write; the answer is a context for the write. Raises StoppedByTracer."""
        try:
            with self.state.owned():
                parameters = parameters_of(optimizer)
                reading = "sync" if sync else self.reading(optimizer, parameters)
                self.late = reading != "sync"
                gradients = [grad for p in parameters if (grad := p.grad) is not None]
            if reading != "sync":
                self.collect()
                return self.send(optimizer, gradients, reading)
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
        parts = [
            norm.double(),
            *(t.double().mean() for t, _ in self.tape.current.losses),
            *([param_l2.double()] if param_l2 is not None else []),
        ]
        values = [float(v) for v in torch.stack([p.to(norm.device) for p in parts]).tolist()]
        self.state.host_syncs += 1
        count = len(self.tape.current.losses)
        return values[0], values[1 : 1 + count], values[-1] if param_l2 is not None else 0.0

    def cpu_losses(self) -> list[float]:
        """The losses of the segment; already judged at their backward."""
        values = (loss_value(t) for t, _ in self.tape.current.losses)
        return [v for v in values if v is not None]

    def send(
        self, optimizer: Optimizer, gradients: list[Tensor], reading: Reading
    ) -> contextlib.AbstractContextManager[Any]:
        """Post the numbers; with a fused optimizer the device itself skips a bad update."""
        segment, exact = self.tape.current, reading == "device"
        losses = [t.double().mean() for t, _ in segment.losses]
        judged = self.device_numbers.judged(gradients, losses, None, exact)
        if judged is None:
            return contextlib.nullcontext()
        self.async_readback.post(judged.numbers, PendingRead(optimizer, segment, self.state.step, exact))
        return gated(optimizer, judged.flag) if exact else contextlib.nullcontext()

    def collect(self) -> None:
        """Read the numbers of the last step. Raises StoppedByTracer."""
        read = self.async_readback.take()
        if read is not None:
            values, sent = read
            try:
                self.judge(values, sent)
            finally:  # after the alarm, which speaks of what was before the step
                grad_l2, _, _, *losses = values
                self.sink.publish(sent.step, sent.numbers | {GRAD_L2: grad_l2} | ({LOSS: losses[-1]} if losses else {}))
        written = self.written_readback.take()
        if written is not None and not math.isfinite(written[0][0]):
            self.state.health.wrote_bad_weights()
            update: PendingRead = written[1]
            late = "" if self.copies.get(update.optimizer) else LATE
            self.raise_alarm(self.alarm("bad_update", update.optimizer, update.segment, True, late, update.step))

    def judge(self, values: list[float], sent: PendingRead) -> None:
        """Judge the numbers of the last step, whose update is written unless the device held it back."""
        grad_l2, _, flag, *losses = values
        written = not sent.gated
        if written and not all(map(math.isfinite, (grad_l2, *losses))):
            self.state.health.wrote_bad_weights()
        late = LATE if written and self.copies.get(sent.optimizer) is None else ""
        for number, loss in enumerate(losses):
            if not math.isfinite(loss):
                self.raise_alarm(self.loss_alarm(sent.optimizer, sent.segment, number, written, late, sent.step))
        if flag and all(map(math.isfinite, losses)):
            alarm = self.alarm("inf_grad", sent.optimizer, sent.segment, written, late, sent.step, grad_l2)
            self.raise_alarm(alarm)
        elif not flag:
            self.state.quiet_until_healthy = False

    def after(self, optimizer: Optimizer) -> None:
        """Measure the parameters after step(), where a fault leaves finite gradients; read at once on the CPU, else
        late."""
        try:
            with self.state.owned():
                parameters = parameters_of(optimizer)
                if self.late or not all_on_cpu(parameters):
                    self.param_l2 = norm = self.device_numbers.l2(parameters)
                    if self.late and norm is not None:
                        update = PendingRead(optimizer, self.tape.current, self.state.step, False)
                        self.written_readback.post(norm.reshape(1), update)
                        self.param_l2 = None
                    if norm is None or norm.device.type != "cpu" or self.late:
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

    def scaled(self, optimizer: Optimizer, scale: float | None) -> None:
        """Read the numbers of a step that a GradScaler judges; on the CPU only, elsewhere its own sync is enough."""
        losses = self.cpu_losses()
        # whether the gradients are good enough is the scaler's to say
        self.state.health.judged(losses, False, self.state.iteration)
        self.numbers = {LOSS: losses[-1]} if losses else {}
        if scale is not None:
            norm = total_l2([p.grad for p in parameters_of(optimizer) if p.grad is not None])
            self.numbers |= {SCALE: scale, GRAD_L2: 0.0 if norm is None else scalar(norm)}
        if losses and all(math.isfinite(v) for v in losses) and math.isfinite(self.numbers.get(GRAD_L2, 0.0)):
            self.state.quiet_until_healthy = False

    def publish_rest(self, optimizer: Optimizer, rest: dict[str, float]) -> None:
        """Publish the numbers of a closed step; a late reading joins them when it is read."""
        lr = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
        if isinstance(lr, (int, float)):
            rest[LR] = float(lr)
        if self.late and self.async_readback.readbacks:
            self.async_readback.readbacks[-1].context.numbers = rest
        else:
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
        late: str = "",
        step: int | None = None,
        grad_l2: float | None = None,
    ) -> Alarm:
        """An alarm at the gate, for the current segment or an older one."""
        number = grad_l2 if grad_l2 is not None else self.numbers.get(GRAD_L2)
        return gate_alarm(self.tape, symptom, optimizer, segment, written=written, late=late, step=step, grad_l2=number)

    def loss_alarm(
        self,
        optimizer: Optimizer,
        segment: Segment,
        number: int,
        written: bool = False,
        late: str = "",
        step: int | None = None,
    ) -> Alarm:
        """Build the alarm for the loss of one microbatch."""
        alarm = self.alarm("nan_loss", optimizer, segment, written, late, step)
        (alarm.loss, alarm.slot), alarm.microbatch = segment.losses[number], number
        alarm.iteration = segment.first_iteration + number
        return alarm
