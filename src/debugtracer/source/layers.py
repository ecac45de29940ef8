"""Modules: what a callee was constructed as, and what it makes of its input."""

from __future__ import annotations

import ast

from debugtracer.source.expressions import Expressions
from debugtracer.source.functions import Given, of_layer
from debugtracer.source.names import method
from debugtracer.source.own_code import OwnCode
from debugtracer.source.program import methods
from debugtracer.source.scope import is_self
from debugtracer.source.value import TENSOR, Value

WRAPPERS = frozenset(
    (
        "to",
        "cuda",
        "cpu",
        "train",
        "eval",
        "double",
        "half",
        "float",
        "bfloat16",
        "requires_grad_",
        "compile",
        "share_memory",
    )
)
Made = ast.Call | ast.ClassDef  # the constructor call of a module of torch.nn, or a class of this file


class Layers:
    """The modules of one file."""

    def __init__(self, values: Expressions, own_code: OwnCode) -> None:
        self.values, self.own_code = values, own_code

    def made(self, callee: ast.AST) -> Made | None:
        """What a callee was constructed as, through names, attributes of self and wrappers; None if it is no module we
        know."""
        values = self.values
        if isinstance(callee, ast.Name):
            bindings = [b for b in values.scope.reaching(callee) if b.value is not None]
            return (
                self.made(bindings[0].value)
                if len(bindings) == 1 and bindings[0].value is not None and bindings[0].value is not callee
                else None
            )
        if (
            isinstance(callee, ast.Attribute)
            and is_self(callee.value)
            and (owner := values.program.owner(callee)) is not None
        ):
            assigned = values.scope.attribute(owner, callee.attr)
            return self.made(assigned[0]) if len(assigned) == 1 and isinstance(assigned[0], ast.Call) else None
        if not isinstance(callee, ast.Call):
            return None
        name = values.names.layer(callee.func)
        if name in ("DataParallel", "DistributedDataParallel") and callee.args:
            return self.made(callee.args[0])
        if name is not None:
            return callee
        if isinstance(callee.func, ast.Name):
            return values.program.classes.get(callee.func.id)
        if method(callee) in WRAPPERS and isinstance(callee.func, ast.Attribute):
            return self.made(callee.args[0] if values.names.meaning(callee.func) and callee.args else callee.func.value)
        return None

    def through(self, made: Made, x: Value, given: Given) -> Value:
        """What a module makes of its input."""
        if isinstance(made, ast.ClassDef):
            forward = methods(made).get("forward")
            return TENSOR if forward is None else self.own_code.returned(forward)
        name = self.values.names.layer(made.func) or ""
        if name != "Sequential":
            return of_layer(name, x, given)
        for part in made.args:
            inner = self.made(part)
            x = TENSOR if inner is None else self.through(inner, x, given)
        return x if made.args else TENSOR
