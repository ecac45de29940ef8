"""Incidents of a process without a loop: what looks into an alarm and what waits is told by the test."""

from __future__ import annotations

import contextlib
import types

from debugtracer.diagnosis.incidents import IncidentOptions, Incidents
from debugtracer.diagnosis.proof.trial_budget import TrialBudget


class Waiting:
    """A re-yield: `held` while a bad step waits, `tracer` while its batch runs again."""

    def __init__(self, held=True, tracer=None, data=None, arms=True) -> None:
        self.held, self.tracer, self.data, self.arms = held, tracer, data, arms
        self.finished, self.kept, self.armed = [], [], []

    def again(self, iterator):
        return self.data

    def fetched(self, iterator, data):
        self.kept.append((iterator, data))

    def finish(self, seen):
        self.held = False
        self.finished.append(seen)
        return "first alarm", "what it showed"

    def arm(self, alarm, result):
        self.armed.append(alarm)
        return self.arms


def incidents(consensus=None, reyield=None, *, stops=True, most=2, judges_on=False) -> Incidents:
    """Incidents whose `opened` has the alarms that were concluded."""
    state = types.SimpleNamespace(
        investigated=contextlib.nullcontext,
        quiet_until_healthy=False,
        anomalies=0,
        backward_ends_step=False,
        optimizers={},
    )
    stack = types.SimpleNamespace(paused=contextlib.nullcontext)
    context = types.SimpleNamespace(batches=None, roots={})
    output = types.SimpleNamespace(open=lambda: None, notes=[], note=lambda *told: output.notes.append(told))
    budget = TrialBudget()
    options = IncidentOptions(stops, most, judges_on, 1000, "default", budget, 1000, None)
    made = Concluding(output, state, stack, context, None, consensus, reyield, options)
    made.stopped_with = []
    made.incident_writer.stopped_with_others = made.stopped_with.append
    return made


class Concluding(Incidents):
    """Keeps what it concludes instead of judging it."""

    def conclude(self, alarm, result, context, begin):
        self.opened = [*getattr(self, "opened", []), alarm]
