"""A loss that jumps at chosen steps, and what a check says of snapshots between its values."""

from __future__ import annotations

import random
from typing import Any

from debugtracer.checks.optimizer.loss_spike import LossSpike
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef


def after_jumps(check: Any, snapshots: list[Health], jumps: set[int], steps: int = 700) -> list[Finding]:
    """What the check says by the end of a run whose loss is 1 but for a spike of three steps at each of `jumps`."""
    taken = {s.ref.step: s for s in snapshots}
    spikes = LossSpike()  # which looks at every loss
    noise, judge = random.Random(0), Judge({check.slug: check, spikes.slug: spikes})
    found: list[Finding] = []
    for step in range(steps):
        high = any(at <= step < at + 3 for at in jumps)
        loss = (3.0 if high else 1.0) + noise.gauss(0, 0.01)
        facts = [taken[step]] if step in taken else []
        found += judge.judge(StepRef(iteration=step, step=step), {"loss": loss}, facts)
    found += judge.end(StepRef(iteration=steps - 1, step=steps - 1))
    return [finding for finding in found if finding.check == check.slug]
