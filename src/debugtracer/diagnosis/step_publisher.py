"""The numbers of a step on their way out: to the incidents and their checks, then to the series on disk."""

from __future__ import annotations

import math
from collections.abc import Sequence

from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.listeners import ClosedStep, StepNumbers
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.trace.window import LOSS, NONFINITE_ROW


class StepPublisher(StepNumbers):
    """One per session."""

    def __init__(self, batches: BatchLog, run: ObservedRun, findings: RunFindings, output: Output) -> None:
        self.batches, self.run, self.findings, self.output = batches, run, findings, output
        self.nonfinite = 0
        """Losses in a row, up to now, that were not finite."""

    def publish(self, step: int, values: dict[str, float]) -> None:
        """Publish the numbers of a step that is over, and what the observers have put beside them."""
        self.batches.step_done()
        values |= self.run.take_values()
        self.take(step, self.findings.state.iteration, values)

    def publish_all(self, steps: Sequence[ClosedStep]) -> None:
        """Publish steps in their order; what the observers have put belongs to the last of them."""
        last = steps[-1]
        if others := steps[:-1]:
            self.take_many(others)
        self.take(last.step, last.iteration, last.values | self.run.take_values())

    def take_many(self, steps: Sequence[ClosedStep]) -> None:
        """Take the numbers of steps with which no facts go."""
        if self.nonfinite or not all(map(math.isfinite, [closed.values.get(LOSS, 0.0) for closed in steps])):
            for closed in steps:
                self.count_nonfinite(closed.values)
        self.judge_many(steps)
        self.output.points([(closed.step, closed.values) for closed in steps])

    @guarded("diagnosis.step_publisher")
    def judge_many(self, steps: Sequence[ClosedStep]) -> None:
        """Hand their numbers to the checks."""
        self.findings.steps_done(steps)

    def waiting(self) -> bool:
        run = self.run
        if run.facts or run.values:
            return True
        # what `inspecting` answers of most steps, without a call more
        decided, cadence = run.decided, run.cadence
        if decided is not None and decided < run.state.step < cadence.idle_until:
            return run.state.anomalies != cadence.seen and run.inspecting
        return run.inspecting

    def take(self, step: int, iteration: int, values: dict[str, float]) -> None:
        """Take the numbers of one step, with the facts since the last."""
        self.count_nonfinite(values)
        self.judge(step, iteration, values)
        self.output.point(step, values)

    def count_nonfinite(self, values: dict[str, float]) -> None:
        """Count losses in a row that are not finite; a judge that takes fewer steps than there are would miss some."""
        loss = values.get(LOSS)
        if loss is None:
            return
        if not math.isfinite(loss):
            self.nonfinite += 1
            values[NONFINITE_ROW] = float(self.nonfinite)
        elif self.nonfinite:
            self.nonfinite = 0
            values[NONFINITE_ROW] = 0.0

    @guarded("diagnosis.step_publisher")
    def judge(self, step: int, iteration: int, values: dict[str, float]) -> None:
        """Hand the numbers and facts to the checks."""
        self.findings.step_done(step, values, self.run.take_facts(), iteration)
