"""Trials on a capsule: each remedy alone on the recorded step, judged as the live trials are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugtracer.diagnosis.healing import TIMES, is_healed
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.recorder.capsule import Capsule
from debugtracer.replay.attempt import Attempt, attempt
from debugtracer.replay.score import Score
from debugtracer.trace.birth import Birth
from debugtracer.trace.number import as_float, number
from debugtracer.trace.verdict import Outcome, Trial
from debugtracer.trace.window import LOSS

SAME_LOSS = 0.05  # a recorded loss and that of its replay in another dtype differ less than this share; a scaled one by more (ours)


@dataclass(frozen=True)
class Tried:
    """A trial, and where what is still bad is born."""

    trial: Trial
    birth: Birth | None = None


def try_offline(capsule: Capsule, asked: Sequence[Intervention], *, dtype: str | None = None, device: str = "cpu") -> list[Tried]:
    """`unchanged` first, whether it was asked for or not: without it no outcome means anything. Then each one alone, up its ladder where no value was given."""
    facts = capsule.head.facts
    recent = {name: [as_float(value) for value in values] for name, values in facts.recent.items()}
    control = attempt(capsule, interventions()["unchanged"], dtype=dtype, device=device)
    outcome: Outcome = "could not run" if control.score.refused else "not reproduced" if control.score.finite else "reproduced"
    scaled = is_scaled(control.score, None if facts.loss is None else as_float(facts.loss))
    tried = [told(interventions()["unchanged"], control, outcome, scaled)]
    for one in asked:
        if one.slug != "unchanged" and outcome != "could not run":
            tried += climb(capsule, one, recent, scaled, dtype, device)
    return tried


def climb(capsule: Capsule, one: Intervention, recent: Mapping[str, Sequence[float]], scaled: bool, dtype: str | None, device: str) -> list[Tried]:
    """One intervention; its further values while it does not heal, unless the value was given."""
    tried: list[Tried] = []
    for value in (one.value, *(one.ladder if one.value is None else ())):
        this = type(one)(value)
        done = attempt(capsule, this, dtype=dtype, device=device)
        outcome: Outcome = "could not run" if done.score.refused else "healed" if heals(done.score, recent) else "not healed"
        tried.append(told(this, done, outcome, scaled))
        if outcome != "not healed":
            break
    return tried


def heals(score: Score, recent: Mapping[str, Sequence[float]]) -> bool:
    """As live; where the capsule holds no gradient a finite loss far outside of the last ones is not taken for health."""
    losses = [abs(v) for v in recent.get(LOSS, ()) if math.isfinite(v)]
    far = score.grad_l2 is None and score.loss is not None and len(losses) >= 3 and abs(score.loss) > TIMES * max(losses)
    unscaled = dataclasses.replace(score, loss=None) if score.finite else score  # the loss of a capsule may be one that a GradScaler has multiplied
    return is_healed(unscaled, recent) and not far


def is_scaled(score: Score, recorded: float | None) -> bool:
    """The backward began from something else than the loss that was recorded: a GradScaler had multiplied it."""
    if score.loss is None or recorded is None or not math.isfinite(recorded) or not math.isfinite(score.loss):
        return False
    return abs(score.loss - recorded) > SAME_LOSS * max(abs(recorded), 1e-12)


def told(intervention: Intervention, done: Attempt, outcome: Outcome, scaled: bool) -> Tried:
    """As it is kept; a scaled loss is no loss."""
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
    return Tried(trial, done.birth)
