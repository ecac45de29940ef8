"""Asynchronous readback: numbers are copied from the device without a host sync, and read when they have arrived."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from debugtracer.devices.present import device


@dataclass
class Readback:
    """The numbers of one step: [grad_l2, param_l2, loss of each microbatch...]."""

    values: Tensor
    arrived: Any
    """An event of the device; None where the numbers are already there."""
    context: Any
    """What the sender needs when the numbers are read."""


class AsyncReadback:
    """Vectors of numbers in the order they were sent. `post` never syncs; `take` waits for the copy of its own vector
    only."""

    def __init__(self) -> None:
        self.readbacks: deque[Readback] = deque()

    def post(self, values: Tensor, context: Any) -> None:
        """Send a small float vector; pinned and asynchronous from a device that has events."""
        sender = device(values.device.type)
        self.readbacks.append(Readback(sender.host_copy(values.detach()), sender.arrival(), context))

    def take(self) -> tuple[list[float], Any] | None:
        """The oldest vector and its context; waits until its copy is done, which one step later it is."""
        if not self.readbacks:
            return None
        readback = self.readbacks.popleft()
        if readback.arrived is not None:
            readback.arrived.synchronize()
        return [float(v) for v in readback.values.tolist()], readback.context
