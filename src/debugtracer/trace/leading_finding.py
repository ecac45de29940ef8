"""The finding a report leads with, as a verdict: for runs in which nothing became non-finite."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from debugtracer.trace.calibration import MOST, calibrated
from debugtracer.trace.finding import Finding, grave
from debugtracer.trace.verdict import SUSPECTS, Status, Suspect, Verdict, word

OF_EVALUATION = ("model/train-mode-eval",)
"""Checks of a fault that spoils the scores and leaves the training as it is."""
GENERAL = frozenset({"lr_too_high", "loss_spike", "exploding_gradients", "dead_relu", "logit_saturation"})
"""Classes that say that something was too large, which has many reasons."""
REASONS = frozenset({
    "optimizer/warmup-uncapped", "optimizer/schedule-restarted", "optimizer/rate-raised-on-load",
    "optimizer/zero-grad-missing",
    "optimizer/accum-scaling", "optimizer/clip-after-step", "optimizer/loss-unbounded", "data/repeated-extreme",
    "rollback/state-lost", "rollback/restore-mismatch",
})  # fmt: skip
"""Checks that say of a line of the program, or of a sample, why it was."""
ALIVE = 0.02  # a class with this share of belief after the trials was not refuted by them (ours)


def lead(found: Iterable[Finding], diagnosed: Iterable[Verdict] = ()) -> Verdict | None:
    """The verdict on these findings: exact ones first, a reason before what it explains, then the surest, then the
    earliest; None when no loud one is a diagnosis, and where the program died of something that none of them is about:
    a report then leads with that.

    `diagnosed` are verdicts that trials have reached: one on the same step says more than the finding alone.
    """
    found = list(found)
    diagnoses = ranked(found)
    if not diagnoses or (any(map(is_unclassified_crash, found)) and all(f.severity == "warning" for f in diagnoses)):
        return None
    tried = next((v for v in diagnosed if speaks_of(v, diagnoses[0])), None)
    plain = led(diagnoses[0], diagnoses[1:])
    return plain if tried is None else merged(plain, tried)


def is_unclassified_crash(finding: Finding) -> bool:
    """Whether it is about the exception that the program died of, told without a class."""
    return finding.severity == "error" and finding.symptom == "crash" and finding.kind is None


def speaks_of(tried: Verdict, first: Finding) -> bool:
    """Whether it is about the step and rank that the report leads with; an exact finding keeps its own kind."""
    return (
        tried.rank == first.rank
        and tried.step == first.step
        and tried.symptom == first.symptom
        and (not first.exact or tried.kind == first.kind)
    )


def merged(plain: Verdict, tried: Verdict) -> Verdict:
    """What the trials have shown, with the places that the finding knows; another class only where the trials confirm
    it."""
    shown = {
        name: getattr(tried, name)
        for name in ("trials", "tested", "evidence", "against", "equivalents", "change", "seconds")
    }
    born = tried.pipeline
    if born is not None and born.frame is not None and not born.refused:
        shown |= {"pipeline": born, "file": tried.file or born.frame.file, "line": tried.line or born.frame.line}
    if tried.kind == plain.kind:
        return msgspec.structs.replace(
            plain,
            status=surer(plain.status, tried.status),
            confidence=max(plain.confidence, tried.confidence),
            suspects=tried.suspects or plain.suspects,
            **shown,
        )
    seen = born is not None and born.kind == "range"  # the line was seen to do it
    alive = any(s.kind == plain.kind and s.confidence >= ALIVE for s in tried.suspects)
    if not seen and (tried.status != "confirmed" or alive):
        return msgspec.structs.replace(plain, **shown)
    was = Suspect(kind=plain.kind or "", cause=plain.cause or "", confidence=plain.confidence, status=plain.status)
    whole = seen and set(tried.sample_index or ()) <= set(plain.sample_index or ())
    return msgspec.structs.replace(
        tried,
        sample_index=plain.sample_index if whole else tried.sample_index,
        whole_index=plain.whole_index if whole else tried.whole_index,
        summary=plain.summary,
        suspects=(was, *(s for s in tried.suspects if s.kind != was.kind))[:SUSPECTS],
    )


def surer(one: Status, other: Status) -> Status:
    """The stronger of two words."""
    return min(one, other, key=("confirmed", "likely", "possible", "unknown").index)


def led(first: Finding, others: list[Finding]) -> Verdict:
    """The verdict of the leading finding."""
    frame, symptom = first.place.frame, first.place.symptom_frame or first.place.frame
    return Verdict(
        kind=first.kind,
        cause=(first.kind or "").replace("_", "-"),
        symptom=first.symptom,
        layer=first.layer,
        iteration=first.iteration,
        step=first.step,
        rank=first.rank,
        module=first.place.module,
        op=first.place.op,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        symptom_line=symptom.line if symptom else None,
        param=first.place.param,
        batch_rows=first.place.batch_rows,
        sample_index=first.place.sample_index,
        whole_index=first.place.whole_index,
        status=status_of(first),
        confidence=calibrated(status_of(first), False, certainty(first), first.kind),
        summary=first.message,
        remedy=first.remedy,
        suspects=suspects(first, others),
    )


def ranked(found: Iterable[Finding]) -> list[Finding]:
    """The findings that are diagnoses, the leading one first."""
    loud = [f for f in found if f.severity != "note" and f.kind is not None]
    explained = any(f.check in REASONS and word(certainty(f)) == "likely" for f in loud)
    return sorted(loud, key=lambda f: (not f.exact, explained and f.kind in GENERAL, order(f)))


def order(finding: Finding) -> tuple[bool, int, float, bool, int, int, str]:
    """Return the sort key: exact before probable, an error before a warning, sure before unsure, training before
    evaluation, early before late."""
    return (
        not finding.exact,
        -grave(finding.severity),
        -round(finding.confidence, 1),
        finding.check in OF_EVALUATION,
        finding.iteration,
        finding.rank,
        finding.check,
    )


def certainty(finding: Finding) -> float:
    """An exact invariant leaves little doubt; what the class calls its cause may still have an equivalent."""
    return max(finding.confidence, MOST) if finding.exact else finding.confidence


def status_of(finding: Finding) -> Status:
    """The word for it: only a broken exact invariant is confirmed without a trial."""
    return "confirmed" if finding.exact else word(finding.confidence)


def suspects(first: Finding, others: list[Finding]) -> tuple[Suspect, ...]:
    """What else was diagnosed, then what the leading check suspects beside it; each class once."""
    named: dict[str, Suspect] = {}
    for other in others:
        if other.kind is not None:
            named.setdefault(
                other.kind,
                Suspect(
                    kind=other.kind,
                    cause=other.kind.replace("_", "-"),
                    confidence=certainty(other),
                    status=status_of(other),
                ),
            )
    for kind in first.suspects:
        named.setdefault(kind, Suspect(kind=kind, cause=kind.replace("_", "-"), confidence=0.2, status="unknown"))
    named.pop(first.kind or "", None)
    return tuple(named.values())[:SUSPECTS]
