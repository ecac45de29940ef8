"""The time that summaries of batches may take, as a share of the run."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

# of the time since the first batch, and seconds on top, that looking may cost (ours: < 1 %)
SHARE, ALLOWANCE_S = 0.01, 0.2


@dataclass
class SummaryBudget:
    """How much time looking may take: a little on top of a share of the run."""

    began: float | None = None
    spent: float = 0.0

    def open(self) -> bool:
        """Whether another summary is affordable now."""
        now = perf_counter()
        self.began = now if self.began is None else self.began
        return self.spent <= ALLOWANCE_S + SHARE * (now - self.began)
