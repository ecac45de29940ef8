"""The sentence beside a proposed change: only a trial of that kind of change says what it does to the step."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.diagnosis.proof.score_text import outcome
from debugtracer.trace.verdict import Change, Trial, Verdict

OPERATOR = ("stable-op",)
KINDS: dict[str, tuple[str, ...]] = {
    "clamp-argument": OPERATOR,
    "clamp-logs": OPERATOR,
    "guard-divisor": (*OPERATOR, "larger-eps"),
    "log-of-scores": OPERATOR,
    "counted-targets": OPERATOR,
    "finite-mask": OPERATOR,
    "floor-scores": OPERATOR,
    "safe-branch": OPERATOR,
    "zero-infinity": OPERATOR,
    "population-spread": OPERATOR,
    "no-label-smoothing": OPERATOR,
    "as-float": ("module-in-float32", "full-precision"),
    "larger-eps": ("larger-eps",),
    "lower-lr": ("lower-lr",),
    "clip-gradient": ("clipped-gradient",),
    "shuffle": ("reordered-batches",),
}
"""Edit of a line -> the interventions that change the same thing; none for one that is not here."""


NEVER_UNTRIED = ("lower-lr",)
"""Edits by a number that only a trial can know: a learning rate that is right for one model is a tenth of what the next
one needs."""


def same_kind(change: Change | None, trials: Sequence[Trial]) -> list[Trial]:
    """The trials of that change that ran, in order."""
    slugs = KINDS.get(change.edit, ()) if change is not None else ()
    return [t for t in trials if t.intervention.partition("=")[0] in slugs and t.outcome in ("healed", "not healed")]


def healing(change: Change | None, trials: Sequence[Trial]) -> Trial | None:
    """The first of them that healed."""
    return next((t for t in same_kind(change, trials) if t.outcome == "healed"), None)


def failed(change: Change | None, trials: Sequence[Trial]) -> Trial | None:
    """The last of them, where they were run and none healed."""
    ran = same_kind(change, trials)
    return ran[-1] if ran and all(t.outcome == "not healed" for t in ran) else None


def honest(verdict: Verdict) -> Verdict:
    """The change with the words of a trial of its own kind, or without any; no change that was tried and did not heal,
    which is said instead."""
    if verdict.change is None or any(t.intervention == "one-line-fix" or t.spread is not None for t in verdict.trials):
        return verdict  # several steps ran again: the words are of what was put right on them
    vain, good = failed(verdict.change, verdict.trials), healing(verdict.change, verdict.trials)
    if vain is not None:
        return msgspec.structs.replace(verdict, change=None, tested="", remedy=(alone(vain, verdict), *verdict.remedy))
    if good is None and verdict.change.edit in NEVER_UNTRIED:
        return msgspec.structs.replace(verdict, change=None, tested="")
    return msgspec.structs.replace(
        verdict, tested=f"with {good.note}: {outcome(good, verdict.symptom)}" if good is not None else ""
    )


def alone(vain: Trial, verdict: Verdict) -> str:
    """Describe the change that did not heal the recorded step, with its loss, and the trial that did."""
    other = next((t for t in verdict.trials if t.outcome == "healed"), None)
    did = f"; {other.note} did ({outcome(other, verdict.symptom)})" if other is not None else ""
    rows = other is not None and other.intervention.partition("=")[0] in (
        "without-sample",
        "sanitised-batch",
        "other-batch",
    )
    look = ": look at the guilty rows first (`debug-tracer report RUN --batch`)" if rows else ""
    return f"{vain.note} alone did not heal the recorded step ({outcome(vain, verdict.symptom)}){did}{look}"
