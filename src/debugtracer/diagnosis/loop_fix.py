"""Tries a fix of the loop on the steps that are kept: what the loss would have done."""

from __future__ import annotations

import msgspec

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.number import number
from debugtracer.trace.verdict import Trial, Verdict

TAIL = 4  # last steps whose mean loss is compared (ours)


def mended(finding: Finding, past: StepHistory, context: ReplayContext) -> Verdict | None:
    """The verdict of the finding with the fix tried; None when the fix could not run. The world is as before when it
    returns."""
    plain = lead([finding])
    if plain is None:
        return None
    with HistoryTrials(past, context, None, broken=finding.kind or "") as trials:
        asis, before = run(trials, interventions()["unchanged"])
        if trials.departs is not None:
            raise ReplayRefused(f"they lead away from the recorded losses at step {trials.departs}")
        fixed, after = run(trials, interventions()["one-line-fix"])
    if after is None or before is None:
        return None
    better = after < before
    shown = (
        msgspec.structs.replace(asis, outcome="reproduced"),
        msgspec.structs.replace(fixed, outcome="healed" if better else "not healed"),
    )
    tested = f"with {fixed.note}: mean loss of the last {TAIL} of them {after:.4g}, as it was {before:.4g}"
    sure = calibrated(plain.status, better, plain.confidence, plain.kind)
    return msgspec.structs.replace(plain, confidence=sure, trials=shown, tested=tested if better else "")


def run(trials: HistoryTrials, intervention: Intervention) -> tuple[Trial, float | None]:
    """Run once; return the trial and the mean loss of its last steps. Raises ReplayRefused if the unchanged steps
    fail."""
    score = trials.run(intervention)
    if score.refused and intervention.slug == "unchanged":
        raise ReplayRefused(score.refused)
    tail = trials.losses[-TAIL:]
    mean = sum(tail) / len(tail) if tail and not score.refused else None
    note = score.refused or score.change
    trial = Trial(
        intervention=intervention.name,
        outcome="could not run",
        loss=number(mean) if mean is not None else None,
        seconds=score.seconds,
        note=note,
    )
    return trial, mean
