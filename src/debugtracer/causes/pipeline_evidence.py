"""What a line of the data pipeline says of a cause: the sample was fetched again and the line was seen to make it."""

from __future__ import annotations

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.place import Place
from debugtracer.trace.verdict import Change
from debugtracer.views.words.pipeline_text import because, remedies

SURE, UNSURE = 0.97, 0.6  # an expression seen to turn finite inputs bad; one that is not understood (ours)
EDIT = "pipeline"
"""Name of the change of a line of the data pipeline."""


def of_pipeline(cause: Cause, facts: IncidentFacts) -> Evidence | None:
    """The evidence for a cause whose kind of birth was seen in the data pipeline; None for any other."""
    born = facts.pipeline
    if born is None or born.refused or born.frame is None or born.kind not in cause.pipeline_kinds:
        return None
    known = born.kind != "unknown"
    if not born.expression:
        return None  # the line is known, what it did is not
    return Evidence(
        confidence=SURE if known else UNSURE,
        because=because(born),
        remedies=remedies(born),
        exact=known and born.fetches == 1,
        seen=True,
        place=Place(frame=born.frame),
    )


def changed(born: PipelineBirth | None, file: str | None, line: int | None) -> Change | None:
    """The guard as a change of the user's line; None where the verdict names another line."""
    frame = born.frame if born is not None else None
    if born is None or frame is None or not born.guard or (frame.file, frame.line) != (file, line):
        return None
    return Change(file=frame.file, line=frame.line, before=frame.code, after=(born.guard,), edit=EDIT)
