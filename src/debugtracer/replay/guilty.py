"""Which batch the bad value belongs to: the microbatch of its tape entry, the rows of that batch, their dataset
indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.replay.layout import time_first
from debugtracer.replay.replay_plan import ReplayPlan

Values = Mapping[tuple[int, int], list[Tensor]]


@dataclass
class GuiltyBatch:
    """The microbatch of a birth."""

    microbatch: int
    batch: Batch | None
    rows: int | None
    """Rows of the batch; None where time may lie in the first dimension."""
    leaves: list[tuple[str, Tensor]]
    """Inputs of the root when there is no loader."""


def guilty_batch(alarm: Alarm, plan: ReplayPlan, batches: BatchLog, entry: int | None, values: Values) -> GuiltyBatch:
    """The batch that the entries of the microbatch took their leaves from. `values` is what each (segment, entry) of
    the replay gave."""
    segment = plan.segments[-1]
    backwards = alarm.segment.backwards
    if entry is None:
        microbatch = alarm.microbatch
    else:
        microbatch = min(sum(b < entry for b in backwards), max(len(backwards) - 1, alarm.microbatch))
    low = backwards[microbatch - 1] if 0 < microbatch <= len(backwards) else -1
    high = backwards[microbatch] if microbatch < len(backwards) else len(segment.entries)
    members = [e for e in segment.entries if low < e.index <= high]
    microbatch_members = members
    if entry is not None:
        members = ancestors(members, segment.entries, entry) or members
    votes: Counter[int] = Counter()
    found: dict[int, Batch] = {}
    for leaf in (r for e in members for r in e.references() if isinstance(r, Leaf)):
        hit = batches.find(leaf.tensor)
        if hit is not None:
            votes[id(hit[0])] += 1
            found[id(hit[0])] = hit[0]
    batch = found[votes.most_common(1)[0][0]] if votes else None
    leaves = root_inputs(members, values) or root_inputs(microbatch_members, values)
    rows = (
        batch.rows
        if batch is not None and batch.rows is not None
        else next((t.shape[0] for _, t in leaves if t.dim()), None)
    )
    tensors = [t for _, t in (batch.tensors() if batch is not None else leaves)]
    drawn = len(batch.indices) if batch is not None and batch.indices is not None else None
    if time_first(tensors, drawn, [e.function for e in microbatch_members if e.kind == "module"]):
        rows = None
    return GuiltyBatch(microbatch, batch, rows, leaves)


def by_hand(alarm: Alarm, entry: int | None) -> bool:
    """True for an op between the last backward and the update: it writes gradients by hand, and the rows of what it
    works on are no samples."""
    backwards = alarm.segment.backwards
    late = entry is not None and bool(backwards) and entry > max(backwards)
    return late and alarm.symptom in {"inf_grad", "bad_update"}


def ancestors(members: list[Entry], entries: list[Entry], entry: int) -> list[Entry]:
    """The entries that the given one depends on, itself included."""
    wanted, todo = set(), [entry]
    while todo:
        index = todo.pop()
        if index in wanted or not 0 <= index < len(entries):
            continue
        wanted.add(index)
        todo.extend(r.entry for r in entries[index].references() if isinstance(r, Slot))
    return [e for e in entries if e.index in wanted]


def root_inputs(members: list[Entry], values: Values) -> list[tuple[str, Tensor]]:
    """The tensor inputs of the first module call, named by position; also those that the loop has computed."""
    first = next((e for e in members if e.kind == "module"), None)
    if first is None:
        return []
    given = [r.tensor if isinstance(r, Leaf) else made(r, values) for r in first.references()]
    return [(f"input[{n}]", t) for n, t in enumerate(given) if t is not None and not t.requires_grad]


def made(slot: Slot, values: Values) -> Tensor | None:
    """What the replay gave for a slot, if it ran its entry."""
    given = values.get((slot.segment, slot.entry), [])
    return given[slot.output] if slot.output < len(given) else None
