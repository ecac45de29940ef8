"""One stripped source line as a syntax tree whose parts can be replaced without touching the rest of the text."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

from debugtracer.errors import DebugTracerError

NUMBERS = ("math", "np", "numpy")  # what these return is no tensor and never the op of birth


class NotUnderstood(DebugTracerError):
    """The line cannot be rewritten: it is part of a longer statement, lacks the call that is meant, or has several that
    differ."""


@dataclass(frozen=True)
class Line:
    """A statement on one line; the head of a compound one (`for x in loader:`) counts as one."""

    code: str
    statement: ast.stmt

    def text(self, node: ast.expr) -> str:
        """The source of a part."""
        return ast.get_source_segment(self.code, node) or ast.unparse(node)

    def chained(self, node: ast.expr) -> str:
        """The source of a part so that `.method()` can follow it."""
        text = self.text(node)
        if isinstance(node, ast.Constant):
            raise NotUnderstood(f"{text} is a number, not a tensor")
        return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"

    def calls(self, *words: str) -> list[ast.Call]:
        """The calls of functions and methods with these last names, an underscore at the end aside; not those of math
        and numpy."""
        found = [
            node for node in ast.walk(self.statement) if isinstance(node, ast.Call) and word(node).rstrip("_") in words
        ]
        return sorted((call for call in found if root(call.func) not in NUMBERS), key=lambda call: call.col_offset)

    def call(self, *words: str) -> ast.Call:
        """The only such call. Raises NotUnderstood when there is none or more than one."""
        found = self.calls(*words)
        if len(found) != 1:
            raise NotUnderstood(f"{len(found)} calls of {', '.join(words)}; expected one")
        return found[0]

    def replaced(self, parts: dict[ast.expr, str]) -> tuple[str, ...]:
        """The line with these parts in new words. Raises NotUnderstood when one holds another, or the result is no
        Python."""
        source = self.code.encode()
        spans = sorted(((n.col_offset, n.end_col_offset or 0, text) for n, text in parts.items()), reverse=True)
        if any(second[1] > first[0] for first, second in itertools.pairwise(spans)):
            raise NotUnderstood("one call lies inside the other")
        for begin, end, text in spans:
            source = source[:begin] + text.encode() + source[end:]
        code = source.decode()
        parsed(code)
        return (code,)


def parsed(code: str) -> Line:
    """The line as a statement. Raises NotUnderstood for part of a statement, several statements, nothing."""
    for rest in ("", "\n pass"):
        try:
            body = ast.parse(code + rest).body
        except (SyntaxError, ValueError):
            continue
        if len(body) == 1 and code == code.strip():
            return Line(code, body[0])
    raise NotUnderstood("it is not one whole statement")


def word(call: ast.Call) -> str:
    """The last name of what is called: `cross_entropy` for `F.cross_entropy(...)`."""
    return (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )


def root(node: ast.expr) -> str:
    """The first name of a dotted one: `torch` for `torch.nn.functional.relu`; empty for anything else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument, None if it is not given."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def is_number(node: ast.expr) -> bool:
    """True for a literal, also a negative one, or arithmetic of literals: an index, a dimension, an exponent."""
    return not any(isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(node))


def operand(call: ast.Call) -> ast.expr:
    """The tensor that a call is about: its first argument as a function, `x` of `x.f()` as a method, decided by what
    the first argument is."""
    named = keyword(call, "input")
    if named is not None:
        return named
    if call.args and not is_number(call.args[0]):
        return call.args[0]
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    raise NotUnderstood(f"{word(call)} has no argument")


def only(found: list[ast.expr], line: Line) -> list[ast.expr]:
    """Return these parts if they all read the same. Raises NotUnderstood for none, and for several that differ."""
    if len({line.text(node) for node in found}) != 1:
        raise NotUnderstood(f"{len(found)} places that differ; expected one")
    return found
