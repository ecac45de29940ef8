"""Nothing changed: does the fault come again? Always the first."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class Unchanged(Intervention):
    """The step as it was. A fault that does not come again lies in the machine, in memory nobody had written, or in a
    race."""

    scope: ClassVar[Scope] = "nothing"

    def apply(self, rerun: Rerun) -> str:
        """Describe the run; it is not changed."""
        return "nothing changed"

    def offline(self, tape: OfflineRerun) -> str:
        """Describe the run; it is not changed."""
        return "nothing changed"
