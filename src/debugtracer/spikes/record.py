"""Records: values beyond everything the run has shown before; no warm-up, so they cover the first steps too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Record:
    """The largest |value| of a series so far."""

    largest: float = 0.0
    count: int = 0

    def push(self, value: float) -> float:
        """How many times larger this value is than all before it; 0 for the first."""
        times = abs(value) / self.largest if self.count and self.largest > 0 else 0.0
        self.largest = max(self.largest, abs(value))
        self.count += 1
        return times
