"""Facts of an incident, put together from the alarm and what the replay found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.notebook_cells import edited
from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.nonfinite_origin import GuessedLines
from debugtracer.diagnosis.batch_setting import batch_setting
from debugtracer.diagnosis.constructed_weights import constructed_lines
from debugtracer.diagnosis.ignored_labels import all_ignored
from debugtracer.diagnosis.indexed_rows import indexed_rows
from debugtracer.diagnosis.missing_cell import with_cell
from debugtracer.diagnosis.sliced_rows import sliced_rows
from debugtracer.diagnosis.value_lines import cut_line, value_lines
from debugtracer.diagnosis.value_rows import value_rows
from debugtracer.diagnosis.weight_writes import weight_writes
from debugtracer.errors import guarded
from debugtracer.observers.scheduler.rate_lines import built_line
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.tape.entry import Entry, Slot
from debugtracer.recorder.tape.subsets import in_whole
from debugtracer.replay.fetch.followed import followed
from debugtracer.replay.fetch.joined_samples import joined_samples
from debugtracer.replay.fetch.samples_by_value import samples_by_value
from debugtracer.replay.investigation import Investigation
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.incident import IncidentFacts, OptimizerFacts
from debugtracer.trace.number import Number, number
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.step import Phase, StepRef

PHASES: dict[str, Phase] = {
    "nan_loss": "loss",
    "inf_grad": "backward",
    "bad_update": "update",
    "nan_output": "forward",
    "crash": "forward",
}


def gather(
    alarm: Alarm,
    result: Investigation,
    context: ReplayContext,
    *,
    built: Mapping[Any, Any],
    recent: dict[str, list[Number]],
    rank: int,
    world_size: int,
    told: Sequence[Fact] = (),
) -> IncidentFacts:
    """Collect all facts of one incident. Syncs the host."""
    guilty, birth = result.guilty, result.birth
    microbatch = guilty.microbatch if guilty is not None else alarm.microbatch
    iteration = (
        alarm.iteration if alarm.symptom != "inf_grad" or guilty is None else alarm.segment.first_iteration + microbatch
    )
    batch = guilty.batch if guilty is not None else None
    setting = guarded("diagnosis.gather: a setting")(batch_setting)(birth, batch)
    rows, held_in = rows_of(birth, batch) if setting is None else (None, "")  # all rows hold it: none is at fault
    whole = guarded("diagnosis.gather: below a Subset")(in_whole)(batch.loader, batch.indices or ()) if batch else None
    loader = context.batches.facts(batch, whole) if batch is not None else None
    samples = found_samples(alarm, result, rows, context) if setting is None else None
    pipeline = of_pipeline(birth, batch)
    ignored = all_ignored(batch) or ("", "")
    made = made_lines(alarm, result, context, ignored[0], pipeline)
    pipeline = with_cell(pipeline, batch, made, context.numeric_warnings)
    ref = StepRef(iteration=iteration, step=alarm.step, microbatch=microbatch, rank=rank, phase=PHASES[alarm.symptom])
    optimizer = optimizer_facts(alarm.optimizer or only(built), context, built)
    return IncidentFacts(
        ref=ref,
        symptom=alarm.symptom,
        loss=loss_number(alarm),
        grad_l2=number(alarm.grad_l2) if alarm.grad_l2 is not None else None,
        birth=birth,
        symptom_frame=symptom_frame(alarm, context),
        loader=loader,
        optimizer=optimizer,
        replay=result.replay,
        batch_rows=rows,
        held_in=held_in,
        sample_index=pipeline.bad_samples if pipeline is not None and pipeline.bad_samples else samples,
        bad_params=tuple(dict.fromkeys(result.bad_names)),
        recent=recent,
        rate=rate_of(told, optimizer),
        changed=next((fact for fact in told if isinstance(fact, ValueChanged)), None),
        written=weight_writes(alarm.segment, context),
        pipeline=pipeline,
        made=tuple(made) or warned_rate(told, context.numeric_warnings),
        made_guessed=isinstance(made, GuessedLines),
        setting=setting,
        ignored=ignored[1],
        cut=cut_line(batch, ignored[0]) if ignored[0] else None,
        world_size=world_size,
        label_smoothing=smoothing(alarm, birth.entry) if birth is not None else 0.0,
        note=note(alarm, result, world_size) or old_text(birth),
    )


def found_samples(
    alarm: Alarm, result: Investigation, rows: Sequence[int] | None, context: ReplayContext
) -> tuple[int, ...] | None:
    """The dataset indices of the guilty rows, by the batch, or by the index or order that the program cut it with."""
    guilty, birth = result.guilty, result.birth
    batch = guilty.batch if guilty is not None else None
    samples = samples_of(batch, rows) if batch is not None and rows else None
    if batch is not None and birth is not None and not rows:
        samples = guarded("diagnosis.gather: joined samples")(of_places)(batch, birth)
    if rows and batch is None and birth is not None and context.batches.last() is None:  # no loader to be meant
        samples = guarded("diagnosis.gather: rows of an index")(indexed_rows)(alarm.segment.entries, birth.entry, rows)
        cut_from = guarded("diagnosis.gather: rows of an order")(sliced_rows)
        samples = samples or cut_from(rows, guilty.rows if guilty is not None else None)
    return samples


def rows_of(birth: Birth | None, batch: Batch | None) -> tuple[tuple[int, ...] | None, str]:
    """The guilty rows, and the tensor of the batch that holds there the very number that the op was given, if one
    does."""
    rows = birth.rows if birth is not None else None
    held = guarded("diagnosis.gather: rows of a value")(value_rows)(birth, batch)
    if held is None or (rows and rows != held.rows):
        return rows, ""
    return held.rows, held.path


def made_lines(
    alarm: Alarm, result: Investigation, context: ReplayContext, ignored: str, pipeline: PipelineBirth | None
) -> tuple[Frame, ...]:
    """The lines that wrote the value it began with: of a weight that no update has touched yet those that made it."""
    birth, heard = result.birth, context.numeric_warnings
    batch = result.guilty.batch if result.guilty is not None else None
    name = birth.input_name or "" if birth is not None and birth.kind == "input" else ""
    built = constructed_lines(name, context.roots, heard) if alarm.step == 0 and alarm.iteration == 0 else ()
    return built or value_lines(birth, batch, ignored, pipeline, heard) or ()


def warned_rate(told: Sequence[Fact], heard: Sequence[NumericWarning]) -> tuple[Frame, ...]:
    """The line that made a rate NaN or Inf, where numpy has warned of it on the way to the line that wrote the rate."""
    moved = [fact for fact in told if isinstance(fact, RateMoved) and not math.isfinite(float(fact.now))]
    wrote = [frame for fact in moved for frame in (fact.scheduler_frame, fact.written) if frame is not None]
    places: set[tuple[str, int | str]] = {(frame.file, frame.line) for frame in wrote}
    places |= {(frame.file, frame.function) for frame in wrote if frame.function != "<module>"}
    over = [
        one
        for one in heard
        if any((frame.file, frame.line) in places or (frame.file, frame.function) in places for frame in one.frames)
    ]
    return over[-1].frames[:1] if over else ()


def rate_of(told: Sequence[Fact], optimizer: OptimizerFacts | None) -> RateMoved | None:
    """What was told of the rate that this optimizer uses now, where it has moved."""
    if optimizer is None:
        return None
    here = optimizer.frame, optimizer.lr
    return next((fact for fact in told if isinstance(fact, RateMoved) and (fact.frame, fact.now) == here), None)


@guarded("diagnosis.gather: samples of rows")
def samples_of(batch: Batch, rows: Sequence[int]) -> tuple[int, ...] | None:
    """The dataset indices of these rows; where the collate_fn may sort them only those that are proved."""
    return batch.samples(rows) or (None if batch.loader.keeps_order else samples_by_value(batch, rows))


def of_places(batch: Batch, birth: Birth) -> tuple[int, ...] | None:
    """The dataset indices behind the bad places of a value that has a row for each part of a sample (the edges of a
    graph) and not for each sample; None where all are bad."""
    shape = birth.output.shape if birth.output is not None else ()
    places = sorted({place[0] for place in birth.coordinates if place})
    if not shape or not places or len(places) == shape[0]:
        return None
    known = joined_samples(batch, shape[0])
    return tuple(dict.fromkeys(known[place] for place in places)) if known is not None else None


@guarded("diagnosis.gather: the sample again")
def of_pipeline(birth: Birth | None, batch: Batch | None) -> PipelineBirth | None:
    """Where the user's code made a row of the batch bad; None where the batch was good, or came from no loader."""
    if birth is None or batch is None or birth.kind != "input":
        return None
    name = birth.input_name or ""
    if not name.startswith("batch"):
        return None
    return followed(batch, name, birth.rows)


