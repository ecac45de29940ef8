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


@functools.cache
def frequencies() -> dict[str, float]:
    """`STATUS` or `STATUS-proved` -> share of such verdicts that were right; kinds never seen are not here."""
    known: dict[str, float] = tomllib.loads(TABLE.read_text())["frequency"]
    return known


def calibrated(status: Status, proved: bool, share: float) -> float:
    """0..1, three digits: what was measured for this status, with or without a trial that proves it; the belief itself where nothing was measured."""
    return round(min(frequencies().get(f"{status}-proved" if proved else status, share), MOST), 3)
