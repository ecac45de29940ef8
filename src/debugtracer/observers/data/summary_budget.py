"""The time that summaries of batches may take, as a share of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from debugtracer.recorder.part_cost import PartCost

# of the time since the first batch, and seconds on top, that looking may cost (ours: < 1 %)
SHARE, ALLOWANCE_S = 0.01, 0.2


@dataclass
class SummaryBudget:
    """How much time looking may take: a little on top of a share of the run."""

    began: float | None = None
    spent: float = 0.0
    cost: PartCost = field(default_factory=PartCost)

    def open(self) -> bool:
        """Whether another summary is affordable now."""
        now = perf_counter()
        self.began = now if self.began is None else self.began
        return self.spent <= ALLOWANCE_S + SHARE * (now - self.began)

    def spend(self, elapsed_s: float) -> None:
        """Count a summary that took so many seconds."""
        self.spent += self.cost.counted(elapsed_s)
