"""For a loop over parameters whose lines are computed again: what it goes through, and which of its conditions hold."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from debugtracer.replay.lines_again import LinesAgain
from debugtracer.replay.pure_expression import Impure, compute

COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
OWN = (nn.Module.parameters, nn.Module.named_parameters)
ENDS = ("startswith", "endswith")
PLAIN = (int, float, bool, str, type(None), Tensor, nn.Parameter, list, tuple, dict, set, frozenset)


def items_of(lines: LinesAgain, loop: ast.For) -> list[dict[str, Any]] | None:
    """The names that a loop gives values, once for each item of what it goes through; None where that is not known."""
    try:
        every = gone_through(loop.iter, lambda name: lines.value(name, loop.lineno))
    except Exception:
        return None  # it cannot be computed again
    if isinstance(loop.target, ast.Name):
        return [{loop.target.id: one} for one in every]
    names = [n.id for n in loop.target.elts if isinstance(n, ast.Name)] if isinstance(loop.target, ast.Tuple) else []
    known = all(isinstance(one, tuple) and len(one) == len(names) for one in every)
    return [dict(zip(names, one, strict=True)) for one in every] if names and known else None


def gone_through(node: ast.expr, name_of: Callable[[str], Any]) -> list[Any]:
    """The parameters of a module, or a list that the program holds. Raises Impure for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        module, asked = compute(node.func.value, name_of), node.func.attr
        if not isinstance(module, nn.Module) or getattr(type(module), asked, None) not in OWN:
            raise Impure  # it may run code of the program
        return list(getattr(module, asked)())
    held = compute(node, name_of)
    if type(held) not in (list, tuple):
        raise Impure
    return list(held)


def reached(lines: LinesAgain, line: int, given: Mapping[str, Any]) -> bool:
    """Whether a line runs with these values under the names of its loop: False where a condition around it, or one
    before it that goes on with the next item, says otherwise or cannot be told of them."""
    for test, wanted in conditions(lines, line):
        own = bool(given) and any(isinstance(n, ast.Name) and n.id in given for n in ast.walk(test))
        try:
            holds = truth(test, lambda name: given[name] if name in given else lines.value(name, line))
        except Exception:
            if own:
                return False
            continue  # it does not tell one parameter from another
        if holds is not wanted:
            return False
    return True


def conditions(lines: LinesAgain, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the conditions on the way to a line, and what each has to be."""
    around = [loop for loop in lines.loops if within(loop.body, line)]
    begin = max((loop.lineno for loop in around), default=0)
    for node in lines.nodes:
        if not isinstance(node, ast.If):
            continue
        passed = begin < node.lineno < line and isinstance(node.body[-1], ast.Continue) and not node.orelse
        if within(node.body, line):
            yield node.test, True
        elif within(node.orelse, line) or passed:
            yield node.test, False


def within(body: Sequence[ast.stmt], line: int) -> bool:
    """Whether a line belongs to these statements."""
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def truth(node: ast.expr, name_of: Callable[[str], Any]) -> bool:
    """Whether a condition holds. Raises Impure, and what the operations raise."""
    if isinstance(node, ast.BoolOp):
        every = (truth(one, name_of) for one in node.values)
        return all(every) if isinstance(node.op, ast.And) else any(every)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not truth(node.operand, name_of)
    if isinstance(node, ast.Compare):
        left = operand(node.left, name_of)
        for kind, other in zip(node.ops, node.comparators, strict=True):
            right = operand(other, name_of)
            if not COMPARED[type(kind)](left, right):
                return False
            left = right
        return True
    return bool(operand(node, name_of))


def operand(node: ast.expr, name_of: Callable[[str], Any]) -> Any:
    """The value of one side of a comparison: also the ends of a name. A gradient is there or not, its values are no
    longer those of then. Raises Impure."""
    if isinstance(node, ast.Attribute) and node.attr in ("grad", "requires_grad"):
        owner = compute(node.value, name_of)
        if not isinstance(owner, Tensor):
            raise Impure
        return owner.requires_grad if node.attr == "requires_grad" else (None if owner.grad is None else [])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ENDS:
        owner, args = compute(node.func.value, name_of), [compute(one, name_of) for one in node.args]
        if isinstance(owner, str):
            return getattr(owner, node.func.attr)(*(tuple(a) if isinstance(a, list) else a for a in args))
        raise Impure
    value = compute(node, name_of)
    if type(value) not in PLAIN:
        raise Impure
    return value