def loss_number(alarm: Alarm) -> Number | None:
    """The loss as JSON holds it."""
    if alarm.loss_value is not None:
        return number(alarm.loss_value)
    if alarm.loss is None or alarm.loss.numel() != 1:
        return None
    return number(float(alarm.loss.detach().item()))


def note(alarm: Alarm, result: Investigation, world_size: int) -> str:
    """What a reader must know about this replay."""
    if result.birth is None and not result.replay.reproduced and world_size > 1 and alarm.symptom == "inf_grad":
        return (
            "the gradients of this rank are finite when computed alone: the bad value came from another rank through "
            "the reduction"
        )
    return ""


def old_text(birth: Birth | None) -> str:
    """The line of birth stands in a cell of a notebook that has been edited since."""
    return edited(birth.frame.file) if birth is not None and birth.frame is not None else ""


def smoothing(alarm: Alarm, index: int | None) -> float:
    """The label smoothing of the recorded call in which the value was born; 0 for any other call."""
    entries = alarm.segment.entries
    if index is None or not 0 <= index < len(entries):
        return 0.0
    entry = entries[index]
    if entry.kind == "module":
        value = getattr(entry.function, "label_smoothing", 0.0)
    else:
        value = (
            entry.kwargs.get("label_smoothing", entry.args[7] if len(entry.args) > 7 else 0.0)
            if isinstance(entry.kwargs, dict)
            else 0.0
        )
        value = value if getattr(entry.function, "__name__", "") == "cross_entropy" else 0.0
    return float(value) if isinstance(value, (int, float)) else 0.0


