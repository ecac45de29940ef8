"""Where the numbers were made that a line takes for places in a tensor: the index of a gather or scatter, or in square
brackets. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.value_origin import Link, Use, chain, program_of, scope_at, written_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

BY_PLACE = frozenset({
    "gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_", "index_select",
    "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_",
})  # fmt: skip
"""Methods of tensors that are given a dimension and then an index; functions of torch take the tensor first."""
JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack"})
MOST = 4  # parts of what is joined, and joins one after the other (ours)


def index_origin(stack: Sequence[Frame]) -> tuple[ast.expr | None, tuple[Link, ...]]:
    """The only index on the innermost of these lines, and the lines that wrote it, the last writer first; nothing where
    the line has several that differ."""
    program = program_of(stack[0].file) if stack else None
    every = indices_on(program, stack[0].line) if program is not None else ()
    found = list({ast.unparse(one): one for one in every}.values())
    if program is None or len(found) != 1:
        return None, ()
    use = Use(program, scope_at(program, stack[0].line), found[0], tuple(stack[1:]))
    return found[0], through_joins(chain(use, stack[0].line))


def indices_on(program: Program, line: int) -> Iterator[ast.expr]:
    """Yield what a line uses as places, but for numbers that are written out and slices."""
    held = [n for n in program.nodes if isinstance(n, (ast.Call, ast.Subscript))]
    for node in (n for n in held if n.lineno <= line <= (n.end_lineno or n.lineno)):
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield from (one for one in parts if any(isinstance(inner, ast.Name) for inner in bare(one)))
        elif final_name(node.func) in BY_PLACE and isinstance(node.func, ast.Attribute):
            place = 1 + is_module(program, node.func.value)
            named = next((word.value for word in node.keywords if word.arg == "index"), None)
            if named is not None or len(node.args) > place:
                yield named if named is not None else node.args[place]


def bare(node: ast.expr) -> Iterator[ast.AST]:
    """Walk an expression that may be an index; a slice is none."""
    if not isinstance(node, (ast.Slice, ast.Constant)):
        yield from ast.walk(node)


def is_module(program: Program, node: ast.expr) -> bool:
    """Whether a name is that of something imported: `torch.gather(x, 1, index)`."""
    names = {
        alias.asname or alias.name.partition(".")[0]
        for one in program.nodes
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for alias in one.names
    }
    return isinstance(node, ast.Name) and node.id in names


def through_joins(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Follow on through what joins several tensors, where all of them come from one line."""
    for _ in range(MOST):
        use = links[-1].value if links else None
        parts = joined(use.node) if use is not None else []
        if use is None or not parts:
            return links
        ways = [chain(Use(use.program, use.scope, one, use.above), use.node.lineno) for one in parts]
        if len({written_at(way) for way in ways}) != 1 or not ways[0]:
            return links
        links = (*links, *ways[0])
    return links


def joined(node: ast.expr) -> list[ast.expr]:
    """The parts that an expression joins into one tensor; none for any other."""
    inner = carrier(node)
    if isinstance(inner, ast.Call) and final_name(inner.func) in JOINS and inner.args:
        inner = inner.args[0]
    elif not any(isinstance(one, ast.Call) and final_name(one.func) in JOINS for one in ast.walk(node)):
        return []
    parts = inner.elts if isinstance(inner, (ast.Tuple, ast.List)) else []
    return parts if 1 < len(parts) <= MOST else []
