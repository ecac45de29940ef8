"""The first batch of a loader with fewer rows than those before it, where the program dies of the difference: what its
lines expect, and which of them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.argument_origin import calls_on
from debugtracer.callsites.origins.nonfinite_origin import backwards
from debugtracer.callsites.origins.value_origin import Link, Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.errors import guarded
from debugtracer.observers.program.cut_windows import value_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import ShortBatchSeen

FRAMES = 5  # functions of the user's that are looked at, innermost first (ours)
NUMBERS = 64  # numbers of a message that are read (ours)
LEAST = 3  # rows that are usual; fewer are a number that stands in every message (ours)
DIMENSIONS = (
    "Dimension out of range",
    "0-d tensor",
    "zero-dimensional",
    "dimension specified as",
    "batch_size",
    "Size([])",
)
"""What torch says of a tensor that has lost one."""


@guarded("crash.short")
def short_last(
    error: BaseException, batch: Batch | None, before: list[Batch], evaluating: bool
) -> ShortBatchSeen | None:
    """What the short batch in flight met; None where it is as long as the others, or the exception is not about its
    length. `before` are the batches fetched lately."""
    rows, usual = batch.rows if batch is not None else None, usual_rows(batch, before)
    if batch is None or rows is None or usual is None or not 0 < rows < usual or usual < LEAST:
        return None
    walked = raising_frames(error)
    text = str(error)[:4000]
    numbers = {int(n) for n in re.findall(r"\d+", text)[:NUMBERS]}
    found = lost_dimension(walked) if rows == 1 and any(words in text for words in DIMENSIONS) else None
    if found is not None:
        return ShortBatchSeen(rows=rows, usual=usual, frame=found, squeezed=True, evaluating=evaluating)
    pair = is_pair(text, numbers, rows, usual)
    if not pair and not may_be_of(text, numbers, rows, usual):
        return None
    built = loader_calls(batch)
    fixed = fixed_line(
        walked if pair else walked[-1:], usual, names_in_calls(built), type(batch.loader.loader()).__name__
    )
    if not pair and (fixed is None or ("out of bounds" in text and not counts(fixed.code))):
        return None
    return ShortBatchSeen(rows=rows, usual=usual, frame=fixed, evaluating=evaluating)


def usual_rows(batch: Batch | None, before: list[Batch]) -> int | None:
    """The rows of all batches of this loader before this one, or those asked of it where this is the first; None where
    they differed."""
    if batch is None:
        return None
    same = {one.rows for one in before if one.loader is batch.loader and one is not batch}
    return (same.pop() if len(same) == 1 else None) if same else batch.loader.batch_size


def is_pair(text: str, numbers: set[int], rows: int, usual: int) -> bool:
    """Whether two lengths of an exception are the same multiple of both; of a product the one that comes in, rows that
    were flattened, and the one that the weights want: its other numbers are widths."""
    inner = re.search(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", text)
    if inner is not None:
        came, wanted = int(inner[1]), int(inner[2])
        return came * usual == wanted * rows and came % rows == 0
    return any(n % usual == 0 and n // usual * rows in numbers for n in numbers if n)


def may_be_of(text: str, numbers: set[int], rows: int, usual: int) -> bool:
    """Whether an exception can be about this difference, though it names one of the two lengths alone: a view of a
    fixed length, or an index that runs to it."""
    if "is invalid for input of size" in text:
        return any(n and n % usual == 0 for n in numbers) and fits(text, rows, usual)
    return f"index {rows} is out of bounds" in text and f"with size {rows}" in text


def fits(text: str, rows: int, usual: int) -> bool:
    """Whether the values of as many rows as usual have the shape that a view asks for: else other rows fail too."""
    asked = re.search(r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)", text)
    if asked is None or int(asked[2]) % rows:
        return False
    sizes, full = [int(n) for n in asked[1].split(",")], int(asked[2]) // rows * usual
    known = math.prod(n for n in sizes if n >= 0)
    return known > 0 and (full % known == 0 if -1 in sizes else full == known)


def counts(code: str) -> bool:
    """Whether a line runs to a number or draws below one: an index can come from it."""
    return re.search(r"\b(a?range|randint|randperm|choice|while)\b", code) is not None


def loader_calls(batch: Batch) -> list[ast.Call]:
    """The calls on the line that builds the loader."""
    frame = batch.loader.frame
    program = program_of(frame.file) if frame is not None else None
    return calls_on(program, frame.line) if program is not None and frame is not None else []


def names_in_calls(calls: list[ast.Call]) -> frozenset[str]:
    """The names in some calls: that of the batch size is among those of the loader."""
    return frozenset(
        final_name(n) for call in calls for n in ast.walk(call) if isinstance(n, (ast.Name, ast.Attribute))
    )


def fixed_line(
    walked: list[tuple[FrameType, int]], size: int, named: frozenset[str], loader: str = "DataLoader"
) -> Frame | None:
    """The line that uses the usual length: one that the values of the failing line come from, else the nearest one
    above it in its function; a name that the loader was built with before another one. Not one that builds a loader."""
    above: list[tuple[bool, Frame]] = []
    for frame, line in walked[::-1][:FRAMES]:
        for use, at, on_the_way in expressions(frame, line):
            names = names_of(use, frame, size) if not builds(use.program, at.lineno, loader) else frozenset[str]()
            if names and on_the_way:
                return use.frame(at)
            if names:
                above.append((bool(names & named), use.frame(at)))
    return next((use for known, use in above if known), above[0][1] if above else None)


def builds(program: Program, line: int, loader: str) -> bool:
    """Whether a line belongs to a call that builds a loader."""
    return any(final_name(call.func) in ("DataLoader", loader) for call in calls_on(program, line))


def expressions(frame: FrameType, line: int) -> Iterator[tuple[Use, ast.expr, bool]]:
    """Yield what the values of a line come from, nearest first, then what stands above it in its function; the last
    says which of the two."""
    program = program_of(frame.f_code.co_filename)
    if program is None:
        return
    scope = scope_at(program, line)
    inside = [n for n in ast.walk(scope or program.tree) if isinstance(n, ast.expr) and n.lineno <= line]
    here = [n for n in inside if n.lineno <= line <= (n.end_lineno or n.lineno)]
    start = [Link(as_frame(frame.f_code, line), "made", Use(program, scope, node)) for node in here]
    seen: set[int] = set()
    for link in backwards(start):
        if link.value is not None and id(link.value.node) not in seen:
            seen.add(id(link.value.node))
            yield link.value, link.value.node, True
    for node in sorted(inside, key=lambda n: -n.lineno):
        yield Use(program, scope, node), node, False


def names_of(use: Use, frame: FrameType, size: int) -> frozenset[str]:
    """The names in an expression whose value is this size; "" for the number itself."""
    values = values_for(use, frame)
    found = set[str]()
    for node in ast.walk(use.node):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == size:
            found.add("")
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            value = value_of(node, values)
            if type(value) is int and value == size:
                found.add(final_name(node))
    return frozenset(found)


def values_for(use: Use, frame: FrameType) -> Mapping[str, Any]:
    """The names that an expression can see: all of the frame in its own function, else the object whose method it is
    and what the file has."""
    own = locals_of(frame)
    if frame.f_code.co_filename != str(use.program.path):
        return {}
    if use.scope is not None and use.scope.name == frame.f_code.co_name:
        return {**frame.f_globals, **own}
    return {**frame.f_globals, **({"self": own["self"]} if "self" in own else {})}


def lost_dimension(walked: list[tuple[FrameType, int]]) -> Frame | None:
    """The line that takes away every dimension of length 1, and with a batch of one row the batch's own."""
    for frame, line in walked[::-1][:FRAMES]:
        for use, at, _ in expressions(frame, line):
            calls = (n for n in ast.walk(use.node) if isinstance(n, ast.Call))
            if any(final_name(c.func) == "squeeze" and takes_all(c) for c in calls):
                return use.frame(at)
    return None


def takes_all(call: ast.Call) -> bool:
    """Whether a call of squeeze names no dimension: `x.squeeze()`, `torch.squeeze(x)`."""
    of_module = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in ("torch", "np", "numpy")
    return not call.keywords and len(call.args) == (1 if of_module else 0)
