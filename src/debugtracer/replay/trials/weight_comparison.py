"""The loss of one recorded batch with the weights of now and with those of a snapshot: a loss is comparable with itself
on the same batch and the same targets alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.state.step_history import Snapshot, StepHistory
from debugtracer.recorder.tape.entry import Entry
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan
from debugtracer.replay.trials.changed import ChangedExecution
from debugtracer.replay.trials.history_trials import HistoryTrials

Kept = dict[tuple[int, int], list[Tensor]]


class FixedTargets(ChangedExecution):
    """A run in which what carries no gradient keeps the values of the run before: targets that the model makes itself
    stay what they were."""

    def __init__(self, plan: ReplayPlan, backward: Callable[..., Any], rerun: Rerun, made: Kept) -> None:
        """Take the values of the run before; empty in the first, which fills it."""
        super().__init__(plan, backward, rerun)
        self.made, self.first = made, not made

    def execute(self, entry: Entry) -> None:
        """Execute the entry, then put what has no gradient back to what it was."""
        super().execute(entry)
        key = (entry.segment, entry.index)
        if self.first:
            self.made[key] = [v if v.requires_grad else v.detach().clone() for v in self.values.get(key, ())]
        elif key in self.made and len(self.made[key]) == len(self.values.get(key, ())):
            pairs = zip(self.values[key], self.made[key], strict=True)
            self.values[key] = [now if now.requires_grad else then for now, then in pairs]


class WeightComparison(HistoryTrials):
    """Use as a context; raises ReplayRefused where the step cannot be executed again."""

    def __init__(self, snapshot: Snapshot, segment: Segment, context: ReplayContext) -> None:
        super().__init__(StepHistory(snapshot, [segment]), context, None)

    def both(self) -> tuple[float, float]:
        """The loss of the step with the weights of now, and with those of the snapshot. Syncs the host. Raises
        ReplayRefused when the step gives no finite one."""
        made: Kept = {}
        rerun = self.rerun()
        self.world.rewind()
        for copy in self.world.now:
            copy.restore()
        now = self.loss(rerun, made)
        self.world.rewind()
        self.history.snapshot.restore()
        return now, self.loss(rerun, made)

    def loss(self, rerun: Rerun, made: Kept) -> float:
        """The loss of the step on the weights as they are."""
        run = FixedTargets(ReplayPlan([self.last]), self.context.backward, rerun, made)
        run.run(until=next((e for e in reversed(self.last.entries) if e.kind == "backward"), None))
        loss = self.last_loss(run, self.last)
        if loss is None or loss.numel() != 1 or not math.isfinite(value := float(loss.detach())):
            raise ReplayRefused("the step executed again gives no finite loss")
        return value
