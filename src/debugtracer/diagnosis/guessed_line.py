"""A verdict whose line is a guess is not confirmed, however certain its class is."""

from __future__ import annotations

import msgspec

from debugtracer.trace.calibration import calibrated
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.verdict import LIKELY, Verdict


def as_guess(facts: IncidentFacts, verdict: Verdict) -> Verdict:
    """The verdict, likely at most where it names a line that numpy warned of and that no name leads to, or the line
    where a bad value of no loader showed. Pure."""
    if verdict.status != "confirmed" or verdict.line is None:
        return verdict
    at = f"{(verdict.file or '').rpartition('/')[2]}:{verdict.line}"
    first = facts.made[0] if facts.made_guessed and facts.made else None
    if first is not None and (verdict.file, verdict.line) == (first.file, first.line):
        return likely(verdict, f"numpy warned of {at}; that its value is this one is not shown")
    if verdict.kind == "data_nonfinite" and is_unfollowed(facts):
        verdict = msgspec.structs.replace(
            verdict, summary=verdict.summary.replace(f"; edit {at}", f"; it showed at {at}")
        )
        return likely(verdict, f"the value showed at {at}; the line that made it was not found")
    return verdict


def is_unfollowed(facts: IncidentFacts) -> bool:
    """Whether a tensor that no loader gave came into the step bad, and no line is known that wrote it."""
    birth = facts.birth
    name = birth.input_name or "" if birth is not None and birth.kind == "input" else ""
    return bool(name) and not name.startswith("batch") and not facts.made and facts.pipeline is None


def likely(verdict: Verdict, told: str) -> Verdict:
    """The verdict as a likely one, with what is not shown."""
    return msgspec.structs.replace(
        verdict,
        status="likely",
        confidence=calibrated("likely", False, LIKELY, verdict.kind),
        evidence=(*verdict.evidence, told),
    )
