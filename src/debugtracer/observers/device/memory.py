"""Reads the memory of the process now and then: counters of the host, no device is waited for."""

from __future__ import annotations

import os
from typing import Any

from debugtracer.devices.present import device_memory
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.memory import Memory

EVERY, LATER, MANY = 10, 100, 1000  # steps between samples, and later than MANY steps (ours)
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class MemoryObserver(Observer):
    """Twenty microseconds every tenth step."""

    def step_closed(self, optimizer: Any) -> None:
        """Measure after the update, where a loop that leaks nothing is back at its level."""
        step = self.run.step
        if step % (EVERY if step < MANY else LATER) == 0:
            counted = device_memory()
            self.run.emit(
                Memory(
                    ref=self.run.ref("update", self.run.iteration - 1),
                    resident=resident(),
                    allocated=counted.allocated if counted else None,
                    reserved=counted.reserved if counted else None,
                    total=counted.total if counted else None,
                    kept=self.run.kept_bytes(),
                )
            )


def resident() -> int:
    """The bytes of this process in memory; 0 where /proc does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0
