"""Trials on a capsule: each remedy alone on the recorded step, judged as the live trials are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugtracer.diagnosis.proof.healing import TIMES, is_healed
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.replay.offline.attempt import Attempt, attempt
from debugtracer.replay.trials.score import Score
from debugtracer.trace.birth import Birth
from debugtracer.trace.number import as_float, number
from debugtracer.trace.verdict import Outcome, Trial
from debugtracer.trace.window import LOSS

# a recorded loss and that of its replay in another dtype differ less than this share; a scaled one by more (ours)
SAME_LOSS = 0.05


@dataclass(frozen=True)
class TriedRemedy:
    """A trial, and where what is still bad is born."""

    trial: Trial
    birth: Birth | None = None


def try_offline(
    capsule: Capsule, asked: Sequence[Intervention], *, dtype: str | None = None, device: str = "cpu"
) -> list[TriedRemedy]:
    """Try `unchanged` first, asked for or not, for no outcome means anything without it; then each alone, up its
    ladder."""
    facts = capsule.head.facts
    recent = {name: [as_float(value) for value in values] for name, values in facts.recent.items()}
    control = attempt(capsule, interventions()["unchanged"], dtype=dtype, device=device)
    outcome: Outcome = (
        "could not run" if control.score.refused else "not reproduced" if control.score.finite else "reproduced"
    )
    scaled = is_scaled(control.score, None if facts.loss is None else as_float(facts.loss))
    tried = [tried_remedy(interventions()["unchanged"], control, outcome, scaled)]
    for one in asked:
        if one.slug != "unchanged" and outcome != "could not run":
            tried += climb(capsule, one, recent, scaled, dtype, device)
    return tried


def climb(
    capsule: Capsule,
    one: Intervention,
    recent: Mapping[str, Sequence[float]],
    scaled: bool,
    dtype: str | None,
    device: str,
) -> list[TriedRemedy]:
    """Try one intervention, and its further values while it does not heal, unless the value was given."""
    tried: list[TriedRemedy] = []
    for value in (one.value, *(one.ladder if one.value is None else ())):
        this = type(one)(value)
        done = attempt(capsule, this, dtype=dtype, device=device)
        outcome: Outcome = (
            "could not run" if done.score.refused else "healed" if heals(done.score, recent) else "not healed"
        )
        tried.append(tried_remedy(this, done, outcome, scaled))
        if outcome != "not healed":
            break
    return tried


def heals(score: Score, recent: Mapping[str, Sequence[float]]) -> bool:
    """True when healed as live; without gradients in the capsule a loss far outside of the last ones does not count."""
    losses = [abs(v) for v in recent.get(LOSS, ()) if math.isfinite(v)]
    far = (
        score.grad_l2 is None and score.loss is not None and len(losses) >= 3 and abs(score.loss) > TIMES * max(losses)
    )
    # the loss of a capsule may be one that a GradScaler has multiplied
    unscaled = dataclasses.replace(score, loss=None) if score.finite else score
    return is_healed(unscaled, recent) and not far


def is_scaled(score: Score, recorded: float | None) -> bool:
    """True if the backward began from another loss than the recorded one: a GradScaler had multiplied it."""
    if score.loss is None or recorded is None or not math.isfinite(recorded) or not math.isfinite(score.loss):
        return False
    return abs(score.loss - recorded) > SAME_LOSS * max(abs(recorded), 1e-12)


def tried_remedy(intervention: Intervention, done: Attempt, outcome: Outcome, scaled: bool) -> TriedRemedy:
    """Convert an attempt to the trial that is kept; a scaled loss is left out."""
    score = done.score
    trial = Trial(
        intervention=intervention.name,
        outcome=outcome,
        loss=None if score.loss is None or scaled else number(score.loss),
        grad_l2=None if score.grad_l2 is None else number(score.grad_l2),
        bad_op=score.bad_op if outcome != "healed" else None,
        seconds=round(score.seconds, 6),
        note=score.refused or score.change,
    )
    return TriedRemedy(trial, done.birth)
