"""The finding that a run leads with, as its cause hears it: evidence for and against, and the change of the user's line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.causes.cause import Cause, causes
from debugtracer.causes.hearing import Hearing
from debugtracer.diagnosis.beside import honest
from debugtracer.errors import guarded
from debugtracer.trace.finding import Finding
from debugtracer.trace.lead import lead, ranked
from debugtracer.trace.verdict import Verdict


def heard(found: Sequence[Finding], tried: Sequence[Verdict]) -> tuple[str, Verdict] | None:
    """(check, verdict) of the finding a report leads with; None when no finding is a diagnosis. Pure: no IO, no torch, no host sync."""
    verdict = lead(found, tried)
    if verdict is None:
        return None
    first = ranked(found)[0]
    cause = cause_of(verdict)
    signs = guarded(f"cause {cause.slug}")(cause.heard)(Hearing(tuple(found))) if cause is not None else None
    if cause is None or signs is None:
        return first.check, verdict
    frame = first.place.frame
    change = cause.change(Hearing(tuple(found)), frame) if frame is not None and (frame.file, frame.line) == (verdict.file, verdict.line) else None
    confidence = verdict.confidence if first.exact or not signs.against else min(verdict.confidence, signs.confidence)
    told = msgspec.structs.replace(
        verdict,
        confidence=confidence,
        change=verdict.change or change,
        evidence=tuple(dict.fromkeys((*verdict.evidence, *signs.evidence))),
        against=tuple(dict.fromkeys((*verdict.against, *signs.against))),
    )
    return first.check, honest(told) if verdict.change is None else told


def cause_of(verdict: Verdict) -> Cause | None:
    """The cause of a verdict by its slug, else the first of its class."""
    known = causes()
    return known.get(verdict.cause or "") or next((c for c in known.values() if c.kind == verdict.kind), None)
