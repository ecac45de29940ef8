"""Asks of a loss that has left its level whether the weights of before do better on the batches of now."""

from __future__ import annotations

from collections.abc import Sequence

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.state.step_history import Snapshot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.weight_comparison import WeightComparison
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef

BATCHES = 3  # of late that both weights are given (ours: one alone may be an odd one)


def compared(finding: Finding, ring: SnapshotRing, context: ReplayContext) -> LossComparison:
    """The fact that answers the finding. The world is as before when it returns."""
    ref = StepRef(iteration=finding.iteration, step=finding.step, rank=finding.rank)
    try:
        earlier, batches = weights_before(ring, finding.step), list(ring.tapes)[-BATCHES:]
        pairs = [losses(earlier, segment, context) for segment in batches]
    except ReplayRefused as error:
        return LossComparison(ref=ref, refused=str(error))
    if not pairs:
        return LossComparison(ref=ref, refused="no steps are kept")
    now, before = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    if now == before:  # other weights give another loss, in the last digit at least: none of them have reached it
        return LossComparison(ref=ref, refused=f"the weights of step {earlier.step} and of now give the very same loss")
    return LossComparison(ref=ref, earlier_step=earlier.step, batches=len(pairs), now=now, earlier=before)


def losses(earlier: Snapshot, segment: Segment, context: ReplayContext) -> tuple[float, float]:
    """The losses of one step with the weights of now and of before."""
    with WeightComparison(earlier, segment, context) as comparison:
        return comparison.both()


def weights_before(ring: SnapshotRing, step: int) -> Snapshot:
    """The snapshot whose loss was the lowest of those from before a step. Raises ReplayRefused without one."""
    pinned = ring.pinned.snapshot if ring.pinned is not None else None
    known: Sequence[Snapshot | None] = (ring.best, pinned, *ring.held)
    before = [s for s in known if s is not None and s.step <= step and ring.fits(s)]
    if not before:
        raise ReplayRefused(ring.off or f"no weights from before step {step} are kept")
    return min(before, key=lambda s: s.level)
