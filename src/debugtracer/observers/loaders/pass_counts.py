"""Reads what the loops over loaders count: whether a pass begins at 0, and whether counts are divided by its rows."""

from __future__ import annotations

import ast
import sys
import weakref
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.pass_tallies import PassTally, loop_at, pass_tallies
from debugtracer.callsites.program_stack import program_stack
from debugtracer.observers.checkpoint.best_values import scalar
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.pass_count import PassCount

LOOPS = 32  # of a program (ours)
PASSES = 3  # of a loop that are looked at (ours)
OFF = 0.02  # of the rows: a smaller difference of the divisor says little (ours)
PERCENT = 100.0


@dataclass
class PassLoop:
    """One loop of the program."""

    program: Program
    node: ast.For | None
    tallies: list[PassTally]
    loader: weakref.ref[Any]
    step: int
    """Of its first pass."""
    passes: int = 0
    zero: set[str] = field(default_factory=set)
    """Counts that its first pass began at 0, or without."""

    def frame(self, node: ast.AST) -> Frame:
        """The line of a node."""
        return at_line(self.program, getattr(node, "lineno", 1))


class PassCountsObserver(Observer):
    """Reads the source of each loop once, and variables of its function where its first passes begin and at their
    second batch."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loops: dict[tuple[CodeType, int], PassLoop] = {}
        self.asked: tuple[LoaderInfo, PassLoop, CodeType, int] | None = None
        """The pass whose second batch is awaited, with the number of the next backward when it began."""

    def install(self) -> None:
        """Wait for a pass that has something to see."""
        self.run.unsubscribe(self.fetched)

    def reset(self) -> None:
        self.loops.clear()
        self.asked = None

    def missed(self) -> None:
        """Forget a pass whose batches may not have been seen."""
        self.asked = None

    @always
    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Look at the counts of the loop that begins."""
        frame, loader = next(program_stack(sys._getframe(1)), None), info.loader()
        if frame is None or loader is None:
            return
        key = frame.f_code, frame.f_lineno
        loop = self.loops.get(key)
        if loop is None:
            loop = self.read(frame, loader) if len(self.loops) < LOOPS else None
            if loop is None:
                return
            self.loops[key] = loop
        if not loop.tallies or loop.passes >= PASSES:
            return
        names = ChainMap(locals_of(frame), frame.f_globals)
        if not loop.passes:
            loop.zero = {one.name for one in loop.tallies if not left_in(names, one)}
        elif loop.loader() is loader and self.run.step > loop.step:
            self.tell_kept(loop, names)
        loop.passes += 1
        if any(one.kind in ("shared", "last") for one in loop.tallies):
            self.asked = info, loop, frame.f_code, self.run.iteration
            self.run.subscribe(self.fetched)

    def read(self, frame: FrameType, loader: Any) -> PassLoop | None:
        """Find the loop of a frame in its source; one without counts is remembered too."""
        program = program_of(frame.f_code.co_filename)
        loop = loop_at(program, frame.f_lineno) if program is not None else None
        if program is None:
            return None
        found = list(pass_tallies(program, loop)) if loop is not None else []
        return PassLoop(program, loop, found, weakref.ref(loader), self.run.step)

    def tell_kept(self, loop: PassLoop, names: Mapping[str, Any]) -> None:
        """Emit counts that begin with what is left of a pass before, in which another model was at work."""
        for one in loop.tallies:
            value = left_in(names, one) if one.name in loop.zero else 0.0
            if one.kind == "meter" and torch.is_grad_enabled():
                continue  # a mean of all of training may be meant
            if value and not (one.mean and torch.is_grad_enabled()):
                self.emit(loop, one, value=value)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at the counts of the first batch of an evaluation, where the second one is fetched."""
        if self.asked is None:
            return self.run.unsubscribe(self.fetched)
        info, loop, code, iteration = self.asked
        if batch.loader is not info or batch.number == 0:
            return
        self.asked = None
        self.run.unsubscribe(self.fetched)
        frame = next((one for one in program_stack(sys._getframe(1)) if one.f_code is code), None)
        if frame is None or self.run.iteration != iteration:
            return
        loader, names = info.loader(), locals_of(frame)
        rows, batches = rows_given(loader)
        if rows is None:
            return
        for one in loop.tallies:
            sizes = [held.numel() for side in one.sides if isinstance(held := names.get(side), Tensor)]
            whole = bool(sizes) and max(sizes) == getattr(loader, "batch_size", None)
            if one.kind == "last" and batches > 1 and whole:
                self.emit(loop, one, rows=rows, batches=batches)
            elif one.kind == "shared" and one.divisor is not None and whole:
                by = divisor_in(one.divisor, names, frame)
                if by is not None and all(abs(by * times / rows - 1) > OFF for times in (1.0, PERCENT)):
                    self.emit(loop, one, value=by, rows=rows, batches=batches)

    def emit(self, loop: PassLoop, one: PassTally, value: float = 0.0, rows: int = 0, batches: int = 0) -> None:
        """Emit what was seen of a count, and look at it no more."""
        loop.tallies = [other for other in loop.tallies if other is not one]
        begun = loop.node if one.kind == "meter" else one.begun
        self.run.emit(
            PassCount(
                ref=self.run.ref("load", self.run.state.iteration_in_flight), kind=one.kind, name=one.name,
                use=ast.unparse(one.use), value=value, rows=rows, batches=batches, passes=loop.passes,
                steps=self.run.step - loop.step, mean=one.mean,
                begun=loop.frame(begun) if begun is not None else None, frame=loop.frame(one.write),
                used=loop.frame(one.use),
            )
        )  # fmt: skip


def left_in(names: Mapping[str, Any], one: PassTally) -> float:
    """What a count, or an object that can be reset, holds before a pass: the number of its updates, rows or sum."""
    if one.kind == "kept":
        return number_in(names, one.name) or 0.0
    if one.kind == "listed":
        return float(len(held)) if type(held := names.get(one.name)) is list else 0.0
    held = held_by(names, one.name) if one.kind == "meter" else None
    if not callable(getattr(type(held), "reset", None)):
        return 0.0
    numbers = (
        [value for value in vars(held).values() if type(value) in (int, float)] if hasattr(held, "__dict__") else []
    )
    return max(map(float, numbers), default=0.0)


def number_in(names: Mapping[str, Any], name: str) -> float | None:
    """The value of a variable, or of an attribute that an object holds itself; None where it is no number."""
    held = held_by(names, name)
    return scalar(held) if held is not None and not isinstance(held, (bool, str)) else None


def held_by(names: Mapping[str, Any], name: str) -> Any:
    """The object behind a variable, or behind an attribute that an object holds itself."""
    head, _, rest = name.partition(".")
    held = names.get(head)
    return getattr(held, "__dict__", {}).get(rest) if rest else held


def rows_given(loader: Any) -> tuple[int | None, int]:
    """The rows and the batches of one pass over a loader; None where they are not known, or other ranks have some."""
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        return None, 0
    if type(loader) is not DataLoader or isinstance(loader.dataset, IterableDataset) or loader.batch_size is None:
        return None, 0
    if type(loader.batch_sampler) is not BatchSampler or isinstance(loader.sampler, DistributedSampler):
        return None, 0
    rows, size = len(loader.sampler), loader.batch_size  # type: ignore[arg-type]  # those of torch have a length
    whole = rows - rows % size if loader.drop_last else rows
    return whole or None, -(-whole // size)


def divisor_in(node: ast.expr, names: dict[str, Any], frame: FrameType) -> float | None:
    """The value of what a count is divided by: `len(loader.dataset)`, a number, a product of them. None where the loop
    writes it, or where it is computed."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = [divisor_in(one, names, frame) for one in (node.left, node.right)]
        return sides[0] * sides[1] if sides[0] is not None and sides[1] is not None else None
    if isinstance(node, (ast.Name, ast.Attribute)):
        return scalar(held) if type(held := value_in(node, names, frame)) in (int, float) else None
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, (int, float)) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        held = value_in(node.args[0], names, frame)
        return float(len(held)) if hasattr(held, "__len__") else None
    return None


def value_in(node: ast.expr, names: dict[str, Any], frame: FrameType) -> Any:
    """The object behind a name, or behind attributes that objects hold themselves."""
    if isinstance(node, ast.Name):
        return names[node.id] if node.id in names else frame.f_globals.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(value_in(node.value, names, frame), "__dict__", {}).get(node.attr)
    return None
