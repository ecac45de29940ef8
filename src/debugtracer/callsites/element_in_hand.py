"""Which element of a list or tuple the loops around an expression were at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from debugtracer.callsites.failing_expression import FailingExpression, known_value

Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class ElementInHand(NamedTuple):
    """One element, by the name of what holds it."""

    text: str
    place: int
    length: int


def element_in_hand(failing: FailingExpression) -> ElementInHand | None:
    """The element of the outermost loop of a comprehension, else of the innermost `for` around the expression; known by
    being the same object as one element alone."""
    comprehended, plain = None, None
    for above in failing.program.above(failing.node):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            break
        if isinstance(above, Comprehension):
            found = [held for one in above.generators[::-1] if (held := element(failing, one.target, one.iter))]
            comprehended = found[-1] if found else comprehended
        elif isinstance(above, ast.For) and plain is None:
            plain = element(failing, above.target, above.iter)
    return comprehended or plain


def element(failing: FailingExpression, target: ast.expr, items: ast.expr) -> ElementInHand | None:
    """The element that a target of a loop is, where what is gone through is held under a name."""
    for name, held in pairs(target, items):
        base = held.value if isinstance(held, ast.Subscript) and isinstance(held.slice, ast.Slice) else held
        found, value = known_value(name, failing.values)
        known, container = known_value(base, failing.values)
        if found and known and type(container) in (list, tuple):
            places = same_object(value, container)
            if len(places) == 1:
                return ElementInHand(ast.unparse(base), places[0], len(container))
    return None


def same_object(value: Any, container: Any) -> list[int]:
    """The places in a container at which this one lies, told by identity."""
    return [place for place, one in enumerate(container) if one is value]


def pairs(target: ast.expr, items: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each name of a loop with what it goes through, also by `enumerate` and `zip`."""
    called = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    if not isinstance(items, ast.Call):
        yield target, items
    elif called == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and items.args:
        yield from pairs(target.elts[1], items.args[0])
    elif called == "zip" and isinstance(target, ast.Tuple):
        for one, held in zip(target.elts, items.args, strict=False):
            yield from pairs(one, held)
    elif items.args and called not in ("range", "map", "filter", "iter"):  # a bar of progress goes through its argument
        yield from pairs(target, items.args[0])
