"""Numbers on their way from the device: copied without a host sync, read when they have arrived."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from debugtracer.devices.present import device


@dataclass
class Letter:
    """The canary of one step: [grad_l2, param_l2, loss of each microbatch...]."""

    values: Tensor
    arrived: Any
    """An event of the device; None where the numbers are already there."""
    context: Any
    """What the sender needs when the numbers are read."""


class Mailbox:
    """Letters in the order they were sent. `post` never syncs; `take` waits for the copy of its own letter only."""

    def __init__(self) -> None:
        self.letters: deque[Letter] = deque()

    def post(self, values: Tensor, context: Any) -> None:
        """Send a small float vector; pinned and asynchronous from a device that has events."""
        sender = device(values.device.type)
        self.letters.append(Letter(sender.host_copy(values.detach()), sender.arrival(), context))

    def take(self) -> tuple[list[float], Any] | None:
        """The oldest letter: its numbers and context; waits until its copy is done, which one step later it is."""
        if not self.letters:
            return None
        letter = self.letters.popleft()
        if letter.arrived is not None:
            letter.arrived.synchronize()
        return [float(v) for v in letter.values.tolist()], letter.context
