"""The same steps since the snapshot in the reverse order: does the fault follow its batch, or its place in time?"""

from __future__ import annotations

from typing import ClassVar

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class ReorderedBatches(Intervention):
    """The failing batch comes first and meets the weights of the snapshot; the loss that counts is that of the step
    that now comes last."""

    scope: ClassVar[Scope] = "loop"
    cost: ClassVar[float] = 4.0

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without at least two steps before."""
        return "" if rerun.replays_past and rerun.history >= 2 else "the steps before are not kept"

    def apply(self, rerun: Rerun) -> str:
        """Replay the steps since the snapshot in the reverse order."""
        rerun.backwards_in_time = True
        return f"the last {rerun.history + 1} steps in the reverse order"
