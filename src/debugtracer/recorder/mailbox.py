"""Numbers on their way from the device: copied without a host sync, read when they have arrived."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass
class Letter:
    """The canary of one step: [grad_l2, param_l2, loss of each microbatch...]."""

    values: Tensor
    arrived: Any
    """A CUDA event, or None on the CPU."""
    context: Any
    """What the sender needs when the numbers are read."""


class Mailbox:
    """Letters in the order they were sent. `post` never syncs; `take` waits for the copy of its own letter only."""

    def __init__(self) -> None:
        self.letters: deque[Letter] = deque()

    def post(self, values: Tensor, context: Any) -> None:
        """Send a small float vector; pinned and asynchronous from a CUDA device."""
        if values.device.type == "cuda":
            host = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            host.copy_(values, non_blocking=True)
            event = torch.cuda.Event()
            event.record()
            self.letters.append(Letter(host, event, context))
        else:
            self.letters.append(Letter(values.detach().clone(), None, context))

    def take(self) -> tuple[list[float], Any] | None:
        """The oldest letter: its numbers and context; waits until its copy is done, which one step later it is."""
        if not self.letters:
            return None
        letter = self.letters.popleft()
        if letter.arrived is not None:
            letter.arrived.synchronize()
        return [float(v) for v in letter.values.tolist()], letter.context
