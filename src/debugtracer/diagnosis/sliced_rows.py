"""Which rows of the data a batch holds that the program cut from an order of its own (`order[k : k + size]`), in the
loop or in a generator that feeds it."""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from torch import Tensor

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, place_of
from debugtracer.callsites.line import user_frame
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.replay.fetch.values import array_of
from debugtracer.replay.lines_again import first_line
from debugtracer.replay.pure_expression import Impure, compute, held_in
from debugtracer.source.program import Program

MOST = 10_000_000  # numbers of an order that is looked at (ours)


def sliced_rows(rows: Sequence[int], size: int | None) -> tuple[int, ...] | None:
    """The numbers of these rows of a batch of `size` rows in the order of the data, where all running functions of the
    program cut one and the same part of that length from an order, in which each row of the data stands once; None
    where that is not so."""
    if not size or size < 2 or not rows or not 0 <= min(rows) <= max(rows) < size:
        return None
    found = {tuple(part) for frame in running() for part in cuts(frame, size)}
    if len(found) != 1:
        return None
    part = found.pop()
    return tuple(part[row] for row in rows)


def running() -> Iterator[FrameType]:
    """Yield the frames of the program on the stack, then those of its generators that wait for their next turn."""
    frame: FrameType | None = user_frame()
    while frame is not None:
        if place_of(frame.f_code) == USER:
            yield frame
        frame = frame.f_back
    for one in gc.get_objects():
        waits = type(one) is types.GeneratorType and not one.gi_running and one.gi_frame is not None
        if waits and place_of(one.gi_code) == USER:
            yield one.gi_frame


def cuts(frame: FrameType, size: int) -> Iterator[list[int]]:
    """Yield the parts of an order that the running function has cut from it, as long as the batch."""
    program = program_of(frame.f_code.co_filename)
    if program is None:
        return
    held = held_in({**frame.f_globals, **locals_of(frame)})
    for node in slices_of(program, frame):
        try:
            order = compute(node.value, held)
            bounds = compute(node.slice, held)
            part = numbers(order)[bounds]
        except Exception:  # what the program holds may do anything
            continue
        if len(part) == size and each_once(numbers(order)):
            yield [int(n) for n in part]


def slices_of(program: Program, frame: FrameType) -> Iterator[ast.Subscript]:
    """Yield the parts that the function of a frame cuts with two bounds or one."""
    code = frame.f_code
    module = code.co_name == "<module>"
    for node in program.nodes:
        inside = program.function(node)
        here = inside is None if module else inside is not None and first_line(inside) == code.co_firstlineno
        if here and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            yield node


def numbers(order: Any) -> list[int]:
    """An order as whole numbers. Raises Impure for anything else."""
    if isinstance(order, range) or (type(order) is list and all(type(n) is int for n in order[:MOST])):
        return list(order)
    whole = isinstance(order, Tensor) and not order.is_floating_point() and not order.is_complex()
    array = order if whole else array_of(order)
    if array is None or array.ndim != 1 or len(array) > MOST or (not whole and array.dtype.kind not in "iu"):
        raise Impure
    return [int(n) for n in array.tolist()]


def each_once(order: Sequence[int]) -> bool:
    """Whether no number comes twice and none is negative, as in an order of rows."""
    return len(set(order)) == len(order) and min(order, default=-1) >= 0
