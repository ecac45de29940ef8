"""From bad targets back to the first event among their ancestors, and the chain of ops between."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from debugtracer.replay.op_trace.classes import class_of, tensors
from debugtracer.replay.op_trace.kinds import masks_by_design, reported, short
from debugtracer.replay.op_trace.op_records import OpRecords
from debugtracer.replay.op_trace.rows import rows_of
from debugtracer.replay.op_trace.tensor_writes import CONST, EVENT, SOURCE, UNWRITTEN, OpRecord
from debugtracer.trace.birth import Birth, ChainLink, Frame
from debugtracer.trace.number import number

MOST_LINKS = 12
TAKES = frozenset({"sub", "rsub"})  # a part of a softmax written out, and of every squared error
ADDS = frozenset({"add", "where", "masked_fill"})  # what puts an additive mask upon scores


def find_birth(records: OpRecords, targets: Sequence[tuple[str, Any]], batch_rows: int | None = None) -> Birth | None:
    """The first op whose bad result reaches one of the targets; None if every target is finite. Call it while the
    step's tensors live; syncs the host.

    `targets` are (name, tensor or nested tensors); `batch_rows` is the size of the batch dimension, for
    `Birth.rows`."""
    ends = ends_of(records, targets)
    if not ends:
        return None
    towards = descendants(ends)
    found = [r for r in towards.values() if r[0].status == EVENT or (r[0].status == SOURCE and r[0].arithmetic)]
    if found:
        first = min((r for r, _ in found), key=lambda r: r.order)
    else:
        first = taken_for_number(towards) or let_through([r for r, _ in towards.values()])
    path = [first]
    while (after := towards[id(path[-1])][1]) is not None:
        path.append(after)
    same = [r for r, _ in found if same_place(r, first)] or [first]
    return as_birth(records, first, same, path, batch_rows)


def deliberate(records: OpRecords, targets: Sequence[tuple[str, Any]]) -> bool:
    """True if only infinities on purpose (a mask) reach the targets: no event is among their ancestors. Syncs the
    host."""
    return all(
        r.status != EVENT and not (r.status == SOURCE and r.arithmetic)
        for r, _ in descendants(ends_of(records, targets)).values()
    )


def ends_of(records: OpRecords, targets: Sequence[tuple[str, Any]]) -> list[OpRecord]:
    """The records of what is bad in the targets."""
    ends: dict[int, OpRecord] = {}
    for name, target in targets:
        for tensor in tensors(target):
            if not class_of(tensor):
                continue
            if not records.memory.name_of(tensor):
                records.memory.label(tensor, name)
            writers, _ = records.memory.writers(tensor)
            bad = [w for w in writers if w.bad]
            written = [w for w in bad if w.status != UNWRITTEN] or bad
            for record in written or [records.source(tensor, tensor)]:
                if record.status == SOURCE:
                    record.arithmetic = True
                ends.setdefault(id(record), record)
    return list(ends.values())


def descendants(ends: list[OpRecord]) -> dict[int, tuple[OpRecord, OpRecord | None]]:
    """Every bad ancestor of the ends, with the next record on a shortest way to an end."""
    towards: dict[int, tuple[OpRecord, OpRecord | None]] = {id(e): (e, None) for e in ends}
    queue = deque(ends)
    while queue:
        record = queue.popleft()
        for parent in record.parents:
            if id(parent) not in towards:
                towards[id(parent)] = (parent, record)
                queue.append(parent)
    return towards


def taken_for_number(towards: dict[int, tuple[OpRecord, OpRecord | None]]) -> OpRecord | None:
    """The tensor of the batch whose -inf reached the end as a number; None where its -inf says `leave this out`: the
    way leads through a softmax, or 0 and -inf are added to something."""
    for record, _ in towards.values():
        if record.status != SOURCE or not record.name.startswith("batch"):
            continue
        way, after = [], towards[id(record)][1]
        while after is not None:
            way.append(short(after.op))
            after = towards[id(after)][1]
        added = record.output is None or record.output.low == record.output.high
        if not any((masks_by_design(op) and op not in TAKES) or (added and op in ADDS) for op in way):
            return record
    return None


def let_through(records: list[OpRecord]) -> OpRecord:
    """Return the op that took a deliberate infinity for a number: the first that sums or picks, else the first of
    all."""
    ordered = sorted(records, key=lambda r: r.order)
    given = [r for r in ordered if r.number is not None]
    taken = given or [r for r in ordered if r.meta is not None and r.status == CONST and r.counts[2] == 1]
    made = [r for r in ordered if r.meta is not None]
    return (taken or made or ordered)[0]


def same_place(record: OpRecord, first: OpRecord) -> bool:
    """True for another event of the same line, op, module and entry: its rows are guilty as well."""
    a, b = record.meta, first.meta
    if a is None or b is None:
        return record is first
    return (
        record.op == first.op
        and (a.frames[:1], a.library) == (b.frames[:1], b.library)
        and (a.module, a.entry, a.direction) == (b.module, b.entry, b.direction)
    )


def as_birth(
    records: OpRecords, first: OpRecord, same: list[OpRecord], path: list[OpRecord], batch_rows: int | None
) -> Birth:
    """The record of birth as facts."""
    rows = rows_of(same, batch_rows, frozenset(records.parameter_shapes))
    chain = tuple(links(path))
    if first.meta is None:
        name = first.name or "a tensor made before the step"
        reader = path[1].meta if len(path) > 1 else None
        return Birth(
            op=None, direction="input", kind="input", input_name=name, output=first.output,
            coordinates=first.coordinates, chain=chain, rows=rows if name.startswith(("batch", "input ")) else None,
            frames=reader.frames if reader else (), module=reader.module if reader else None,
            entry=reader.entry if reader else None,
        )  # fmt: skip
    meta = first.meta
    backward = meta.direction == "backward"
    share = records.flushed_share if meta.direction != "forward" else None
    return Birth(
        op=reported((meta.forward_op or meta.op) if backward else meta.op), direction=meta.direction,
        kind=first.kind or "domain",  # type: ignore[arg-type]
        backward_op=meta.op if backward else None, inner_op=first.inner, module=meta.module, frames=meta.frames,
        library=meta.library, entry=meta.entry, output=first.output, inputs=first.inputs,
        coordinates=first.coordinates, rows=None if meta.direction == "update" else rows, chain=chain,
        number=None if first.number is None else number(first.number), param=first.param, flushed_share=share,
        infinity=written_infinity(first), group=first.group,
    )  # fmt: skip


def written_infinity(record: OpRecord) -> Frame | None:
    """The line that wrote the infinities which an op has read, where they were written on purpose in this step: of
    several the last."""
    roots, queue, seen = list[OpRecord](), list(record.parents), set[int]()
    while queue:
        one = queue.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.status == CONST and not one.parents:
            roots.append(one)
        queue += one.parents
    last = max(roots, key=lambda one: one.order, default=None)
    return last.meta.frames[0] if last is not None and last.meta is not None and last.meta.frames else None


def links(path: list[OpRecord]) -> list[ChainLink]:
    """The way from birth to target: first, last, and those where the line changes; at most MOST_LINKS."""
    steps = [r for r in path if r.meta is not None]
    kept = [r for n, r in enumerate(steps) if n in (0, len(steps) - 1) or line_of(r) != line_of(steps[n - 1])]
    if len(kept) > MOST_LINKS:
        kept = [*kept[: MOST_LINKS - 1], kept[-1]]
    return [link(r) for r in kept]


def line_of(record: OpRecord) -> Any:
    """What counts as one line of a chain."""
    meta = record.meta
    return (meta.direction, meta.frames[:1], meta.library) if meta is not None else None


def link(record: OpRecord) -> ChainLink:
    """Convert one record to a link of the chain."""
    meta = record.meta
    assert meta is not None
    frame = meta.library or (meta.frames[0] if meta.frames else None)
    nan, inf, numel = record.counts
    return ChainLink(
        op=meta.op,
        direction=meta.direction,
        module=meta.module,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        nan=nan,
        inf=inf,
        numel=numel,
    )
