"""Reads the overflow flag of devices in saturation mode after the update of inspected steps; elsewhere it does nothing."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.devices.present import accelerator
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.overflow_flag import OverflowFlag


class OverflowFlagTaker(Taker):
    """The flag stays set until somebody clears it: read on inspected steps, it tells of every step since the last one.

    One host sync an inspected step. It is cleared after an update and before the next forward, where no scaler of the user's is between its own
    clearing (at `scale` or backward) and its own reading (at `unscale_` or `step`).
    """

    def __init__(self) -> None:
        super().__init__()
        self.saturates: bool | None = None
        self.clear_at: int | None = None

    def forget(self) -> None:
        """A forked child uses no device of its parent."""
        self.saturates, self.clear_at = None, None

    def step_closed(self, optimizer: Optimizer) -> None:
        """The end of an inspected step."""
        used = accelerator() if self.desk.inspecting else None
        if used is None:
            return
        if self.saturates is None:
            self.saturates = used.saturates()
        if not self.saturates:
            return
        if used.overflowed():
            before = self.desk.step if self.clear_at is None else self.clear_at
            self.desk.tell(OverflowFlag(ref=self.desk.ref("update", self.desk.iteration - 1), device=used.kind, since=before))
        used.clear_overflow()
        self.clear_at = self.desk.step
