"""Reads the overflow flag of devices in saturation mode after the update of inspected steps; elsewhere it does
nothing."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.devices.present import accelerator
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.overflow_flag import OverflowFlag


class OverflowFlagObserver(Observer):
    """The flag stays set until somebody clears it: read on inspected steps, it covers every step since the last one.

    One host sync an inspected step. It is cleared after an update and before the next forward, where no scaler of the
    user's is between its own clearing (at `scale` or backward) and its own reading (at `unscale_` or `step`).
    """

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.saturates: bool | None = None
        self.clear_at: int | None = None

    def reset(self) -> None:
        """Drop the device: a forked child uses none of its parent."""
        self.saturates, self.clear_at = None, None

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Read the flag at the end of an inspected step. Syncs the host on a device that saturates."""
        used = accelerator() if self.run.inspecting else None
        if used is None:
            return
        if self.saturates is None:
            self.saturates = used.saturates()
        if not self.saturates:
            return
        if used.overflowed():
            before = self.run.step if self.clear_at is None else self.clear_at
            self.run.emit(
                OverflowFlag(ref=self.run.ref("update", self.run.iteration - 1), device=used.kind, since=before)
            )
        used.clear_overflow()
        self.clear_at = self.run.step
