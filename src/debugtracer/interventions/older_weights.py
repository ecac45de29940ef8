"""The same batch on the weights, moments and buffers of some steps ago."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class OlderWeights(Intervention):
    """Separates what the batch does from what the updates before it have done."""

    scope: ClassVar[Scope] = "state"
    default: ClassVar[float | None] = 1.0
    unit: ClassVar[str] = "steps back"
    ladder: ClassVar[tuple[float, ...]] = (8.0,)

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without a snapshot of older weights."""
        return "" if rerun.history >= 1 else "no older state of the weights is kept"

    def apply(self, rerun: Rerun) -> str:
        """Start from the snapshot."""
        rerun.steps_back = min(int(self.size), rerun.history)
        return (
            f"the weights, moments and buffers of at least {rerun.steps_back} "
            f"step{'s' if rerun.steps_back > 1 else ''} before"
        )

    def offline(self, tape: OfflineRerun) -> str:
        """A capsule holds one state."""
        raise ReplayRefused("no older state of the weights is kept in a capsule")
