"""Runs to look at: one with an incident, a finding and an action; and one that is still written."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_finding, a_masked_row, a_trace, an_incident
from debugtracer.trace.events import Acted, AnyEvent, Failed, Found, RankStarted
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.trace.verdict import Trial, Verdict

AT = 1_760_000_000.0
VERDICT = Verdict(
    kind="labels_all_ignored",
    cause="labels-all-ignored",
    symptom="nan_loss",
    layer="data",
    iteration=48,
    step=48,
    file="train.py",
    line=12,
    status="confirmed",
    confidence=0.9,
    summary="every label of the batch is ignored",
    remedy=("drop such batches",),
    sample_index=(3, 4),
    trials=(Trial(intervention="unchanged", outcome="reproduced", seconds=0.25),),
    seconds=2.0,
)


def noteworthy() -> list[AnyEvent]:
    """One event of each kind that is given out."""
    return [
        an_incident(a_masked_row(), VERDICT),
        Found(at=AT, finding=a_finding()),
        Found(at=AT, finding=a_finding("data/blank-sample", "note")),
        Acted(at=AT, action="skip-update", iteration=48, step=48, reason="the loss is NaN; left out"),
        Failed(at=AT, where="here", count=3, first=""),
    ]


def ended_run(folder: Path) -> Path:
    """A run that is over."""
    return a_trace(folder, *noteworthy())


class LiveRun:
    """A run in mode prod that is still written, of one rank."""

    def __init__(self, folder: Path) -> None:
        self.path = create_run(folder, "live", ["train.py"], "prod")
        self.writer = TraceWriter(self.path, 0)
        self.writer.event(RankStarted(at=AT, pid=1, torch="2.13.0", mode="prod"), now=True)
        self.step = 0

    def train(self, steps: int, loss: float = 0.5) -> None:
        """Write so many steps of 10 ms."""
        for _ in range(steps):
            self.writer.point(self.step, {"loss": loss, "step_s": 0.01, "wait_s": 0.004, "own_s": 0.0001})
            self.step += 1
        self.writer.flush()

    def tell(self, *events: AnyEvent) -> None:
        """Write events."""
        for event in events:
            self.writer.event(event, now=True)
