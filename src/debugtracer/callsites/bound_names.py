"""Under which name the running program holds an object, and where it last gave a name its value."""

from __future__ import annotations

import ast
import linecache
import sys
from types import FrameType
from typing import Any

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame

MOST = 400  # names of one frame looked at (ours)


def bound_name(value: Any, frame: FrameType | None = None) -> str:
    """The name of a local, an attribute of `self` or a global of the user's frames that is this object, the innermost
    frame first; empty when there is none."""
    for user in program_stack(frame if frame is not None else sys._getframe(1)):
        for names in scopes(user):
            found = next((name for name, held in list(names.items())[:MOST] if is_it(held, value)), "")
            if found.isidentifier() and not found.startswith("_"):
                return found
    return ""


def scopes(frame: FrameType) -> list[dict[str, Any]]:
    """The locals, attributes and modules of the first argument, globals."""
    own = dict(locals_of(frame))
    code = frame.f_code
    first = own.get(code.co_varnames[0]) if code.co_argcount else None
    inside = getattr(first, "__dict__", None)
    held = {**inside, **inside.get("_modules", {})} if isinstance(inside, dict) else {}
    return [{k: v for k, v in own.items() if v is not first}, held, frame.f_globals]


def is_it(held: Any, value: Any) -> bool:
    """Whether a name holds the object, or a wrapper of it (`module` of DistributedDataParallel)."""
    inside = getattr(held, "__dict__", None)
    modules = inside.get("_modules", {}) if isinstance(inside, dict) else {}
    return held is value or (isinstance(modules, dict) and modules.get("module") is value)


def list_given_to(frame: Frame) -> Frame | None:
    """The line that made the first argument of the call on this line, where that is a name: `groups = [...]` before
    `AdamW(groups, lr=1e-3)`; None where the argument stands in the call itself."""
    text = "".join(linecache.getlines(frame.file))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    scope = scope_of(tree, frame.line)
    calls = [n for n in ast.walk(scope) if isinstance(n, ast.Call) and n.lineno <= frame.line <= (n.end_lineno or 0)]
    named = next((c.args[0].id for c in calls if c.args and isinstance(c.args[0], ast.Name)), None)
    lines = [
        n.lineno
        for n in ast.walk(scope)
        if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.lineno < frame.line and named in targets(n)
    ]
    if named is None or not lines:
        return None
    return Frame(frame.file, max(lines), frame.function, linecache.getline(frame.file, max(lines)).strip())


def targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    """The plain names that an assignment writes."""
    flat = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [t.id for t in flat if isinstance(t, ast.Name)]


def scope_of(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, else the module."""
    inside = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return max(inside, key=lambda n: n.lineno, default=tree)
