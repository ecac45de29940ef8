"""For a loss that stands out: what the loop did in its step and in none of the steps before, read from the tapes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import CodeType
from typing import Any

from debugtracer.diagnosis.loss_definition import calls_of_loss, name_of, redefined
from debugtracer.recorder.tape.entry import Entry
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

FEWEST = 8  # steps before that must be known (ours)
SHARE = 0.25  # of its size, by which a number must have changed (ours)
SUDDEN = 4.0  # times its largest change from step to step before (ours)
RISING = 8  # steps in a row in which a number that grows has grown (ours)
MOST_ENTRIES = 20_000  # calls of all tapes that are read (ours): some milliseconds
ARITHMETIC = ("add", "sub", "mul", "div", "truediv", "pow")
# calls whose whole numbers are factors or terms, and no sizes, places or dimensions
COUNTED = frozenset({"true_divide", "lerp", "lerp_", "fill_", "__setitem__"}).union(
    *((name, f"{name}_", f"__{name}__", f"__r{name}__", f"__i{name}__") for name in ARITHMETIC)
)
Line = tuple[CodeType, int]
Site = tuple[Line, str, object]


def loop_changes(step: int, tapes: Sequence[Segment], context: ReplayContext, rank: int) -> tuple[LoopChange, ...]:
    """What is new in the step, a write into weights before a number; nothing where its tape, or enough of those
    before, are not known."""
    now = next((tape for tape in tapes if tape.first_step == step), None)
    before = [tape for tape in tapes if now is not None and tape.number < now.number and not tape.rested]
    if now is None or now.rested or len(before) < FEWEST or sum(len(t.entries) for t in tapes) > MOST_ENTRIES:
        return ()
    ref = StepRef(iteration=now.first_iteration, step=step, rank=rank)
    others = (*moved(ref, now, before, context), *rewritten(ref, now, before, context))
    return (*written(ref, now, before, context), *others)


def rewritten(ref: StepRef, now: Segment, before: Sequence[Segment], context: ReplayContext) -> Iterator[LoopChange]:
    """What computes the loss otherwise, where it is no number."""
    found = redefined(now, before)
    frame = frame_of(found.entry.frames[0], context) if found is not None and found.entry.frames else None
    if found is not None and frame is not None:
        yield LoopChange(
            ref=ref, function=found.name, of_loss=True, what=found.what, steps=len(before), frame=frame,
        )  # fmt: skip


def written(ref: StepRef, now: Segment, before: Sequence[Segment], context: ReplayContext) -> Iterator[LoopChange]:
    """The writes into weights, grouped by the innermost line that no call of the steps before came through."""
    names = context.roots.named_parameters()
    known: set[Line] = {line for tape in before for entry in tape.entries for line in entry.frames or ()}
    known |= {line for tape in before for _, write in tape.own_writes.all() for line in write.frames or ()}
    found: dict[tuple[Line, str], list[str]] = {}
    for tensor, write in now.own_writes.all():
        line = next((line for line in write.frames or () if line not in known), None)
        if line is not None and id(tensor) in names:
            found.setdefault((line, write.function), []).append(names[id(tensor)])
    for (line, function), params in found.items():
        frame = frame_of(line, context)
        if frame is not None:
            called = "data = ..." if function == "__set__" else function
            yield LoopChange(ref=ref, function=called, params=tuple(params[:8]), steps=len(before), frame=frame)


def moved(ref: StepRef, now: Segment, before: Sequence[Segment], context: ReplayContext) -> Iterator[LoopChange]:
    """The number that moved furthest from what its call was given in each step before; one of the loss first."""
    past = [numbers(tape) for tape in before]
    weigh = {(entry.frames[0], name_of(entry)) for entry in calls_of_loss(now) if entry.kind == "fn" and entry.frames}
    found: list[tuple[bool, float, Site, float, float, bool]] = []
    for site, value in numbers(now).items():
        series = [seen[site] for seen in past if site in seen]
        sudden = is_sudden(value, series) if len(series) == len(past) else None
        if sudden is not None and (sudden or has_grown(value, series)):
            usual = statistics.median(series)
            of_loss = sudden and site[:2] in weigh
            found.append((of_loss, abs(value - usual) / max(abs(usual), 1e-12), site, usual, value, sudden))
    if not found:
        return
    of_loss, _, (line, function, _), usual, value, sudden = max(found, key=lambda one: one[:2])
    frame = frame_of(line, context)
    if frame is not None:
        yield LoopChange(
            ref=ref, function=function, before=number(usual), after=number(value), sudden=sudden,
            of_loss=of_loss, steps=len(past), frame=frame,
        )  # fmt: skip


def is_sudden(value: float, series: Sequence[float]) -> bool:
    """Whether a number has left what it was at once."""
    largest = max(abs(b - a) for a, b in pairwise(series))
    return abs(value - series[-1]) > max(SHARE * max(map(abs, series)), SUDDEN * largest)


def has_grown(value: float, series: Sequence[float]) -> bool:
    """Whether a number has left what it was by growing in each of the last steps."""
    usual = statistics.median(series)
    last = [abs(one) for one in (*series, value)][-RISING - 1 :]
    rises = all(a < b for a, b in pairwise(last))
    return rises and abs(value) > (1 + SHARE) * abs(usual) > 0


def numbers(tape: Segment) -> dict[Site, float]:
    """The first number that each call outside modules was given, by its line, its name and its place among the
    arguments."""
    found: dict[Site, float] = {}
    for entry in tape.entries:
        if entry.kind == "fn" and entry.frames:
            name = getattr(entry.function, "__name__", "")
            for place, value in given(entry, name):
                found.setdefault((entry.frames[0], name, place), value)
    return found


def given(entry: Entry, name: str) -> Iterator[tuple[object, float]]:
    """The finite numbers among the arguments of a call that are no sizes or places."""
    listed: list[tuple[object, Any]] = list(enumerate(entry.args))
    if name == "__setitem__":
        listed = listed[-1:]
    for place, value in (*listed, *entry.kwargs.items()):
        plain = type(value) is float or (type(value) is int and name in COUNTED)
        if plain and math.isfinite(value):
            yield place, float(value)


def frame_of(line: Line, context: ReplayContext) -> Frame | None:
    """A raw pair with its file and text; None where no file is known."""
    return next(iter(context.frames((line,))), None)
