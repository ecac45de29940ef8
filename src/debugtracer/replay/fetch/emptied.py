"""A sample of which the model gets nothing (padding only, no entry at all): fetched again beside samples of which
something is left, line by line, to the line that left nothing of it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.handed_on import READS, carrier
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.child import in_child
from debugtracer.replay.fetch.descent import named_part
from debugtracer.replay.fetch.expressions import Names, written_value
from debugtracer.replay.fetch.followed import SECONDS, traced
from debugtracer.replay.fetch.line_trace import RETURNED, Executed, LineTrace
from debugtracer.replay.fetch.out_of_range import written_here
from debugtracer.replay.fetch.sample import Pipeline, as_worker, pipeline_of
from debugtracer.replay.fetch.statements import statement_at
from debugtracer.replay.fetch.values import BIG, array_of, plain, size_of
from debugtracer.source.program import shown
from debugtracer.trace.emptied_record import EmptiedRecord

FEWEST = 3  # samples that must have passed the line, none left empty by it (ours)
PARTS = 16  # of a tuple, list or dict that are looked at (ours)
MOST = 4000  # names after lines of one fetch that are kept (ours)
Key = tuple[CodeType, int, str]
Numbers = frozenset[float]
Part = int | str | None


@dataclass
class Contents:
    """What each name held after each line of one fetch: something, or nothing but these numbers."""

    fill: Numbers
    empty: list[tuple[Key, Executed, str, Part, str]] = field(default_factory=list)
    """In the order of the lines, with the name, the part of it and what it held in words."""
    held: dict[Key, bool] = field(default_factory=dict)
    """Whether a name held something each time."""

    def take(self, executed: Executed, after: dict[str, Any]) -> None:
        """Take one statement and its names after it."""
        for name, value in after.items():
            for path, part in parts(value):
                left = nothing(part, self.fill)
                key = (executed.visit.code, executed.statement.line, name if path is None else f"{name}[{path!r}]")
                if left is None or len(self.held) > MOST:
                    continue
                self.held[key] = self.held.get(key, True) and not left
                if left:
                    self.empty.append((key, executed, name, path, left))


def emptied(batch: Batch, index: int, others: Sequence[int], fill: Numbers) -> EmptiedRecord | None:
    """The line after which this sample holds nothing, or only the numbers of `fill`, and the others something; None
    where it came so from the store, where a stream is read, and where it cannot be followed."""
    try:
        pipeline = pipeline_of(batch.loader)
        if pipeline.streams or len(others) < FEWEST:
            return None
        told = in_child(lambda: compared(pipeline, batch, index, others, fill), SECONDS)
    except (ReplayRefused, OSError):
        return None
    return told if isinstance(told, EmptiedRecord) else None


def compared(
    pipeline: Pipeline, batch: Batch, index: int, others: Sequence[int], fill: Numbers
) -> EmptiedRecord | None:
    """Fetch all of them and compare; runs in the child."""
    as_worker(pipeline, batch.number)
    beside = [contents_of(pipeline, one, fill).held for one in others]
    guilty = contents_of(pipeline, index, fill)
    for key, executed, name, part, left in guilty.empty:
        known = [held[key] for held in beside if key in held]
        if len(known) < FEWEST or not all(known):
            continue
        executed, name = given_by(executed, name, fill)
        node = written_value(executed.statement.node, "" if name == RETURNED else name)
        node = (named_part(node, part) if node is not None and part is not None else None) or node
        if node is None or is_stored(node) or of_zero(node, executed):
            return None
        at, line = node, executed.statement.line
        if isinstance(node, ast.Name):  # filled on a line that this sample did not reach
            skipped = missed(executed.visit.code, node.id, guilty, beside)
            if skipped is None:
                continue
            at, line = skipped
        frame = as_frame(executed.visit.code, line)
        return EmptiedRecord(index=index, frame=frame, expression=shown(at), left=left, beside=len(known))
    return None


def given_by(executed: Executed, name: str, fill: Numbers) -> tuple[Executed, str]:
    """Where a name got its value: a parameter at the call, and what a function returns there too where it was given
    nothing."""
    while executed.visit.at is not None and not (name != RETURNED and written_here(executed, name)):
        given, read = executed.visit.arguments, executed.statement.names
        if name not in given and not any(nothing(given[one], fill) for one in read if one in given):
            break
        executed, name = executed.visit.at, RETURNED
    return executed, name


def missed(
    code: CodeType, name: str, guilty: Contents, beside: Sequence[dict[Key, bool]]
) -> tuple[ast.expr, int] | None:
    """The condition, and its line, that kept this sample from the line where the others fill a list; None where there
    is none."""
    lines = {line for held in beside for (at, line, one) in held if at is code and one == name}
    for line in sorted(line for line in lines if (code, line, name) not in guilty.held):
        statement = statement_at(code, line)
        above = statement.program.above(statement.node) if statement is not None else ()
        test = next((node for node in above if isinstance(node, ast.If)), None)
        if test is not None:
            return test.test, test.lineno
    return None


def contents_of(pipeline: Pipeline, index: int, fill: Numbers) -> Contents:
    """Fetch one sample, and make a batch of it alone, under the trace."""
    found = Contents(fill)
    with torch.no_grad():
        sample = traced(LineTrace(watch=found.take), lambda: pipeline.sample(index))
        with contextlib.suppress(Exception):
            traced(LineTrace(watch=found.take), lambda: pipeline.collated([sample]))
    return found


def is_stored(node: ast.expr) -> bool:
    """Whether an expression only takes what was there: an attribute, an item of one, what a file holds; a slice and a
    comprehension choose."""
    inner = carrier(node)
    chosen = any(isinstance(n, (ast.Slice, ast.ListComp, ast.GeneratorExp, ast.IfExp)) for n in ast.walk(node))
    reads = isinstance(inner, ast.Call) and final_name(inner.func) in READS
    return reads or (isinstance(inner, ast.Attribute) and not chosen)


def of_zero(node: ast.expr, executed: Executed) -> bool:
    """Whether an expression computes with a number that is 0 already: a length that the record holds."""
    names = Names(executed.visit.scope, executed.before)
    read = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))]
    return any(is_zero(names.value(one)) for one in read if isinstance(one.ctx, ast.Load))


def is_zero(value: Any) -> bool:
    """Whether a value is one number, and that 0; a flag is none."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool) and value == 0
    single = isinstance(value, torch.Tensor) or array_of(value) is not None
    if not single or getattr(value, "ndim", 1) != 0:
        return False
    number = plain(value)
    return number.dtype != torch.bool and bool(number == 0)


