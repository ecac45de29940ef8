"""How the guilty sample was followed through the data pipeline, as rows of label and text."""

from __future__ import annotations

from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.views.view import Row
from debugtracer.views.words import pipeline_text, wording


def rows(born: PipelineBirth | None) -> list[Row]:
    """The fetch, what the line was given and gave, the lines to the batch, the file; none where the batch was good."""
    if born is None:
        return []
    told: list[Row] = [("fetch", pipeline_text.followed(born), "")]
    if born.refused:
        return told
    told += [("in" if i == 0 else "", wording.tensor(t, f"input {i}"), "") for i, t in enumerate(born.inputs[:4])]
    if born.output is not None and born.inputs:
        told.append(("out", wording.tensor(born.output, born.expression), ""))
    told += [("lines", pipeline_text.way(born), "")] if len(born.way) > 1 else []
    return told + ([("file", wording.path(born.file), "")] if born.file else [])
