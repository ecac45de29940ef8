"""Reads the values by which a loop of the program's own decides which of its weights are the best."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Literal, NamedTuple

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name, writes_of
from debugtracer.callsites.program_files import program_files, with_words
from debugtracer.observers.checkpoint.best_values import scalar
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.number import number

MOST = 64  # values of a comparison (ours)
FRAMES = 64  # of a stack that are looked at (ours)
OWN = 1000  # the number of the first comparison: those below are of libraries
KEEPING = ("save", "state_dict", "deepcopy")
WORDS = re.compile("|".join(KEEPING), re.IGNORECASE)
ORDERS: dict[type[ast.cmpop], Literal["min", "max"]] = {
    ast.Lt: "min", ast.LtE: "min", ast.Gt: "max", ast.GtE: "max",
}  # fmt: skip


class OwnComparison(NamedTuple):
    """One `if value > best:` that keeps weights and takes the value for the best."""

    value: ast.expr
    best: ast.expr
    mode: Literal["min", "max"]
    frame: Frame
    text: str
    begun: Frame | None
    """The line that sets the best value first."""


class OwnBestObserver(Observer):
    """Reads the source at the end of the first evaluation, and then one variable at the end of each."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: list[OwnComparison] | None = None
        self.counts: dict[int, int] = {}

    def install(self) -> None:
        """Listen to the ends of evaluations; no event of a step tells them."""
        self.run.on_evaluated(self.evaluated)

    def reset(self) -> None:
        self.known = None
        self.counts.clear()

    def evaluated(self) -> None:
        """Emit what each comparison was given, where its function is still at work."""
        if self.known is None:
            files = with_words(program_files() or [], WORDS)
            self.known = [one for file in files for one in comparisons(file)]
        for place, one in enumerate(self.known):
            count = self.counts.get(place, 0)
            value = value_of(one, one.value) if count < MOST else None
            if value is None:
                continue
            best = value_of(one, one.best)
            self.counts[place] = count + 1
            self.run.emit(
                BestKept(
                    ref=self.run.ref("update", self.run.state.iteration_in_flight), keeper=OWN + place, owner=one.text,
                    monitor=ast.unparse(one.value), mode=one.mode, count=count, value=number(value), frame=one.frame,
                    own=True, best=number(best) if best is not None else None, begun=one.begun,
                )
            )  # fmt: skip


def value_of(one: OwnComparison, side: ast.expr) -> float | None:
    """The number on a side of the last comparison, read in the function that compares, where that is on the stack."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(FRAMES):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_name == one.frame.function and code.co_filename == one.frame.file:
            return read(side, locals_of(frame))
        frame = frame.f_back
    return None


def read(value: ast.expr, names: dict[str, object]) -> float | None:
    """A variable, an attribute that an object holds itself, or an entry of a dict by its name."""
    held: object
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and isinstance(value.slice, ast.Constant):
        entries = names.get(value.value.id)
        held = entries.get(value.slice.value) if type(entries) is dict else None
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        held = getattr(names.get(value.value.id), "__dict__", {}).get(value.attr)
    else:
        held = names.get(value.id) if isinstance(value, ast.Name) else None
    return scalar(held) if held is not None and not isinstance(held, bool) else None


def comparisons(file: str) -> Iterator[OwnComparison]:
    """Yield the conditions of a file under which weights are kept and the best value is written. Reads source."""
    program = program_of(file)
    for node in program.nodes if program is not None else ():
        if program is None or not isinstance(node, ast.If):
            continue
        for test, branch, turned in branches(node):
            found = chosen(test, branch) if keeps(branch) else None
            if found is not None:
                value, best, mode = found
                if turned:
                    mode = "max" if mode == "min" else "min"
                scope = scope_at(program, node.lineno)
                use = Use(program, scope, node.test)
                begun = [
                    w.node for w in writes_of(scope or program.tree, ast.unparse(best)) if w.node.lineno < node.lineno
                ]
                yield OwnComparison(
                    value, best, mode, use.frame(node), ast.unparse(test), use.frame(begun[0]) if begun else None
                )


def branches(node: ast.If) -> Iterator[tuple[ast.Compare, list[ast.stmt], bool]]:
    """Yield each comparison of a condition with the statements that it leads to; whether it must be false for them."""
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    for test in tests:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in ORDERS:
            yield test, node.body, False
            if test is node.test:
                yield test, node.orelse, True


def chosen(test: ast.Compare, branch: list[ast.stmt]) -> tuple[ast.expr, ast.expr, Literal["min", "max"]] | None:
    """Which side is the value, for the other one is set to it, and which way it is better."""
    left, right, mode = test.left, test.comparators[0], ORDERS[type(test.ops[0])]
    for statement in branch:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        written = ast.unparse(statement.targets[0]), ast.unparse(statement.value)
        if written == (ast.unparse(right), ast.unparse(left)):
            return left, right, mode
        if written == (ast.unparse(left), ast.unparse(right)):
            return right, left, "max" if mode == "min" else "min"
    return None


def keeps(branch: list[ast.stmt]) -> bool:
    """Whether weights are saved or copied."""
    calls = [node for statement in branch for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(word in final_name(call.func).lower() for call in calls for word in KEEPING)
