"""Advice that the program follows already is no advice: a clip where it clips."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.file_line import file_line
from debugtracer.trace.verdict import Verdict

CLIPS = "clip_grad_norm_(params"  # how every remedy that adds a clip calls it


def without_done(verdict: Verdict, clip: ClipLimit | None) -> Verdict:
    """The verdict without advice to clip where the program clips; its limit is what can be changed."""
    if clip is None or not any(CLIPS in remedy for remedy in verdict.remedy):
        return verdict
    others = tuple(remedy for remedy in verdict.remedy if CLIPS not in remedy)
    change = verdict.change if verdict.change is None or verdict.change.edit != "clip-gradient" else None
    return msgspec.structs.replace(verdict, remedy=(*others, lower(clip)), change=change)


def lower(clip: ClipLimit) -> str:
    """Name the clip that is there."""
    at = f" at {file_line(clip.frame)}" if clip.frame is not None else ""
    return f"the clip{at} holds the norm at {clip.limit:g}: a lower limit makes such an update smaller"
