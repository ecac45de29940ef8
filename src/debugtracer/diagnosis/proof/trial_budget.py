"""How much trials may cost: apart from them, since every run has a budget and few have a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class TrialBudget:
    """How much may be spent on one incident."""

    trials: int = 8
    seconds: float = 30.0
    order: str = "information"
    """`information`, or `random` for the baseline of the scoreboard."""
