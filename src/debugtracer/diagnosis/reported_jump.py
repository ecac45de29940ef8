"""What a check has reported of a loss that jumped: whether it is worth dozens of steps of trials, and its level."""

from __future__ import annotations

from collections.abc import Iterable

from debugtracer.spikes.episode import STRONG
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float

SPIKE, LEVEL = "optimizer/loss-spike", "optimizer/loss-divergence"


def is_worth(finding: Finding) -> bool:
    """True for a loud finding or the start of a strong spike: a note must not cost dozens of steps."""
    z, threshold = (as_float(finding.evidence.get(name, "NaN")) for name in ("z", "threshold"))
    return finding.severity != "note" or (finding.check == SPIKE and z >= STRONG * threshold)


def level(finding: Finding, recent: Iterable[float]) -> tuple[float, float, list[float]]:
    """A loss that has left its level: what was expected, and where it is by now."""
    expected, now = (as_float(finding.evidence.get(name, "NaN")) for name in ("expected", "loss"))
    return expected, now, [expected, *recent]
