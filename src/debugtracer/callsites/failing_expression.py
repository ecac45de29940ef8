"""The expression of the program that raised, found by its place in the bytecode, and what the names in it were. Nothing
of the program is executed."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from torch import Tensor, nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

LONGEST_TEXT = 60  # characters of a string that are shown (ours)
NO_VALUES = (ModuleType, FunctionType, MethodType, type, nn.Module)
MISSING = object()
PLAIN = (bool, int, float, complex, type(None))
COUNTED = (list, tuple, dict, set, frozenset)


@dataclass(frozen=True)
class FailingExpression:
    """An expression of the innermost function of the program; holds live objects, so it lives no longer than the look
    at it."""

    node: ast.AST
    program: Program
    values: dict[str, Any]
    """Globals and locals of that function, and of those around it in the same file where it is a comprehension."""
    frames: tuple[Frame, ...]
    """The lines of the program in the traceback, innermost first; the first is that of the expression."""
    is_asserted: bool = False
    """The exception is an AssertionError."""

    @property
    def is_deliberate(self) -> bool:
        """Whether the program raised by its own `raise` or `assert`."""
        above = self.program.parents.get(self.node)
        return isinstance(self.node, (ast.Raise, ast.Assert)) or (isinstance(above, ast.Assert) and self.is_asserted)

    @property
    def text(self) -> str:
        """The expression on one line, cut where it is long."""
        return self.program.shown(self.node)

    def given(self) -> Iterator[tuple[str, Any]]:
        """Yield the names, attributes and entries in it that have a value, each once; no functions, classes or
        modules."""
        told = set()
        for node in ast.walk(self.node):
            if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or self.is_called(node):
                continue
            found, value = known_value(node, self.values)
            name = ast.unparse(node)
            if found and name not in told and not isinstance(value, NO_VALUES) and not inspect.isbuiltin(value):
                told.add(name)
                yield name, value

    def is_called(self, node: ast.AST) -> bool:
        """Whether it is what a call calls."""
        above = self.program.parents.get(node)
        return isinstance(above, ast.Call) and above.func is node


def failing_expression(error: BaseException) -> FailingExpression | None:
    """What raised in the innermost function of the program; None where its source cannot be read."""
    walked = list(own_lines(error))[::-1]
    program = program_of(walked[0][0].f_code.co_filename) if walked else None
    if program is None:
        return None
    frame, line, instruction = walked[0]
    node = expression_at(program, frame.f_code, line, instruction)
    if node is None:
        return None
    around = [f for f, *_ in itertools.takewhile(lambda one: is_comprehension(one[0]), walked)]
    together = [f for f, *_ in walked[: len(around) + 1]]
    values = {name: value for f in together[::-1] for name, value in {**f.f_globals, **locals_of(f)}.items()}
    first = as_frame(frame.f_code, getattr(node, "lineno", line))
    lines = (first, *(as_frame(f.f_code, n) for f, n, _ in walked[1:]))
    return FailingExpression(node, program, values, lines, isinstance(error, AssertionError))


def own_lines(error: BaseException) -> Iterator[tuple[FrameType, int, int]]:
    """Yield the functions of the program in the traceback, outermost first, each with its line and instruction."""
    step = error.__traceback__
    while step is not None:
        if place_of(step.tb_frame.f_code) == USER:
            yield step.tb_frame, step.tb_lineno, step.tb_lasti
        step = step.tb_next


def is_comprehension(frame: FrameType) -> bool:
    """Whether this is the own function of a comprehension (Python up to 3.11)."""
    return frame.f_code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def expression_at(program: Program, code: CodeType, line: int, instruction: int) -> ast.AST | None:
    """The expression that an instruction belongs to. Of what is written to, and where the bytecode has no columns, the
    value of the statement."""
    place = position(code, instruction)
    nodes = [n for n in program.nodes if isinstance(n, (ast.expr, ast.stmt))]
    exact = [n for n in nodes if (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset) == place]
    if exact and not isinstance(getattr(exact[-1], "ctx", None), ast.Store):
        return exact[-1]
    around = [n for n in nodes if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    statement = program.statement(exact[-1]) if exact else next(reversed(around), None)
    value = getattr(statement, "value", None)
    if isinstance(value, ast.expr):
        return value
    return None if hasattr(statement, "body") else statement


def position(code: CodeType, instruction: int) -> tuple[int | None, ...] | None:
    """Where an instruction begins and ends in the text, its lines and columns; None before Python 3.11."""
    if sys.version_info < (3, 11) or instruction < 0:
        return None
    line, end_line, column, end_column = next(itertools.islice(code.co_positions(), instruction // 2, None))
    return line, end_line, column, end_column


def known_value(node: ast.AST, values: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether the value of a name, a plain attribute or an entry of a plain container is known, and the value. No code
    of the program runs."""
    if isinstance(node, ast.Name):
        return node.id in values, values.get(node.id)
    if isinstance(node, ast.Attribute):
        found, holder = known_value(node.value, values)
        value = inspect.getattr_static(holder, node.attr, MISSING) if found else MISSING
        known = value is not MISSING and not isinstance(value, (property, staticmethod, classmethod))
        return known, value if known else None
    if isinstance(node, ast.Subscript):
        found, holder = known_value(node.value, values)
        known, key = (
            (True, node.slice.value) if isinstance(node.slice, ast.Constant) else known_value(node.slice, values)
        )
        if not (found and known) or type(holder) not in (list, tuple, dict) or type(key) not in (int, str):
            return False, None
        there = key in holder if isinstance(holder, dict) else type(key) is int and -len(holder) <= key < len(holder)
        return there, holder[key] if there else None
    return False, None


def is_plain(value: Any) -> bool:
    """Whether a value is told itself: a number, a text, None."""
    return type(value) in (*PLAIN, str, bytes)


def in_words(value: Any) -> str:
    """What a value is: a plain one itself, of an array shape and dtype, of a container the length, else its class."""
    if type(value) in PLAIN:
        return repr(value)
    if is_plain(value):
        return repr(value) if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]!r}... ({len(value)} long)"
    if isinstance(value, Tensor) and value.is_nested:
        return "a nested tensor"
    if isinstance(value, Tensor) or type(value).__module__ == "numpy":
        shape, dtype = tuple(getattr(value, "shape", ())), str(getattr(value, "dtype", "")).removeprefix("torch.")
        return f"{shape} {dtype}" if shape or isinstance(value, Tensor) else f"{value!s} ({dtype})"
    if type(value) in COUNTED:
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
