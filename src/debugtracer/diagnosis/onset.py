"""Values that grew until they left the range: a batch, a stored value that the machine changed, a line that let the
updates grow or a gradient that was measured to be wrong, that a check has named before, leads over what is drawn from
the last step."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import msgspec

from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.leading_finding import ranked, status_of
from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import LIKELY, Suspect, Verdict
from debugtracer.trace.window import GRAD_L2, LOSS

GROWN = frozenset({"lr_too_high", "exploding_gradients"})
"""Classes that say how values grew, not what began it."""
MULTIPLIED = frozenset({
    "accumulation_unscaled", "clip_misplaced", "stale_gradients", "amp_clip_scaled_grads", "loss_unbounded",
})  # fmt: skip
"""Classes that make each update larger than the learning rate says, or lift its limit: what grew, grew by them."""
RAISED = frozenset({
    "optimizer/warmup-uncapped", "optimizer/lr-zero", "optimizer/rate-raised-on-load", "optimizer/schedule-restarted",
})  # fmt: skip
"""Checks that name the line by which the rate rose, or fell below 0."""
WRONG_WAY = "custom_backward_wrong"
LARGE = "data_unnormalised"
RECENT = 50  # steps before the incident (ours, as many as are kept of its numbers)
MACHINE = "silent_data_corruption"
OLDER = "older-weights"
LEAP = 1e3  # times the smallest loss or gradient norm before: values that grew until they overflowed (ours)
ONSET = 10.0  # times the largest loss before: the step in which the growth began (ours)
FACTOR = 1.5  # times the derivative: a gradient that is too large (ours)
SMALL = 1e-3  # a loss below it is as good as 0: no growth is measured from there (ours)
WITHIN = 20  # steps: growth that ends in an overflow is fast (ours)
CALM = 3  # losses before it that have to be there (ours)


def began(facts: IncidentFacts, verdict: Verdict, found: Sequence[Finding]) -> Verdict:
    """The verdict, or that of the loud finding at the onset with the growth as its consequence. Pure."""
    first = leading(facts, verdict, found)
    if first is None or first.kind is None:
        return verdict
    status, frame = status_of(first), first.place.frame
    if status == "confirmed" and first.kind != MACHINE:
        status = "likely"  # that the line is wrong is certain, that it did this was not tried
    if first.kind == MACHINE:
        verdict = msgspec.structs.replace(
            verdict, module=first.place.module, param=first.place.param, op=None, direction=None, backward_op=None
        )
    what = (
        "batch"
        if first.layer == "data" and first.kind != LARGE
        else "changed value"
        if first.kind == MACHINE
        else "updates"
    )
    was = Suspect(
        kind=verdict.kind or "",
        cause=verdict.cause or "",
        confidence=round(verdict.confidence, 3),
        status=verdict.status,
    )
    return msgspec.structs.replace(
        verdict,
        kind=first.kind,
        cause=first.kind.replace("_", "-"),
        layer=first.layer,
        status=status,
        confidence=calibrated(status, False, first.confidence, first.kind),
        file=frame.file if frame is not None else None,
        line=frame.line if frame is not None else None,
        batch_rows=first.place.batch_rows,
        sample_index=first.place.sample_index,
        summary=(f"{facts.ref}: values grew from step {first.step} on until they overflowed because {told(first)}"),
        remedy=(*first.remedy, *(t for t in verdict.remedy if t.startswith("clip") and first.kind != MACHINE)),
        change=None,
        tested="",
        evidence=(
            (
                f"the trials are of step {facts.ref.step}: the {what} {'from' if what == 'updates' else 'of'} step "
                f"{first.step}{' on' if what == 'updates' else ''} had thrown the weights far out before it"
            ),
            *((f"also possible: {was.kind} (confidence {was.confidence:.2f})",) if was.status == "possible" else ()),
            *verdict.evidence,
        ),
        suspects=(
            *((was,) if verdict.kind is not None else ()),
            *(s for s in verdict.suspects if s.kind not in (was.kind, first.kind)),
        ),
    )


def leading(facts: IncidentFacts, verdict: Verdict, found: Sequence[Finding]) -> Finding | None:
    """The finding that says what began the growth; None where the verdict stays."""
    if verdict.kind == MACHINE or verdict.status == "confirmed":
        return None
    here = [f for f in ranked(found) if f.rank == facts.ref.rank]
    first = next((f for f in here if f.kind == MACHINE and f.exact and at_onset(facts, f, later=1)), None)
    if first is None and verdict.kind in GROWN:
        first = next((f for f in here if f.layer == "data" and at_onset(facts, f)), None)
    blamed = verdict.kind in GROWN or (verdict.kind is None and grew(facts))
    if first is None and blamed and not fails_before(verdict):
        before = [f for f in here if f.iteration <= facts.ref.iteration and (f.exact or f.confidence >= LIKELY)]
        first = next((f for f in before if f.kind in MULTIPLIED), None)
        if first is None and verdict.status != "likely":
            first = next((f for f in before if explains(facts, f)), None)
    return first


def explains(facts: IncidentFacts, finding: Finding) -> bool:
    """Whether what was measured makes values grow by itself: a derivative that climbs or is too large, a rate that the
    program raised or turned lately, an input far larger than a layer is made for. Not the step of the incident."""
    ago = facts.ref.iteration - finding.iteration
    if finding.kind == WRONG_WAY:
        right, given = (as_float(finding.evidence.get(name, math.nan)) for name in ("derivative", "backward"))
        return ago > 0 and (right * given < 0 or abs(given) > FACTOR * abs(right) > 0)
    return 0 < ago <= RECENT and (finding.check in RAISED or finding.kind == LARGE)


def fails_before(verdict: Verdict) -> bool:
    """True if the step failed as well with the weights of before its last updates: they are not to blame."""
    return any(t.intervention.partition("=")[0] == OLDER and t.outcome == "not healed" for t in verdict.trials)


def grew(facts: IncidentFacts) -> bool:
    """True if the losses or the gradient norms before the incident had grown by orders of magnitude."""
    for name in (LOSS, GRAD_L2):
        values = [abs(as_float(v)) for v in facts.recent.get(name, ())][-WITHIN:]
        known = [v for v in values if not math.isnan(v)]
        if known and max(known) > LEAP * max(min(known), SMALL):
            return True
    return False


def at_onset(facts: IncidentFacts, finding: Finding, later: int = 0) -> bool:
    """True if the loss was calm before the step of the finding, and left that range there, or so many steps later."""
    losses = [abs(as_float(v)) for v in facts.recent.get(LOSS, ())]
    at = len(losses) - (facts.ref.iteration - finding.iteration)
    if not CALM <= at <= len(losses) - 1 + later:
        return False
    before, usual = max(losses[:at]), statistics.median(losses[:at])
    return (
        math.isfinite(before)
        and before <= ONSET * usual
        and not max(losses[at : at + 1 + later], default=math.inf) <= (ONSET * before)
    )


def told(finding: Finding) -> str:
    """What the finding says, without its place in the run, as part of a longer sentence."""
    return finding.message.removeprefix(f"step {finding.step}, rank {finding.rank}: ").replace("; ", ", ")
