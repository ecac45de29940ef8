"""The line that writes NaN or Inf itself into some elements of a tensor, where later lines only change others."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import Link, Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import Written, base, writes_of
from debugtracer.trace.birth import Frame

NONFINITE = frozenset({"nan", "inf", "infinity"})


def literal_write(links: Sequence[Link], some: bool) -> Frame | None:
    """The last of these lines, and of those before them, that writes NaN or Inf into a part of what they write in
    place; None where none does. `some`: not all rows are bad, so no line did it that writes into all, as one does
    that stands in a branch which was not taken; and the other way round."""
    for link in links:
        program = program_of(link.frame.file)
        if program is None:
            continue
        scope = scope_at(program, link.frame.line)
        for name in names_changed(program.nodes, link.frame.line):
            every = [w for w in writes_of(scope or program.tree, name) if program.function(w.node) is scope]
            before = [w for w in every if w.node.lineno <= link.frame.line]
            whole = max((w.node.lineno for w in before if not partial(w)), default=0)
            written = [w for w in before if w.node.lineno > whole and partial(w) and nonfinite(w.value)]
            fitting = [w for w in written if one_row(w) in (None, some)]
            if written:
                return Use(program, scope, ast.Name(name), ()).frame((fitting or written)[-1].node)
    return None


def names_changed(nodes: Sequence[ast.AST], line: int) -> list[str]:
    """The names that a statement of the line changes in place, in some of their elements."""
    found: list[str] = []
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno == line:
            added = isinstance(node, ast.AugAssign)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [ast.unparse(base(t)) for t in targets if added or isinstance(t, ast.Subscript)]
    return found


def partial(written: Written) -> bool:
    """True for a write into some elements, which leaves the others as they were, and for one that computes on."""
    node = written.node
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in node.targets)
    return isinstance(node, ast.AugAssign)


def one_row(written: Written) -> bool | None:
    """True for a write into one row that is written out, `x[137, 5]`; False for one into all rows, `x[:, 3]`; None
    where it is not known."""
    targets = written.node.targets if isinstance(written.node, ast.Assign) else []
    index = targets[0].slice if targets and isinstance(targets[0], ast.Subscript) else None
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if isinstance(first, ast.Slice):
        return False if first.lower is None and first.upper is None and first.step is None else None
    return True if isinstance(first, ast.Constant) and isinstance(first.value, int) else None


def nonfinite(value: ast.expr | None) -> bool:
    """True for NaN or Inf as it is written out: `float("nan")`, `torch.nan`, `-math.inf`."""
    if isinstance(value, ast.UnaryOp):
        return nonfinite(value.operand)
    if isinstance(value, ast.Attribute):
        return value.attr.lower() in NONFINITE
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "float" and value.args:
        given = value.args[0]
        text = str(given.value) if isinstance(given, ast.Constant) else ""
        return text.strip().lstrip("+-").lower() in NONFINITE
    return False
