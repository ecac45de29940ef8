"""Where a tensor was kept that a line takes a weight from (`p - anchor`, `F.mse_loss(p, old[name])`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.value_origin import Link, Use, chain, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name, writes_of
from debugtracer.trace.birth import Frame

DIFFERENCES = frozenset({"dist", "sub", "subtract", "mse_loss", "l1_loss", "smooth_l1_loss"})
"""Functions of a weight and what it is compared with."""


def kept_line(stack: Sequence[Frame], side: int) -> Frame | None:
    """The line that wrote what the only difference on the innermost of these lines takes on that side (0: left); None
    where it has several, or that cannot be followed away from the line."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line = stack[0].line
    here = [n for n in program.nodes if isinstance(n, ast.expr) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    given = [pair[side] for node in here for pair in pairs(node)]
    if len(given) != 1:
        return None
    links = chain(Use(program, scope_at(program, line), given[0], tuple(stack[1:])), line)
    found = next((filled(link) for link in links), None)
    return found if found is not None and (found.file, found.line) != (stack[0].file, line) else None


def filled(link: Link) -> Frame:
    """The line of a write; of an empty list or dict, in which nothing was kept yet, the last that puts something in."""
    use = link.value
    empty = use is not None and ast.unparse(use.node) in ("[]", "{}")
    statement = use.program.statement(use.node) if use is not None and empty else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if use is None or target is None:
        return link.frame
    every = [w for w in writes_of(use.scope or use.program.tree, ast.unparse(target)) if w.node is not statement]
    return use.frame(every[-1].node) if every else link.frame


def pairs(node: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the two sides of a difference, written with a minus or as a call."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield node.left, node.right
    elif isinstance(node, ast.Call) and final_name(node.func) in DIFFERENCES:
        if len(node.args) > 1:
            yield node.args[0], node.args[1]
        elif node.args and isinstance(node.func, ast.Attribute):
            yield node.func.value, node.args[0]
