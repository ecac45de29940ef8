"""Confidence that means what it says: how often a verdict of this kind named the right class, measured
(calibration.toml, scripts/calibrate.py)."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from debugtracer.trace.verdict import LIKELY, POSSIBLE, Status

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("calibration.toml")
MOST = 0.97  # said at most: the faults that rules were made on flatter them (docs/rationale/inference.md#most)
RANGES: dict[Status, tuple[float, float]] = {
    "confirmed": (0.9, MOST),
    "likely": (LIKELY, 0.95),
    "possible": (POSSIBLE, 0.69),
    "unknown": (0.0, 0.39),
}
"""Numbers that go with a word: what was measured never makes a `possible` sound surer than a `likely`.

(docs/rationale/inference.md#status)"""


COURSE = frozenset({"loss_spike", "lr_too_high", "exploding_gradients", "logit_divergence", "weight_growth"})
"""Classes that the loss and gradient series alone suggest, measured apart: what they call a cause is often the sign of
another one."""


@functools.cache
def frequencies() -> dict[str, float]:
    """Map a `cell` to the share of such verdicts that were right; kinds of verdict never seen are left out."""
    known: dict[str, float] = tomllib.loads(TABLE.read_text())["frequency"]
    return known


def cell(status: str, proved: bool, kind: str | None) -> str:
    """The name of a kind of verdict: STATUS, `-proved` where a trial that proves the class has healed the step,
    `-course` for classes of COURSE."""
    return status + "-proved" * proved + "-course" * (kind in COURSE)


def calibrated(status: Status, proved: bool, share: float, kind: str | None) -> float:
    """Return 0..1, three digits: the measured share of this kind within the range of its word; else the belief
    itself."""
    measured = frequencies().get(cell(status, proved, kind))
    if measured is None:
        return round(min(share, MOST), 3)
    low, high = RANGES[status]
    return round(min(max(measured, low), high), 3)
