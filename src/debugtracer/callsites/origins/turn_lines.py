"""Lines that flip or turn one of two tensors of a sample and leave the other as it is. The source is read, nothing is
executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from debugtracer.callsites.origins.value_origin import Link, Use, chain
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

TURNS = frozenset({"flip", "fliplr", "flipud", "hflip", "vflip", "rot90", "mirror"})
"""Functions and methods of torch, numpy, torchvision, PIL and OpenCV that flip or turn what they are given first."""
Branch: TypeAlias = tuple[str, str, bool]
"""Its file, its condition, and whether it is the other side of it."""
MOST = 12  # turns of one tensor (ours)


class BranchWrite(NamedTuple):
    """A line that writes a tensor in some branch, and whether it may turn it."""

    frame: Frame
    branch: Branch
    turns: bool


def turned_alone(one: Sequence[Link], other: Sequence[Link]) -> tuple[Frame | None, Frame | None]:
    """The last line that turns the one, and the last that turns the other, in a branch where its counterpart is not
    written; None where there is none. The links lead back from the last writer of each."""
    ours, theirs = list(in_branches(one)), list(in_branches(other))
    return alone(ours, theirs), alone(theirs, ours)


def alone(own: Sequence[BranchWrite], others: Sequence[BranchWrite]) -> Frame | None:
    """The first of these turns in a branch that none of the others is in."""
    known = {written.branch for written in others}
    return next((written.frame for written in own if written.turns and written.branch not in known), None)


def in_branches(links: Sequence[Link]) -> Iterator[BranchWrite]:
    """Yield the lines in some branch: what is always done turns all samples alike. A chain of lines ends at a call;
    what that, or arithmetic, is given first is followed on."""
    for _ in range(MOST):
        use: Use | None = None
        node: ast.Subscript | ast.Call | None = None
        for link in links:
            use, node = link.value, turning(link.value)
            branch = branch_of(use, use.node if node is None else node) if use is not None else None
            if branch is not None:
                yield BranchWrite(link.frame, branch, node is not None)
        first = node if node is not None or use is None else carried(use.node)
        if use is None or first is None:
            return
        links = before(use, first)


def turning(use: Use | None) -> ast.Subscript | ast.Call | None:
    """The first part of a value that turns: what is taken backwards, or a call."""
    for node in ast.walk(use.node) if use is not None else ():
        if isinstance(node, ast.Subscript) and any(is_backwards(one) for one in ast.walk(node.slice)):
            return node
        if isinstance(node, ast.Call) and final_name(node.func) in TURNS:
            return node
    return None


def is_backwards(node: ast.AST) -> bool:
    """True for a slice with a step back, `[::-1]`."""
    return isinstance(node, ast.Slice) and isinstance(node.step, ast.UnaryOp) and isinstance(node.step.op, ast.USub)


def branch_of(use: Use, node: ast.AST) -> Branch | None:
    """The innermost branch around an expression in its function; None for what is always done. Two of one condition
    are the same where it draws nothing and asks nobody."""
    held = node
    for holder in use.program.above(node):
        if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        if isinstance(holder, (ast.If, ast.IfExp)) and held is not holder.test:
            other = held in holder.orelse if isinstance(holder, ast.If) else held is holder.orelse
            asks = any(isinstance(one, ast.Call) for one in ast.walk(holder.test))
            place = f"{holder.lineno}:{holder.col_offset}" if asks else ast.unparse(holder.test)
            return str(use.program.path), place, other
        held = holder
    return None


def carried(node: ast.expr) -> ast.Call | ast.BinOp | None:
    """A value that is made of a tensor without turning it: noise that is added, a factor, a normalisation."""
    return node if isinstance(node, (ast.Call, ast.BinOp)) else None


def before(use: Use, node: ast.Subscript | ast.Call | ast.BinOp) -> tuple[Link, ...]:
    """The lines that wrote what is turned: the object of a method, else the first argument of a function, or an
    operand."""
    if isinstance(node, ast.Subscript):
        given = [node.value]
    elif isinstance(node, ast.BinOp):
        given = [node.left, node.right]
    else:
        given = [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args[:1]]
    for one in given:
        links = chain(Use(use.program, use.scope, one, use.above), node.lineno)
        if not links and isinstance(one, (ast.Call, ast.BinOp, ast.Subscript)):
            links = before(use, one)
        if links:
            return links
    return ()
