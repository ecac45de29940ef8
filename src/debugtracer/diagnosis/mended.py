"""A broken invariant of the loop put right on the steps that are kept: what the loss would have done."""

from __future__ import annotations

import msgspec

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.recorder.ring import Past
from debugtracer.replay.past import PastBench
from debugtracer.replay.scene import Scene
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import Finding
from debugtracer.trace.lead import lead
from debugtracer.trace.number import number
from debugtracer.trace.verdict import Trial, Verdict

TAIL = 4  # last steps whose mean loss is compared (ours)


def mended(finding: Finding, past: Past, scene: Scene) -> Verdict | None:
    """The verdict of the finding with the fix tried; None when the fix could not run. The world is as before when it returns."""
    plain = lead([finding])
    if plain is None:
        return None
    with PastBench(past, scene, None) as bench:
        bench.broken = finding.kind or ""
        asis, before = run(bench, interventions()["unchanged"])
        if bench.departs is not None:
            raise ReplayRefused(f"they lead away from the recorded losses at step {bench.departs}")
        fixed, after = run(bench, interventions()["one-line-fix"])
    if after is None or before is None:
        return None
    better = after < before
    trials = (
        msgspec.structs.replace(asis, outcome="reproduced"),
        msgspec.structs.replace(fixed, outcome="healed" if better else "not healed"),
    )
    tested = f"with {fixed.note}: mean loss of the last {TAIL} of them {after:.4g}, as it was {before:.4g}"
    sure = calibrated(plain.status, better, plain.confidence, plain.kind)
    return msgspec.structs.replace(plain, confidence=sure, trials=trials, tested=tested if better else "")


def run(bench: PastBench, intervention: Intervention) -> tuple[Trial, float | None]:
    """One run, and the mean loss of its last steps. Raises ReplayRefused when even the unchanged steps do not run."""
    score = bench.run(intervention)
    if score.refused and intervention.slug == "unchanged":
        raise ReplayRefused(score.refused)
    tail = bench.course[-TAIL:]
    mean = sum(tail) / len(tail) if tail and not score.refused else None
    note = score.refused or score.change
    trial = Trial(intervention=intervention.name, outcome="could not run", loss=number(mean) if mean is not None else None, seconds=score.seconds, note=note)
    return trial, mean
