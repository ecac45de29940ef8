"""A row that is finite and far from all others: fetched again beside rows of healthy batches, line by line, to the line
where it left their range."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.value_origin import argument_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.child import READ, in_child
from debugtracer.replay.fetch.expressions import MISSING, Names, operands, written_value
from debugtracer.replay.fetch.followed import SECONDS, traced
from debugtracer.replay.fetch.line_trace import RETURNED, Executed, LineTrace
from debugtracer.replay.fetch.sample import Pipeline, as_worker, pipeline_of
from debugtracer.replay.fetch.values import facts_of, largest, parts_of
from debugtracer.source.program import shown
from debugtracer.trace.number import number
from debugtracer.trace.pipeline_birth import PipelineBirth

FACTOR = 10.0  # times the largest of the neighbours (as data/range-extreme)
FEWEST = 3  # neighbours that must have passed the line (ours)
MOST = 4000  # lines of one fetch that are kept (ours)
HOPS = 40  # parts of expressions gone through (ours)
Place = tuple[CodeType, int]


@dataclass
class Profile:
    """How large each name was after each line of one fetch."""

    seen: list[tuple[Executed, str, float]] = field(default_factory=list)
    executed: dict[Place, Executed] = field(default_factory=dict)
    """The first time that a line was executed."""

    def take(self, executed: Executed, after: dict[str, Any]) -> None:
        """Take one statement and its names after it."""
        if len(self.seen) > MOST:
            return
        self.executed.setdefault((executed.visit.code, executed.statement.line), executed)
        for name, value in after.items():
            size = largest(value)
            if size is not None:
                self.seen.append((executed, name, size))

    def tops(self) -> dict[tuple[CodeType, str], float]:
        """The largest that each name of each function became."""
        found: dict[tuple[CodeType, str], float] = {}
        for executed, name, size in self.seen:
            key = (executed.visit.code, name)
            found[key] = max(size, found.get(key, 0.0))
        return found


def left_range(
    batch: Batch, index: int, healthy: Sequence[int], pipeline: Pipeline | None = None
) -> PipelineBirth | None:
    """The line after which this sample is FACTOR times as large as the healthy ones; with `refused` where it cannot be
    followed; None where no line of the user's is passed, or it stays in their range. `pipeline` where the loader may be
    gone."""
    try:
        known = pipeline or pipeline_of(batch.loader)
        if known.streams:
            raise ReplayRefused("rows of a stream have no neighbours to fetch")
        told = in_child(lambda: departed(known, batch, index, healthy), SECONDS)
        return told if isinstance(told, PipelineBirth) else None
    except ReplayRefused as error:
        return PipelineBirth(index=index, kind="unknown", refused=str(error))
    except OSError as error:
        return PipelineBirth(index=index, kind="unknown", refused=f"no process could be forked ({error.strerror})")


def departed(pipeline: Pipeline, batch: Batch, index: int, healthy: Sequence[int]) -> PipelineBirth | None:
    """Fetch all of them and compare; runs in the child."""
    as_worker(pipeline, batch.number)
    others = [profile_of(pipeline, one) for one in healthy]
    READ.clear()
    guilty = profile_of(pipeline, index)
    usual: dict[tuple[CodeType, str], float] = {}
    counted: dict[tuple[CodeType, str], int] = {}
    for other in others:
        for key, size in other.tops().items():
            usual[key] = max(size, usual.get(key, 0.0))
            counted[key] = counted.get(key, 0) + 1
    for executed, name, size in guilty.seen:
        key = (executed.visit.code, name)
        if counted.get(key, 0) >= FEWEST and size > FACTOR * usual[key] > 0:
            found = part_of(name, executed, others)
            found = (taken_part(name, *found), found[1]) if found is not None else None
            found = inside(*found, guilty) if found is not None else None
            return described(index, healthy, *found, size, usual[key]) if found is not None else None
    return None


def profile_of(pipeline: Pipeline, index: int) -> Profile:
    """Fetch one sample, and make a batch of it alone, under the trace."""
    profile = Profile()
    with torch.no_grad():
        sample = traced(LineTrace(watch=profile.take), lambda: pipeline.sample(index))
        with contextlib.suppress(Exception):
            traced(LineTrace(watch=profile.take), lambda: pipeline.collated([sample]))
    return profile


def part_of(name: str, executed: Executed, others: Sequence[Profile]) -> tuple[ast.expr, Executed] | None:
    """The part of a statement whose own parts are all in the range of what the others had there."""
    node = written_value(executed.statement.node, "" if name == RETURNED else name)
    visit = executed.visit
    if name in visit.arguments and visit.at is not None and not written_here(executed, name):
        node, executed = given(name, executed) or node, visit.at
    for _ in range(HOPS):
        if node is None:
            return None
        beside = [o.executed[place] for o in others if (place := place_of(executed)) in o.executed]
        wide = next((one for one in operands(node) if is_wide(one, executed, beside)), None)
        if wide is None:
            return node, executed
        node = wide
    return None


def taken_part(name: str, node: ast.expr, executed: Executed) -> ast.expr:
    """The part of an expression that a name gets, where a statement takes it apart: `x[1]` of `a, b = x`."""
    statement = executed.statement.node
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    names = [ast.unparse(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
    if name not in names or isinstance(node, ast.Tuple) or not isinstance(statement, ast.Assign):
        return node
    whole = ast.unparse(node) == ast.unparse(statement.value)
    place = ast.Constant(names.index(name))
    return ast.copy_location(ast.Subscript(node, place, ast.Load()), node) if whole else node


def inside(node: ast.expr, executed: Executed, guilty: Profile) -> tuple[ast.expr, Executed]:
    """Follow functions that only this sample went through: a call to what it returns, a name to what was written."""
    for _ in range(HOPS):
        word = final_name(node.func) if isinstance(node, ast.Call) else ""
        name = node.id if isinstance(node, ast.Name) else ""
        returned = [e for e, n, _ in guilty.seen if n == RETURNED and e.visit.at is executed]
        wrote = [
            e
            for e, n, _ in guilty.seen
            if name and n == name and e.visit is executed.visit and e.order < executed.order and written_here(e, name)
        ]
        further = [e for e in returned if e.visit.code.co_name == word] or wrote
        if not further:
            break
        following = written_value(further[-1].statement.node, name)
        if following is None:
            break
        node, executed = following, further[-1]
    return node, executed


def written_here(executed: Executed, name: str) -> bool:
    """Whether a statement assigns the name."""
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for n in ast.walk(executed.statement.node)
    )


def given(name: str, executed: Executed) -> ast.expr | None:
    """What the caller's statement passes for a parameter."""
    visit = executed.visit
    if visit.at is None:
        return None
    names = list(visit.code.co_varnames[: visit.code.co_argcount])
    place = names.index(name) - (names[:1] == ["self"]) if name in names else -1
    calls = [n for n in ast.walk(visit.at.statement.node) if isinstance(n, ast.Call)]
    found = [v for c in calls if final_name(c.func) == visit.code.co_name and (v := argument_of(c, name, place))]
    return found[0] if len(found) == 1 else None


