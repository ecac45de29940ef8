"""The numbers of a step on their way out: to the incidents and their checks, then to the series on disk."""

from __future__ import annotations

from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.batches import BatchLog
from debugtracer.recorder.listeners import StepNumbers
from debugtracer.recorder.output.output import Output


class StepPublisher(StepNumbers):
    """One per session."""

    def __init__(self, batches: BatchLog, run: ObservedRun, findings: RunFindings, output: Output) -> None:
        self.batches, self.run, self.findings, self.output = batches, run, findings, output

    def publish(self, step: int, values: dict[str, float]) -> None:
        """Publish the numbers of a step that is over, and what the observers have put beside them."""
        self.batches.step_done()
        values |= self.run.take_values()
        self.judge(step, values)
        self.output.point(step, values)

    @guarded("diagnosis.step_publisher")
    def judge(self, step: int, values: dict[str, float]) -> None:
        """Hand the numbers and facts to the checks."""
        self.findings.step_done(step, values, self.run.take_facts())
