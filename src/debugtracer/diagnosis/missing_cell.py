"""The cell of a table of the program that a NaN or Inf of a stored record can be, unless a line made it of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.callsites.nonfinite_cell import nonfinite_cell
from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.errors import guarded
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.pipeline_birth import PipelineBirth


def with_cell(
    pipeline: PipelineBirth | None, batch: Batch | None, made: Sequence[Frame], heard: Sequence[NumericWarning]
) -> PipelineBirth | None:
    """What became of a sample, with the line and the cell; as it is where the record was not stored so, or numpy warned
    of a line on the way: then that one made it."""
    if pipeline is None or pipeline.kind != "stored" or batch is None:
        return pipeline
    way = {(frame.file, frame.line) for frame in made}
    if any((one.frames[0].file, one.frames[0].line) in way for one in heard if one.frames):
        return pipeline
    found = guarded("diagnosis.missing_cell")(nonfinite_cell)(batch.loader.dataset_held())
    return pipeline if found is None else msgspec.structs.replace(pipeline, record=found[0], cell=found[1])
