"""Confidence that means what it says: how often a verdict of this kind named the right class, measured (calibration.toml, scripts/calibrate.py)."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from debugtracer.trace.verdict import Status

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("calibration.toml")
MOST = 0.97  # said at most: what rules were made on is an upper bound for the programs of others (CHECKS 5.3, 5.4)
RANGES: dict[Status, tuple[float, float]] = {"confirmed": (0.9, MOST), "likely": (0.7, 0.95), "possible": (0.4, 0.69), "unknown": (0.0, 0.39)}
"""Numbers that go with a word (the founders' 0.4 and 0.7): what was measured never makes a `possible` sound surer than a `likely`."""


@functools.cache
def frequencies() -> dict[str, float]:
    """`STATUS` or `STATUS-proved` -> share of such verdicts that were right; kinds never seen are not here."""
    known: dict[str, float] = tomllib.loads(TABLE.read_text())["frequency"]
    return known


def calibrated(status: Status, proved: bool, share: float) -> float:
    """0..1, three digits: what was measured for this status, with or without a trial that proves it, within the range of the word; else the belief itself."""
    measured = frequencies().get(f"{status}-proved" if proved else status)
    if measured is None:
        return round(min(share, MOST), 3)
    low, high = RANGES[status]
    return round(min(max(measured, low), high), 3)
