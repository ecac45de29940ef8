"""Findings as the real checks make them, for the tests of causes that hear them."""

from __future__ import annotations

import msgspec

from debugtracer.causes.cause import Evidence, causes
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.checks.check import checks
from debugtracer.testing import a_window
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding

FILE = "/home/someone/project/train.py"


def told(check: str, kind: str | None = None) -> Finding:
    """A loud finding of this check, as the check itself makes it; of another class where it can tell several."""
    return checks()[check].finding(a_window(loss=1.0), "warning", f"{check} speaks", kind=kind)


def guess(finding: Finding) -> Finding:
    """The same, unsure: so that what speaks for it and against it counts."""
    return msgspec.structs.replace(finding, exact=False, confidence=0.6)


def hears(cause: str, *findings: Finding) -> Evidence:
    """What this cause says of these findings, when it says something."""
    evidence = causes()[cause].evidence_from_findings(FindingEvidence(findings))
    assert evidence is not None
    return evidence


def is_silent(cause: str, *findings: Finding) -> bool:
    """True if this cause has nothing to say of them."""
    return causes()[cause].evidence_from_findings(FindingEvidence(findings)) is None


def change(cause: str, code: str, *findings: Finding) -> tuple[str, ...] | None:
    """What this line becomes."""
    made = causes()[cause].change(FindingEvidence(findings), Frame(FILE, 12, "main", code))
    return made.after if made is not None else None
