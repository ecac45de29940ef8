"""A loop that freezes the same parameters in two branches on its own counter, and never unfreezes anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from debugtracer.callsites.freezing import freezes, given_to
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.written_names import names_in
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


class Branch(NamedTuple):
    """What a freezing loop goes over, under an `if` on the counter of a loop around it."""

    loop: int
    """Line of that loop."""
    around: int
    """Line of what the `if` stands in."""
    over: str


def frozen_twice(files: Iterable[str]) -> Frame | None:
    """Return the later of two lines that set requires_grad to False over the same expression, under two `if` in the
    body of one loop that compare its counter, where no line sets it to anything else; None otherwise. Reads source."""
    found: dict[tuple[str, Branch], list[Frame]] = {}
    for program in programs_of(dict.fromkeys(files)):
        if any(is_bare_call(n) or (given_to(n) is not None and not freezes(n)) for n in program.nodes):
            return None
        for node in filter(freezes, program.nodes):
            if branch := branch_of(program, node):
                frame = at_line(program, getattr(node, "lineno", 1))
                found.setdefault((frame.file, branch), []).append(frame)
    twice = [frames for frames in found.values() if len(frames) > 1]
    return twice[0][1] if len(twice) == 1 and len(twice[0]) == 2 else None


def is_bare_call(node: ast.AST) -> bool:
    """True for `p.requires_grad_()`, which unfreezes."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"
    return called and given_to(node) is None


def branch_of(program: Program, node: ast.AST) -> Branch | None:
    """Where a freezing line stands: alone in a loop over parts, alone under an `if` without else that compares the
    counter of the loop around; None where it stands otherwise."""
    over, branch, around = ([*(a for a in program.above(node) if isinstance(a, ast.stmt)), None, None, None])[:3]
    if not isinstance(over, ast.For) or not isinstance(branch, ast.If) or not isinstance(around, (ast.For, ast.If)):
        return None
    if len(branch.body) != 1 or branch.orelse or not isinstance(branch.test, ast.Compare):
        return None
    loop = next((a for a in program.above(branch) if isinstance(a, ast.For)), None)
    if loop is None or not isinstance(loop.target, ast.Name) or loop.target.id not in names_in(branch.test):
        return None
    return Branch(loop.lineno, around.lineno, ast.unparse(over.iter))
