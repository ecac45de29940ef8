"""A verdict whose line is a guess is not confirmed, however certain its class is."""

from __future__ import annotations

import msgspec

from debugtracer.trace.calibration import calibrated
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.verdict import LIKELY, Verdict


def as_guess(facts: IncidentFacts, verdict: Verdict) -> Verdict:
    """The verdict, likely at most where it names a line that numpy warned of and that no name leads to. Pure."""
    first = facts.made[0] if facts.made_guessed and facts.made else None
    if first is None or (verdict.file, verdict.line) != (first.file, first.line) or verdict.status != "confirmed":
        return verdict
    told = (f"numpy warned of {first.file.rpartition('/')[2]}:{first.line}; that its value is this one is not shown",)
    return msgspec.structs.replace(
        verdict,
        status="likely",
        confidence=calibrated("likely", False, LIKELY, verdict.kind),
        evidence=(*verdict.evidence, *told),
    )