def symptom_frame(alarm: Alarm, context: ReplayContext) -> Frame | None:
    """The user's line where the loss met the bad value; else the line of the call that raised the alarm."""
    slot = alarm.slot if alarm.symptom == "nan_loss" else None
    frames = context.frames(maker(alarm.segment.entries, slot).frames if slot is not None else alarm.frames)
    return frames[0] if frames else None


def maker(entries: list[Entry], slot: Slot) -> Entry:
    """The entry that computed the loss; steps back over divisions and sums of scalars (accumulation, a trainer's
    scaling)."""
    entry = entries[slot.entry]
    while entry.kind == "fn":
        made = [r for r in entry.references() if isinstance(r, Slot)]
        if len(made) != 1 or not scalar(entries[made[0].entry]):
            return entry
        entry = entries[made[0].entry]
    return entry


def scalar(entry: Entry) -> bool:
    """True when the outputs of the entry were scalars at recording."""
    return entry.scalar


def only(built: Mapping[Any, Any]) -> Optimizer | None:
    """The optimizer of a program that has one: a step that fails before its gate has named none."""
    known = list(built)
    return known[0] if len(known) == 1 and isinstance(known[0], Optimizer) else None


def optimizer_facts(
    optimizer: Optimizer | None, context: ReplayContext, built: Mapping[Any, Any]
) -> OptimizerFacts | None:
    """Describe the optimizer of the step, None without one."""
    if optimizer is None:
        return None
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    frames = context.frames(built.get(optimizer))
    dtypes = tuple(dict.fromkeys(str(p.dtype).removeprefix("torch.") for p in context.parameters(optimizer)))
    return OptimizerFacts(
        kind=type(optimizer).__name__,
        frame=frames[0] if frames else None,
        lr=(rate := plain(group.get("lr"))),
        lr_frame=built_line(optimizer, frames, rate) if isinstance(rate, float) else None,
        eps=plain(group.get("eps")),
        param_dtypes=dtypes,
        fused=bool(group.get("fused")),
    )


def plain(value: Any) -> Number | None:
    """A hyper-parameter as a number."""
    if isinstance(value, Tensor):
        value = float(value.item())
    return number(float(value)) if isinstance(value, (int, float)) else None
