"""For a loss that jumped because of its rows: the line of the data pipeline where a row left the range of healthy
ones."""

from __future__ import annotations

import msgspec

from debugtracer.callsites.origins.built_with import built_with
from debugtracer.callsites.origins.file_item import file_item
from debugtracer.callsites.origins.sample_origin import holder
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.causes.cause import causes
from debugtracer.errors import guarded
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.replay.fetch.out_of_range import left_range
from debugtracer.replay.fetch.sample import Pipeline
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Verdict
from debugtracer.views.words.pipeline_text import range_remedies

HEALTHY = 8  # rows of healthy batches that are fetched beside the guilty one (ours)
ROWS = ("data_hard_samples", "data_range_extreme", "data_label_noise")
CAUSE = "data-range-extreme"


@guarded("diagnosis.jump_rows")
def line_of_rows(
    verdict: Verdict | None, batch: Batch | None, batches: BatchLog, pipeline: Pipeline | None
) -> Verdict | None:
    """The verdict with the line where its first sample left the range of healthy ones, of a stored record the line that
    keeps it; as it was where no line of the user's did."""
    if verdict is None or batch is None or verdict.kind not in ROWS or not verdict.sample_index:
        return verdict
    healthy = batches.earlier(batch, HEALTHY, set(verdict.sample_index))
    born = left_range(batch, verdict.sample_index[0], healthy, pipeline) if len(healthy) > 2 else None
    if born is None or born.refused or born.frame is None:
        return verdict if born is None else msgspec.structs.replace(verdict, pipeline=born)
    frame = kept_at(born.frame, born.expression or "", batch.loader.frame) if born.kind == "stored" else born.frame
    if frame != born.frame:
        born = msgspec.structs.replace(born, way=(frame,))
    told = msgspec.structs.replace(verdict, pipeline=born, file=frame.file, line=frame.line)
    if born.kind != "range":
        return told
    cause = causes()[CAUSE]
    return msgspec.structs.replace(told, kind=cause.kind, cause=CAUSE, layer=cause.layer, remedy=range_remedies(born))


def kept_at(read: Frame, expression: str, built: Frame | None = None) -> Frame:
    """The line that made what this line reads from what the data set keeps (`self.y[i]`), or was built with by the
    loader made at `built`; the line itself where no other is known. Reads source."""
    links = built_with(origin(expression, [read]), built, holder)
    made = [link for link in links if link.kind != "handed"]
    found = next(
        (link for link in reversed(made) if (link.frame.file, link.frame.line) != (read.file, read.line)), None
    )
    if found is None:
        return read
    return file_item(links) or found.frame


def batch_of(trials: HistoryTrials, context: ReplayContext) -> Batch | None:
    """The batch of the step that jumped."""
    return next((hit[0] for leaf in trials.inputs() if (hit := context.batches.find(leaf.tensor)) is not None), None)
