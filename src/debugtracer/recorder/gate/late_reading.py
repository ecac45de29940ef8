"""Numbers of a step that are measured before its update, sent after it and read when they have arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.gate.async_readback import AsyncReadback
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.late_numbers import LateNumbers
from debugtracer.recorder.gate.pending_read import PendingRead, ReadNumbers
from debugtracer.recorder.state.identity import ById


class LateReading:
    """One per process. Measuring and sending never sync the host; `take` waits for one vector."""

    def __init__(self, device_numbers: DeviceNumbers) -> None:
        self.device_numbers = device_numbers
        self.readback = AsyncReadback()
        self.worked_scale: ById[Any, float] = ById()
        """Scaler -> its scale when it last let an update pass."""
        self.unsent: tuple[LateNumbers | Tensor, PendingRead] | None = None
        """Of the step in flight, waiting for the norms of the weights."""

    def judged(self, sent: PendingRead, gradients: list[Tensor], losses: Sequence[Tensor]) -> Tensor | None:
        """Let the device judge gradients and losses; the flag (float32, ()) by which it leaves the update out, None
        without a gradient."""
        if not self.device_numbers.judges_at_once and (told := self.device_numbers.exact_norms(gradients)) is not None:
            return self.prepared(sent, told[0], losses, told[1]).flag()
        found = self.device_numbers.judged(gradients, [t.double().mean() for t in losses], None, True)
        self.unsent, sent.losses = (None if found is None else (found.numbers, sent)), len(losses)
        return None if found is None else found.flag

    def measure(
        self, sent: PendingRead, gradients: list[Tensor], losses: Sequence[Tensor], clip: Tensor | None = None
    ) -> None:
        """Measure gradients, whose norm `clip` (()) may be known, losses, and the scale of the scaler that judges
        them."""
        self.unsent = None
        scale: list[Any] = [getattr(sent.scaler, "_scale", None)] if sent.scaler is not None else []
        if not all(isinstance(value, Tensor) for value in scale):
            return
        sent.clipped = clip is not None
        told = self.device_numbers.exact_norms(gradients) if clip is None else ([clip], [])
        if told is not None:
            norms, largest = told
            self.prepared(sent, norms, [*losses, *scale], [] if scale else largest)  # a scaler judges them itself
            sent.losses = len(losses)  # the scale stands behind them

    def prepared(
        self, sent: PendingRead, norms: list[Tensor], losses: Sequence[Tensor], largest: Sequence[Tensor]
    ) -> LateNumbers:
        """Keep the numbers of the step in flight until its update is over."""
        numbers = LateNumbers(norms, losses, largest)
        sent.gradients, sent.largest, sent.losses = numbers.gradients, numbers.largest, numbers.losses
        self.unsent = numbers, sent
        return numbers

    def send_with(self, parameters: list[Tensor]) -> None:
        """Post what was measured, and the norms of these tensors as they are after the update."""
        if self.unsent is not None:
            self.send(self.device_numbers.each(parameters) or ())

    def send(self, weights: Sequence[Tensor] = ()) -> None:
        """Post what was measured, and these norms (0-dim)."""
        if self.unsent is None:
            return
        (found, sent), self.unsent = self.unsent, None
        if isinstance(found, LateNumbers):
            found.add_weights(weights)
            self.readback.post(found.vector(), sent)
        else:
            self.readback.post(
                torch.cat([found, *(norm.double().reshape(1).to(found.device) for norm in weights)]), sent
            )

    def take(self) -> tuple[ReadNumbers, PendingRead] | None:
        """The oldest numbers that were sent and what they belong to."""
        arrived = self.readback.take()
        if arrived is None:
            return None
        values, sent = arrived
        numbers: ReadNumbers = sent.read(values)
        if numbers.scale is not None and numbers.param_l2:  # nobody measures the weights of a step that is left out
            self.worked_scale[sent.scaler] = numbers.scale
        return numbers, sent

    def join(self, rest: dict[str, float]) -> bool:
        """Let these be published with the numbers sent last; False where none is on its way."""
        if not self.readback.readbacks:
            return False
        last: Any = self.readback.readbacks[-1].context
        last.numbers = rest
        return True
