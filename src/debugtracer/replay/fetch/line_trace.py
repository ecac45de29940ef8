"""Runs a call with tracing on in the user's files: which line turned which name NaN or Inf, and which call of the
user's gave such a value back. For a process that is thrown away afterwards."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

from debugtracer.callsites.frames import USER, place_of
from debugtracer.replay.fetch.statements import Statement, statement_at
from debugtracer.replay.fetch.values import copied, is_bad

LINES = 400_000  # lines that are followed (ours)
SECONDS = 10.0  # of following (ours)
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Frames that belong to the statement they stand in."""
MISSING = object()
RETURNED = "return"
"""The name under which `watch` gets what a call returned."""


class TooLong(BaseException):
    """More lines or seconds than a fetch may take. Not an Exception: no `except` of the user's holds it."""


@dataclass(eq=False)
class Executed:
    """A statement while it runs: the values of its names before it, copied."""

    statement: Statement
    visit: Visit
    order: int
    before: dict[str, Any]
    bad: frozenset[str]


@dataclass(eq=False)
class Visit:
    """One call of a function of the user's."""

    code: CodeType
    scope: dict[str, Any]
    """The globals of its module."""
    parent: Visit | None
    at: Executed | None
    """The caller's statement that it was called from."""
    order: int
    arguments: dict[str, Any]
    bad_arguments: frozenset[str]
    current: Executed | None = None
    last: Executed | None = None
    """The statement that returned."""
    returned: Any = None
    returned_bad: bool = False


@dataclass(eq=False)
class Turn:
    """A statement after which a name holds NaN or Inf that it did not hold before."""

    name: str
    executed: Executed


@dataclass
class LineTrace:
    """What one call did; `watch` may take each statement with its names after it."""

    watch: Callable[[Executed, dict[str, Any]], None] | None = None
    turns: list[Turn] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    """Those that returned NaN or Inf, and those without a caller of the user's."""
    lines: int = 0
    _open: dict[int, tuple[FrameType, Visit]] = field(default_factory=dict)
    _order: int = 0
    _ends: float = 0.0

    def run(self, call: Callable[[], Any]) -> Any:
        """Call it with tracing on. What it raises goes on; TooLong where it takes too many lines or seconds."""
        self._ends = perf_counter() + SECONDS
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            return call()
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_name in INNER or code.co_name == "<module>" or place_of(code) != USER:
            return None
        if id(frame) not in self._open:  # else a generator goes on
            self._open[id(frame)] = (frame, self._visit(frame))
        return self._step

    def _visit(self, frame: FrameType) -> Visit:
        parent: Visit | None = None
        above = frame.f_back
        while above is not None and parent is None:
            known = self._open.get(id(above))
            parent = known[1] if known is not None and known[0] is above else None
            above = above.f_back
        given = inspect.getargvalues(frame)
        names = [*given.args, *filter(None, (given.varargs, given.keywords))]
        arguments = {name: given.locals[name] for name in names if name in given.locals}
        self._order += 1
        visit = Visit(
            frame.f_code,
            frame.f_globals,
            parent,
            parent.current if parent is not None else None,
            self._order,
            {name: copied(value) for name, value in arguments.items()},
            frozenset(name for name, value in arguments.items() if is_bad(value)),
        )
        if parent is None:
            self.visits.append(visit)
        return visit

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        visit = self._open[id(frame)][1]
        if event == "line":
            self.lines += 1
            if self.lines > LINES or perf_counter() > self._ends:
                raise TooLong
            statement = statement_at(frame.f_code, frame.f_lineno)
            if visit.current is None or statement is None or visit.current.statement.node is not statement.node:
                self._finish(frame, visit)
                visit.current = self._begin(frame, visit, statement) if statement is not None else None
            elif statement.one_line:  # the same statement once more: a loop of one line
                self._finish(frame, visit)
                visit.current = self._begin(frame, visit, statement)
        elif event == "return":
            visit.last = visit.current
            if self.watch is not None and visit.last is not None:
                self.watch(visit.last, {RETURNED: arg})
            self._finish(frame, visit)
            visit.returned, visit.returned_bad = arg, is_bad(arg)
            if visit.returned_bad and visit.parent is not None:
                self.visits.append(visit)
            if not frame.f_code.co_flags & inspect.CO_GENERATOR:
                del self._open[id(frame)]
        return self._step

    def _begin(self, frame: FrameType, visit: Visit, statement: Statement) -> Executed:
        self._order += 1
        held = values_of(frame, statement.names)
        return Executed(
            statement,
            visit,
            self._order,
            {name: copied(value) for name, value in held.items()},
            frozenset(name for name, value in held.items() if is_bad(value)),
        )

    def _finish(self, frame: FrameType, visit: Visit) -> None:
        executed, visit.current = visit.current, None
        if executed is None:
            return
        after = values_of(frame, executed.statement.names)
        for name, value in after.items():
            if name not in executed.bad and is_bad(value):
                self.turns.append(Turn(name, executed))
        if self.watch is not None:
            self.watch(executed, after)


def values_of(frame: FrameType, names: tuple[str, ...]) -> dict[str, Any]:
    """The values that these names have in a frame; attributes are read from plain objects alone, without calling
    anything."""
    held, code, found = frame.f_locals, frame.f_code, dict[str, Any]()
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for name in names:
        head, *rest = name.split(".")
        outer = MISSING if head in own else frame.f_globals.get(head, MISSING)  # a local that is not set yet
        value = held.get(head, outer)
        for attribute in rest:
            value = getattr(value, "__dict__", {}).get(attribute, MISSING) if value is not MISSING else MISSING
        if value is not MISSING and not inspect.ismodule(value):
            found[name] = value
    return found
