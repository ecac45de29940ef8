"""A loop that freezes the same parameters in two branches on its own counter, and never unfreezes anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from debugtracer.callsites.freezing import freezes, given_to, lines_where
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def frozen_twice(files: Iterable[str]) -> Frame | None:
    """Return the later of two lines that set requires_grad to False over the same expression, under two `if` in the
    body of one loop that compare its counter, where no line sets it to anything else; None otherwise. Reads source."""
    found: dict[tuple[str, str], list[Frame]] = {}
    for file in dict.fromkeys(files):
        program = program_of(file)
        if program is None:
            continue
        if any(is_bare_call(n) or (given_to(n) is not None and not freezes(n)) for n in program.nodes):
            return None
        for frame in lines_where(file, lambda program, node: freezes(node)):
            if branch := branch_at(program, frame.line):
                found.setdefault((file, branch), []).append(frame)
    twice = [frames for frames in found.values() if len(frames) > 1]
    return twice[0][1] if len(twice) == 1 and len(twice[0]) == 2 else None


def is_bare_call(node: ast.AST) -> bool:
    """True for `p.requires_grad_()`, which unfreezes."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"
    return called and given_to(node) is None


def branch_at(program: Program, line: int) -> str:
    """What a freezing line in a loop over parts goes over, with the place of the loop whose counter the `if` around it
    compares; empty where it does not stand so."""
    node = next(n for n in program.nodes if freezes(n) and getattr(n, "lineno", 0) == line)
    over, branch, around = ([*(a for a in program.above(node) if isinstance(a, ast.stmt)), None, None, None])[:3]
    if not isinstance(over, ast.For) or not isinstance(branch, ast.If) or not isinstance(around, (ast.For, ast.If)):
        return ""
    if len(branch.body) != 1 or branch.orelse or not isinstance(branch.test, ast.Compare):
        return ""
    loop = next((a for a in program.above(branch) if isinstance(a, ast.For)), None)
    counter = loop.target.id if loop is not None and isinstance(loop.target, ast.Name) else ""
    compared = {n.id for n in ast.walk(branch.test) if isinstance(n, ast.Name)}
    if loop is None or not counter or counter not in compared:
        return ""
    return f"{loop.lineno}:{around.lineno}:{ast.unparse(over.iter)}"
