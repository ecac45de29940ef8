"""The first edit that fits the user's line, as a change with its file and line number."""

from __future__ import annotations

import linecache

from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence, base, plain_dtype
from debugtracer.causes.rewrite.rewritten import rewritten
from debugtracer.causes.rewrite.scope import optimizer_at
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Change

SPEAKS_AGAINST = {"zero-grad": "accumulated", "same-shape": "refused"}
"""Edits that are no cure where a finding has this number: several backwards belong to one update; the call was refused,
so the sizes differ too."""


def proposed(
    edits: tuple[str, ...], evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
) -> Change | None:
    """The line changed by the first of these edits that understands it; None when none does. The op of birth decides
    which call of the line is meant."""
    ops = ops_of(evidence)
    if in_library(frame.file):
        return None
    optimizer = optimizer_at(source_of(frame), frame.line)
    for edit in (edit for edit in edits if not spoken_against(edit, evidence)):
        for op in ops:
            after = rewritten(frame.code, edit, value, op=op, dtype=dtype_of(evidence, edit), optimizer=optimizer)
            if after is not None:
                return Change(file=frame.file, line=frame.line, before=frame.code, after=after, edit=edit)
    return None


def in_library(file: str) -> bool:
    """True for an installed package, where nobody edits."""
    return any(f"{mark}packages/" in file.replace("\\", "/") for mark in ("/site-", "/dist-"))


def spoken_against(edit: str, evidence: IncidentEvidence | FindingEvidence) -> bool:
    """Whether a finding shows that this edit is no cure here."""
    return isinstance(evidence, FindingEvidence) and any(
        finding.evidence.get(SPEAKS_AGAINST.get(edit, "")) for finding in evidence.loud
    )


def ops_of(evidence: IncidentEvidence | FindingEvidence) -> tuple[str, ...]:
    """The base names of the op that is meant, the one that ran first; ("",) where none is known."""
    names = (
        (evidence.birth.op, evidence.birth.inner_op)
        if isinstance(evidence, IncidentEvidence)
        else [finding.place.op for finding in evidence.loud]
    )
    return tuple(dict.fromkeys(base(name) for name in names if name)) or ("",)


def dtype_of(evidence: IncidentEvidence | FindingEvidence, edit: str) -> str:
    """The dtype that a bound must fit: that of the divisor for a division, of the parameters for an optimizer, else of
    the result."""
    if isinstance(evidence, FindingEvidence):
        return ""
    divisor = evidence.tensor(0 if "reciprocal" in evidence.ops else 1)
    if edit == "guard-divisor" and divisor is not None:
        return plain_dtype(divisor.dtype)
    known = evidence.facts.optimizer
    if edit == "larger-eps" and evidence.born("update") and known is not None:
        return next((d for d in map(plain_dtype, known.param_dtypes) if d == "float16"), "")
    return evidence.dtype


def source_of(frame: Frame) -> str:
    """The text of the user's file; "" when it is not there or is no longer what ran."""
    lines = linecache.getlines(frame.file)
    return "".join(lines) if frame.line <= len(lines) and lines[frame.line - 1].strip() == frame.code else ""
