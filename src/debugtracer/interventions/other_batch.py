"""Another batch in the place of this one: that of the last healthy step."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class OtherBatch(Intervention):
    """If the fault goes with the batch, the weights are sound."""

    scope: ClassVar[Scope] = "batch"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without the batch of an earlier healthy step."""
        if not rerun.batch:
            return "no input of the step has the rows of a batch"
        return "" if any(id(leaf) in rerun.healthy for leaf in rerun.batch) else "no batch of a healthy step is kept"

    def apply(self, rerun: Rerun) -> str:
        """Exchange every input that has a counterpart."""
        for leaf in rerun.batch:
            other = rerun.healthy.get(id(leaf))
            if other is not None:
                rerun.inputs[id(leaf)] = other.clone()
        return "the batch of the last healthy step"

    def offline(self, tape: OfflineRerun) -> str:
        """A capsule holds one batch."""
        raise ReplayRefused("no other batch is kept in a capsule; without-sample takes rows out of this one")
