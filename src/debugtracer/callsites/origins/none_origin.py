"""Under which condition a name is given another value than None, and under which it is used. The source is read,
nothing is executed."""

from __future__ import annotations

import ast
from typing import NamedTuple

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import Use
from debugtracer.callsites.origins.written_names import parameters, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


class Condition(NamedTuple):
    """The line of an `if`, and what it asks."""

    frame: Frame
    text: str


class NoneOrigin(NamedTuple):
    """Where a name got its None; `set_where` is the only condition under which it gets another value, `used_where` the
    one around the line that uses it."""

    frame: Frame
    set_where: Condition | None
    used_where: Condition | None


def none_origin(use: Use, name: str) -> NoneOrigin | None:
    """Where a plain name, or an attribute of `self`, that is None on a line got it; None where that is not written out
    in the function or the class."""
    owner = use.program.owner(use.scope) if use.scope is not None else None
    own = name.startswith("self.") and name.count(".") == 1
    holder: ast.AST | None = owner if own else use.scope or use.program.tree
    if holder is None or not (own or name.isidentifier()) or (use.scope is not None and name in parameters(use.scope)):
        return None
    every = writes_of(holder, name)
    nones = [w.node for w in every if isinstance(w.value, ast.Constant) and w.value.value is None and w.key is None]
    others = [w.node for w in every if w.node not in nones]
    if len(nones) != 1:
        return None
    home = use.program.function(nones[0])
    near = [node for node in others if use.program.function(node) is home]
    frame = at_line(use.program, getattr(nones[0], "lineno", 1))
    set_where = condition_of(use.program, near[0]) if len(others) == len(near) == 1 else None
    return NoneOrigin(frame, set_where, condition_of(use.program, use.node))


def condition_of(program: Program, node: ast.AST) -> Condition | None:
    """The innermost `if` around a node in its function, turned round where the node stands in its else."""
    below = node
    for above in program.above(node):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return None
        if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
            turned = below in above.orelse if isinstance(above, ast.If) else below is above.orelse
            asked = ast.unparse(above.test)
            return Condition(at_line(program, above.test.lineno), f"not ({asked})" if turned else asked)
        below = above
    return None
