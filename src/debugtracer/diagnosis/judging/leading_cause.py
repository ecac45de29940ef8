"""The verdict of the leading finding's cause: evidence for and against, and the change of the user's line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.causes.cause import Cause, causes
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.diagnosis.proof.remedy_effects import honest
from debugtracer.errors import guarded
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead, ranked
from debugtracer.trace.verdict import Verdict


def heard(found: Sequence[Finding], tried: Sequence[Verdict]) -> tuple[str, Verdict] | None:
    """Return (check, verdict) of the leading finding; None when none is a diagnosis. Pure: no IO, no torch, no host
    sync."""
    verdict = lead(found, tried)
    if verdict is None:
        return None
    first = ranked(found)[0]
    cause = cause_of(verdict)
    evidence = (
        guarded(f"cause {cause.slug}")(cause.evidence_from_findings)(FindingEvidence(tuple(found)))
        if cause is not None
        else None
    )
    if cause is None or evidence is None:
        return first.check, verdict
    frame = first.place.frame
    change = (
        cause.change(FindingEvidence(tuple(found)), frame)
        if frame is not None and (frame.file, frame.line) == (verdict.file, verdict.line)
        else None
    )
    confidence = (
        verdict.confidence if first.exact or not evidence.against else min(verdict.confidence, evidence.confidence)
    )
    told = msgspec.structs.replace(
        verdict,
        confidence=confidence,
        change=verdict.change or change,
        evidence=tuple(dict.fromkeys((*verdict.evidence, *evidence.evidence))),
        against=tuple(dict.fromkeys((*verdict.against, *evidence.against))),
    )
    return first.check, honest(told) if verdict.change is None else told


def cause_of(verdict: Verdict) -> Cause | None:
    """The cause of a verdict by its slug, else the first of its class."""
    known = causes()
    return known.get(verdict.cause or "") or next((c for c in known.values() if c.kind == verdict.kind), None)
