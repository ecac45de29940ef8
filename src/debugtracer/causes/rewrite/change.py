"""The first edit that fits the user's line, as a change with its file and line number."""

from __future__ import annotations

import linecache

from debugtracer.causes.hearing import Hearing
from debugtracer.causes.reading import Reading, base, plain_dtype
from debugtracer.causes.rewrite.rewritten import rewritten
from debugtracer.causes.rewrite.scope import optimizer_at
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Change

SPEAKS_AGAINST = {"zero-grad": "accumulated", "same-shape": "refused"}
"""Edits that are no cure where a finding has this number: several backwards belong to one update; the call was refused, so the sizes differ too."""


def proposed(edits: tuple[str, ...], seen: Reading | Hearing, frame: Frame, value: float | None = None) -> Change | None:
    """The line changed by the first of these edits that understands it; None when none does. The op of birth tells which call of the line is meant."""
    ops = ops_of(seen)
    optimizer = optimizer_at(source_of(frame), frame.line)
    for edit in (edit for edit in edits if not spoken_against(edit, seen)):
        for op in ops:
            after = rewritten(frame.code, edit, value, op=op, dtype=dtype_of(seen, edit), optimizer=optimizer)
            if after is not None:
                return Change(file=frame.file, line=frame.line, before=frame.code, after=after, edit=edit)
    return None


def spoken_against(edit: str, seen: Reading | Hearing) -> bool:
    """Whether a finding tells that this edit is no cure here."""
    return isinstance(seen, Hearing) and any(finding.evidence.get(SPEAKS_AGAINST.get(edit, "")) for finding in seen.loud)


def ops_of(seen: Reading | Hearing) -> tuple[str, ...]:
    """Base names of the op that is meant, the one that ran first; ("",) where none is known."""
    names = (seen.birth.op, seen.birth.inner_op) if isinstance(seen, Reading) else [finding.place.op for finding in seen.loud]
    return tuple(dict.fromkeys(base(name) for name in names if name)) or ("",)


def dtype_of(seen: Reading | Hearing, edit: str) -> str:
    """The dtype that a bound must fit: that of the divisor for a division, of the parameters for an optimizer, else of the result."""
    if isinstance(seen, Hearing):
        return ""
    divisor = seen.tensor(0 if "reciprocal" in seen.ops else 1)
    if edit == "guard-divisor" and divisor is not None:
        return plain_dtype(divisor.dtype)
    known = seen.facts.optimizer
    if edit == "larger-eps" and seen.born("update") and known is not None:
        return next((d for d in map(plain_dtype, known.param_dtypes) if d == "float16"), "")
    return seen.dtype


def source_of(frame: Frame) -> str:
    """The text of the user's file; "" when it is not there or is no longer what ran."""
    lines = linecache.getlines(frame.file)
    return "".join(lines) if frame.line <= len(lines) and lines[frame.line - 1].strip() == frame.code else ""
