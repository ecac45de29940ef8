"""The line that gave the length of a buffer into which a slice writes: `row = torch.zeros(longest)`, `row[:n] = x`. The
source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.added_origin import is_handed_in
from debugtracer.callsites.origins.handed_on import carrier, kind_of
from debugtracer.callsites.origins.only_caller import passed
from debugtracer.callsites.origins.value_origin import Link, Use, chain, is_own, last_write, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

MAKES = ("zeros", "ones", "full", "empty", "new_zeros", "new_ones", "new_full", "new_empty")
"""Functions of torch and numpy that make a buffer of a given shape."""
FILLED = ("full", "new_full")
DEEP = 4  # constructors and functions that hand the length on, one to the other (ours)


def room_line(node: ast.Subscript, dim: int, stack: Sequence[Frame]) -> Frame | None:
    """The line that made the length along a dimension of the buffer which a subscript on the innermost of these lines
    writes into; None where it cannot be followed to one."""
    program = program_of(stack[0].file) if stack else None
    if program is None or not isinstance(node.value, ast.Name):
        return None
    scope = scope_at(program, stack[0].line)
    made = last_write(program, scope, node.value.id, node.lineno)
    length = length_of(made.value, dim) if made is not None and made.value is not None else None
    if made is None or length is None:
        return None
    use = Use(program, scope, length, tuple(stack[1:]))
    terms = named_in(length)
    if not terms:
        return use.frame(length)
    found = {made_at(Use(program, scope, term, tuple(stack[1:])), made.node.lineno) for term in terms}
    return next(iter(found)) if len(found) == 1 else None


def length_of(value: ast.expr, dim: int) -> ast.expr | None:
    """The expression for one length of a buffer that is made here; None where none is, or its shape is not written
    out."""
    call = carrier(value)
    if not isinstance(call, ast.Call) or final_name(call.func) not in MAKES or not call.args:
        return None
    shape = list(call.args[:1]) if final_name(call.func) in FILLED else list(call.args)
    if isinstance(shape[0], (ast.Tuple, ast.List)):
        shape = list(shape[0].elts)
    if any(isinstance(one, ast.Starred) for one in shape) or dim >= len(shape):
        return None
    return shape[dim]


def named_in(node: ast.expr) -> list[ast.expr]:
    """The names and attributes that an expression is computed of, the largest each."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return [node]
    inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    return [name for one in inner for name in named_in(one)]


def made_at(use: Use, line: int) -> Frame | None:
    """The one line that made a value, also behind what constructors and functions that have returned were given."""
    found = {(frame.file, frame.line): frame for frame in sources(use, line, DEEP)}
    return next(iter(found.values())) if len(found) == 1 else None


def sources(use: Use, line: int, depth: int) -> Iterator[Frame]:
    """Yield the lines that a value can have been made on, one for each call that hands it in."""
    links: Sequence[Link] = chain(use, line)
    last = links[-1] if links else None
    inner = last.value if last is not None else use
    if inner is not None and depth and isinstance(inner.node, ast.Name) and (last is None or is_handed_in(last)):
        for given, at in passed(inner, inner.node.id):
            if kind_of(given.node) != "handed" and not is_own(given.program, given.scope, given.node):
                yield given.frame(given.node)
            else:
                yield from sources(given, at, depth - 1)
    elif last is not None:
        yield last.frame
