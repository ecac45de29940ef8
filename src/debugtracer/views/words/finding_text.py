"""The sentences of a verdict that comes from a finding: nothing became non-finite, a check has found what is wrong."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import ranked
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import Row
from debugtracer.views.words import pipeline_text, wording

SHOWN = 5  # further findings shown in one line each


def title(verdict: Verdict) -> str:
    """The first line: what it is, how sure, where in the run."""
    rank = f", rank {verdict.rank}" if verdict.rank else ""
    return f"debug-tracer: {(verdict.kind or '').replace('_', ' ')} ({verdict.status}) at step {verdict.step}{rank}"


def place(verdict: Verdict, first: Finding) -> Frame | None:
    """The frame of the verdict's line: that of the sample's way, where it was followed, or of the finding."""
    born = verdict.pipeline
    known = [] if born is None or born.value is None else [born.frame, *born.way]
    frames = [frame for frame in (*known, first.place.frame) if frame is not None]
    meant = (verdict.file, verdict.line)
    return next((frame for frame in frames if (frame.file, frame.line) == meant), frames[0] if frames else None)


def rows(verdict: Verdict, found: list[Finding]) -> list[Row]:
    """What was seen, where to edit, which sample."""
    first = ranked(found)[0]
    born = verdict.pipeline if verdict.pipeline is not None and verdict.pipeline.value is not None else None
    told: list[Row] = [("what", pipeline_text.out_of_range(born), "bold")] if born is not None else []
    told.append(("" if told else "what", first.message.split(": ", 1)[-1], "bold"))
    told.append(
        ("", f"{verdict.kind}, {verdict.status} (confidence {verdict.confidence:.2f}), found by {first.check}", "")
    )
    frame, symptom = place(verdict, first), first.place.symptom_frame
    if frame is not None:
        inside = f" in {frame.function}" if frame.function and frame.function != "<module>" else ""
        told.append(("where", f"{wording.at(frame.file, frame.line)}{inside}", "bold"))
        told += [("", f"    {frame.code}", "cyan")] if frame.code else []
    if symptom is not None and frame is not None and (symptom.file, symptom.line) != (frame.file, frame.line):
        told.append(("", f"it showed at {wording.at(symptom.file, symptom.line)}  {symptom.code}".rstrip(), "dim"))
    parts = [
        f"module {verdict.module or '(root)'}" if verdict.module is not None else "",
        f"parameter {verdict.param}" if verdict.param else "",
        verdict.op or "",
    ]
    if any(parts):
        told.append(("where" if frame is None else "", ", ".join(p for p in parts if p), ""))
    if verdict.sample_index:
        told.append(("sample", f"dataset index {wording.listed(verdict.sample_index)}", "bold"))
    return told
