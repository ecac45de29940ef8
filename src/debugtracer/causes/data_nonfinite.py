"""NaN or Inf was already in the batch."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.checks.data.nonfinite_input import NonfiniteInput
from debugtracer.source.risks import risk
from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.place import Place
from debugtracer.views.words.pipeline_text import DO, stored

STORED = ("stored", "written")
"""What a line of the data pipeline may have done with it: read it, or written it for a missing value."""
OWN = ("parameter", "buffer", "gradient", "state")  # inputs of a step that the program made itself in earlier steps


class DataNonfinite(Cause):
    """A sample holds NaN or Inf before the model sees it: missing cells, log of silence, a broken decoder."""

    kind: ClassVar[str] = "data_nonfinite"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = (
        "stable-op",
        "full-precision",
        "lower-lr",
        "fresh-moments",
        "older-weights",
    )
    supports: ClassVar[tuple[str, ...]] = ("numerics/nan-loss", "numerics/nonfinite-output")
    remedies: ClassVar[tuple[str, ...]] = (
        NonfiniteInput.remedies[0],
        "look at the rows: `debug-tracer report RUN --batch`",
        NonfiniteInput.remedies[1],
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A tensor that entered the step was bad and the program did not make it in an earlier step."""
        name = incident.birth.input_name or ""
        if incident.birth.kind != "input" or not name or name.startswith(OWN) or incident.carried_into_weights:
            return None
        of_batch = name.startswith("batch")
        born = incident.pipeline if of_batch else None
        if born is not None and born.kind not in STORED and born.expression:
            return None  # a line between the record and the batch made it
        # what a line reads from the store is better mended where the store is filled, if that is known
        filled = incident.facts.made[:1]
        here = born is not None and born.frame is not None and (born.kind != "stored" or filled in ((), (born.frame,)))
        tensor = incident.birth.output
        counts = f" ({tensor.nan} NaN, {tensor.posinf + tensor.neginf} Inf)" if tensor else ""
        remedies = (DO["half"], *self.remedies) if born is not None and born.kept_in_half else self.remedies
        guard = guards(filled[0]) if filled and not here else None
        record, written = (born.record, born.cell) if born is not None else (None, "")
        cell = f", and {file_line(record)} of the data holds it ({written})" if record is not None else ""
        place = Place(frame=born.frame) if here and born is not None else incident.made_place
        if record is not None:
            remedies = (f"mend {file_line(record)}, where {written}, or leave that line out", *remedies)
            guard, place = None, Place(frame=record)
        return Evidence(
            confidence=0.98 if of_batch else 0.75,
            because=(
                f"{name} holds non-finite values{counts} before the model sees it"
                f"{stored(born) if born is not None else ''}{'' if here else incident.made}{cell}"
            ),
            remedies=(guard, *remedies[1:]) if guard is not None else remedies,
            exact=of_batch,
            place=place,
        )


def guards(made: Frame) -> str | None:
    """What to do at a line of the preparation that divides, inverts or takes a function outside of its domain; None for
    any other."""
    did = risk(made.code)
    return f"at {file_line(made)}: {did}" if did is not None else None