def parts(value: Any) -> Iterator[tuple[Part, Any]]:
    """Yield what can be empty: the value itself, or the parts of a tuple, a dict or a list of such."""
    own = value.items() if type(value) is dict else enumerate(value) if type(value) in (tuple, list) else ()
    items = list(own)[:PARTS]
    nested = [(key, part) for key, part in items if type(part) in (list, tuple) or holds(part) is not None]
    if nested and type(value) in (tuple, dict, list):
        yield from nested
    elif type(value) is not dict:
        yield None, value


def nothing(value: Any, fill: Numbers) -> str | None:
    """In words, where a list, a tensor or an array has no entry or only the numbers of `fill`; "" where it holds
    something, None for what is neither."""
    if isinstance(value, (list, tuple)):
        if not value:
            return f"an empty {type(value).__name__}"
        whole = all(type(one) in (int, bool) for one in value)
        return alike(set(map(float, value)), len(value), fill) if whole else ""
    tensor = holds(value)
    if tensor is None:
        return None
    if not tensor.numel():
        return "a tensor without an entry"
    if tensor.is_floating_point() or tensor.is_complex():
        return ""
    low, high = (float(one) for one in tensor.to(torch.int64).aminmax())
    return alike({low, high}, tensor.numel(), fill)


def alike(values: set[float], count: int, fill: Numbers) -> str:
    """Say so where these numbers are one number of `fill` only."""
    return f"{count} times {values.pop():g}" if len(values) == 1 and values <= fill else ""


def holds(value: Any) -> torch.Tensor | None:
    """A tensor or an array with dimensions as a tensor; None for anything else, and for what is too large to look
    at."""
    if not isinstance(value, torch.Tensor) and array_of(value) is None:
        return None
    if size_of(value) > BIG:
        return None
    tensor = plain(value)
    return tensor if tensor.dim() else None