def place_of(executed: Executed) -> Place:
    """The function and line of a statement."""
    return executed.visit.code, executed.statement.line


def value_at(node: ast.expr, executed: Executed) -> float | None:
    """The largest magnitude of an expression at a statement."""
    value = Names(executed.visit.scope, executed.before).value(node)
    return None if value is MISSING else largest(value)


def is_wide(node: ast.expr, executed: Executed, beside: Sequence[Executed]) -> bool:
    """Whether a part of a statement is already beyond the range of what the others had there."""
    size = value_at(node, executed)
    rest = [s for one in beside if (s := value_at(node, one)) is not None]
    return size is not None and len(rest) >= FEWEST and size > FACTOR * max(rest) > 0


def described(
    index: int, healthy: Sequence[int], node: ast.expr, executed: Executed, size: float, usual: float
) -> PipelineBirth:
    """What was found, as plain values. A part that only takes a value from the store is none of a line's doing."""
    names = Names(executed.visit.scope, executed.before)
    parts = [(ast.unparse(one), names.value(one)) for one in operands(node)]
    floats = [v for _, v in parts if v is not MISSING and any(not isinstance(p, (bool, int)) for p in parts_of(v))]
    stored = isinstance(node, (ast.Attribute, ast.Subscript)) or (isinstance(node, (ast.Call, ast.Name)) and not floats)
    facts = [facts_of(text, value) for text, value in parts if value is not MISSING]
    result = names.value(node)
    return PipelineBirth(
        index=index,
        kind="stored" if stored else "range",
        frame=as_frame(executed.visit.code, executed.statement.line),
        expression=shown(node),
        inputs=() if stored else tuple(f for f in facts if f is not None)[:4],
        output=facts_of("", result) if result is not MISSING and not stored else None,
        record_clean=not stored,
        file=READ[-1] if READ else "",
        neighbours=tuple(healthy),
        value=number(size),
        usual=number(usual),
    )
