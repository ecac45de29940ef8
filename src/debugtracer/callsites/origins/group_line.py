"""The line that sorts parameters into the group of an optimizer that decays: a filter over their names or shapes, else
the entry of the group itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.argument_origin import given_to
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.value_origin import Use, chain, program_of, scope_at
from debugtracer.callsites.origins.written_names import ADDS, base, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def decayed_group_line(stack: Sequence[Frame], called: str) -> Frame | None:
    """The line for the only group with a decay among those that the call of this name on the innermost of these lines
    gets; None where the groups are not written out as a list."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line, scope = stack[0].line, scope_at(program, stack[0].line)
    given = given_to(program, line, called, "params", 0)
    if given is None:
        return None
    use = Use(program, scope, given, tuple(stack[1:]))
    written = next((one for one in (use, *uses_of(use, line)) if isinstance(one.node, ast.List)), None)
    groups = [g for g in written.node.elts if isinstance(g, ast.Dict)] if written is not None else []  # type: ignore[attr-defined]
    decayed = [g for g in groups if (d := entry(g, "weight_decay")) is not None and not is_zero(d)]
    params = entry(decayed[0], "params") if len(decayed) == 1 else None
    if written is None or params is None:
        return None
    return filter_line(written, params) or written.frame(decayed[0])


def uses_of(use: Use, line: int) -> list[Use]:
    """The expressions that an argument was written with, or is returned by."""
    found = [link.value for link in chain(use, line) if link.value is not None]
    known = called_function(use.program, use.scope, use.node, program_of) if isinstance(use.node, ast.Call) else None
    return [one for one in found if known is None or one.scope is not None]


def entry(group: ast.Dict, word: str) -> ast.expr | None:
    """What a group has under a key."""
    pairs = zip(group.keys, group.values, strict=True)
    return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == word), None)


def is_zero(node: ast.expr) -> bool:
    """True for a decay of nothing, written out as a number."""
    return isinstance(node, ast.Constant) and node.value == 0


def filter_line(use: Use, params: ast.expr) -> Frame | None:
    """The `if` that puts a parameter into this list, or the comprehension that picks it."""
    if not isinstance(params, ast.Name):
        return use.frame(params) if picks(params) else None
    holder = use.scope or use.program.tree
    for written in reversed(writes_of(holder, params.id)):
        if written.value is not None and picks(written.value):
            return use.frame(written.node)
        test = around(use.program, written.node) if adds(written.node, params.id) else None
        if test is not None:
            return use.frame(test)
    return None


def picks(node: ast.expr) -> bool:
    """True for a comprehension with a condition."""
    return any(isinstance(n, ast.comprehension) and n.ifs for n in ast.walk(node))


def adds(node: ast.stmt, name: str) -> bool:
    """True for `name.append(...)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in ADDS and ast.unparse(base(func.value)) == name


def around(program: Program, node: ast.stmt) -> ast.If | None:
    """The innermost `if` that a statement stands in, or in the rest of."""
    inside = [n for n in program.above(node) if isinstance(n, ast.If)]
    return max(inside, key=lambda n: n.lineno, default=None)
