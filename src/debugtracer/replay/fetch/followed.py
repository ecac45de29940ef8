"""The guilty sample of a bad batch, fetched again in a child process and followed to the line that made it bad."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import msgspec
import torch

from debugtracer.callsites.frames import as_frame
from debugtracer.errors import ReplayRefused, guarded
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.child import READ, in_child
from debugtracer.replay.fetch.descent import Descent, Origin
from debugtracer.replay.fetch.expressions import MISSING
from debugtracer.replay.fetch.guards import guarded_line
from debugtracer.replay.fetch.kinds import OriginKind, kind_of
from debugtracer.replay.fetch.line_trace import LineTrace, TooLong
from debugtracer.replay.fetch.sample import (
    Pipeline,
    as_worker,
    forgotten,
    next_bad,
    pipeline_of,
    reseed,
    stream_to,
)
from debugtracer.replay.fetch.values import facts_of, is_bad, mask_of
from debugtracer.source.program import shown
from debugtracer.trace.pipeline_birth import PipelineBirth

SECONDS = 20.0  # that the child may take in all (ours)
DRAWS = 24  # fetches of a sample that comes out finite, with other random numbers (ours)
DRAW_S = 4.0  # seconds that they may take (ours)
PART = re.compile(r"batch\[(?:(\d+)|'([^']*)')\]$")


def followed(batch: Batch, path: str, rows: Sequence[int] | None) -> PipelineBirth | None:
    """Where the first bad row of a batch was made bad; with `refused` where it cannot be followed. None for a failure
    of ours."""
    guilty = batch.samples(rows or ())
    index = (guilty or batch.indices or (-1,))[0]
    try:
        if batch.indices is None:
            raise ReplayRefused(batch.note or "the dataset indices of the batch are not known")
        pipeline = pipeline_of(batch.loader)
        told = in_child(lambda: born(pipeline, batch, index, part_of(path), bool(guilty)), SECONDS)
        return told if isinstance(told, PipelineBirth) else None
    except ReplayRefused as error:
        return PipelineBirth(index=index, kind="unknown", refused=str(error))
    except OSError as error:  # no memory for a process
        return PipelineBirth(index=index, kind="unknown", refused=f"no process could be forked ({error.strerror})")


def part_of(path: str) -> int | str | None:
    """The part of a sample that a leaf of the batch is made of: `batch[0]` is the first of a tuple."""
    found = PART.match(path)
    return None if found is None else int(found[1]) if found[1] is not None else found[2]


def born(pipeline: Pipeline, batch: Batch, index: int, part: int | str | None, known: bool = True) -> PipelineBirth:
    """Fetch and follow; runs in the child. `known`: the sample is that of the bad row, not one of those it can be."""
    as_worker(pipeline, batch.number)
    READ.clear()
    with torch.no_grad():
        trace, sample, fetches = of_stream(pipeline, batch, index) if pipeline.streams else drawn(pipeline, index)
        if is_bad(sample):
            found = described(trace, index, part, fetches)
            return anew(pipeline, index, part) or found if found.kind == "stored" else found
        trace, indices = LineTrace(), batch.indices or ()
        samples = [sample if i == index else pipeline.sample(i) for i in indices]
        bad = tuple(i for i, one in zip(indices, samples, strict=True) if is_bad(one))
        if bad and not (known and batch.loader.keeps_order):
            return msgspec.structs.replace(described(drawn(pipeline, bad[0])[0], bad[0], part, 1), bad_samples=bad)
        if not bad and is_bad(traced(trace, lambda: pipeline.collated(samples))):
            return described(trace, index, part, 1)
        if not known:
            raise ReplayRefused(
                "fetched again all samples of the batch are finite: it depends on what was drawn before"
            )
        return by_chance(pipeline, index, part)


def anew(pipeline: Pipeline, index: int, part: int | str | None) -> PipelineBirth | None:
    """The same without what the dataset has kept of this sample since; None where it kept nothing, or that is all there
    is."""
    if pipeline.streams or not forgotten(pipeline.dataset, index):
        return None
    trace = LineTrace()
    try:
        return described(trace, index, part, 1) if is_bad(traced(trace, lambda: pipeline.sample(index))) else None
    except Exception:
        return None  # the dict was the store


def drawn(pipeline: Pipeline, index: int) -> tuple[LineTrace, Any, int]:
    """Fetch one sample of a dataset with indices."""
    trace = LineTrace()
    return trace, traced(trace, lambda: pipeline.sample(index)), 1


def of_stream(pipeline: Pipeline, batch: Batch, index: int) -> tuple[LineTrace, Any, int]:
    """Read a stream from its beginning to the sample."""
    trace, stream = LineTrace(), stream_to(pipeline, batch, index)
    return trace, traced(trace, lambda: next_bad(stream)), 1


def by_chance(pipeline: Pipeline, index: int, part: int | str | None) -> PipelineBirth:
    """Fetch a sample that came out finite with other random numbers, until it comes out bad. Raises ReplayRefused."""
    ends = perf_counter() + DRAW_S
    for count in range(2, DRAWS + 1):
        if perf_counter() > ends:
            break
        reseed(count)
        trace, sample, _ = drawn(pipeline, index)
        if is_bad(sample):
            return described(trace, index, part, count)
    raise ReplayRefused("fetched again the sample is finite: it depends on what was read or drawn before it")


def traced(trace: LineTrace, call: Callable[[], Any]) -> Any:
    """Run it under the trace. Raises ReplayRefused where it takes too long."""
    try:
        return trace.run(call)
    except TooLong:
        raise ReplayRefused(f"the sample takes too many lines to follow ({trace.lines})") from None


def described(trace: LineTrace, index: int, part: int | str | None, fetches: int) -> PipelineBirth:
    """What the trace shows, as plain values."""
    descent = Descent(trace, part)
    origin = descent.origin()
    file = READ[-1] if READ else ""
    if origin is None:
        if trace.visits:
            raise ReplayRefused("the line that made it cannot be told from the others")
        return PipelineBirth(index=index, kind="stored", record_clean=False, fetches=fetches, file=file)
    kind = kind_of(origin)
    way = tuple(dict.fromkeys(descent.way[::-1]))
    return PipelineBirth(
        index=index,
        kind=kind.kind,
        frame=line_of(origin),
        way=way,
        expression=shown(origin.node) if kind.kind != "unknown" or is_bad(origin.result) else "",
        inputs=inputs_of(origin, kind),
        output=facts_of("", origin.result, mask_of(origin.result)) if origin.result is not MISSING else None,
        record_clean=False if kind.kind == "stored" else None if kind.kind == "written" else True,
        divisor=kind.divisor_text,
        file=file,
        guard=guarded("fetch.guard")(guarded_line)(origin, kind) or "",
        fetches=fetches,
    )


def line_of(origin: Origin) -> Any:
    """The line of the expression itself, where the statement has several."""
    line = getattr(origin.node, "lineno", origin.executed.statement.line)
    first, last = origin.executed.statement.line, getattr(origin.executed.statement.node, "end_lineno", line)
    return as_frame(origin.executed.visit.code, line if first <= line <= last else first)


def inputs_of(origin: Origin, kind: OriginKind) -> Any:
    """Describe what the expression was given, with the values at the places where the result is bad."""
    mask = mask_of(origin.result) if origin.result is not MISSING else None
    return tuple(told for text, value in kind.operands[:4] if (told := facts_of(text, value, mask)) is not None)
