"""A run whose validation loss rises while its training loss falls ends there, where that was chosen
(`--respond overfitting=stop`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from debugtracer.recorder.listeners import PassListener
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.bad_step import SeenBatch
from debugtracer.trace.finding import Finding

CAUSE = "overfitting"
"""The cause that the check of the validation gap names; the user chooses the stop for it."""


class EarlyStop(PassListener):
    """One per process, in modes val and prod, where it was chosen. It acts where a batch is fetched."""

    waiting = True

    def __init__(
        self,
        state: RunState,
        findings: Callable[[], Sequence[Finding]],
        log: ActionLog,
        save: Callable[[], str],
        stopped: Callable[[], type[BaseException]],
    ) -> None:
        """Take what the checks have said so far, and what writes the state and says where."""
        self.state, self.findings = state, findings
        self.log, self.save, self.stopped = log, save, stopped
        self.read = 0
        """Findings that were looked at."""

    def before_fetch(self, iterator: Any) -> bool:
        """Stop in front of the batch that follows such a finding. Raises the stop."""
        found = self.findings()
        if len(found) == self.read:
            return False
        self.read, new = len(found), found[min(self.read, len(found)) :]
        gap = next((one for one in new if one.kind == CAUSE and one.severity != "note"), None)
        if gap is None or several_ranks():
            return False
        seen = SeenBatch(self.state.step, self.state.iteration, None, gap.message.rstrip("."), asked=True)
        self.log.noted(seen, "stop", f"the run was stopped, as you have chosen for {CAUSE}; {self.save()}", None)
        raise self.stopped()
