"""The file's own functions: which one a call calls, what it returns, and what its parameters are given."""

from __future__ import annotations

import ast
from typing import Any

from debugtracer.source.expressions import Expressions
from debugtracer.source.program import Function, methods
from debugtracer.source.scope import Binding, is_self
from debugtracer.source.value import NUMBER, TENSOR, UNKNOWN, Value, joined, number


class OwnCode:
    """Functions and methods of one file."""

    def __init__(self, values: Expressions) -> None:
        self.values = values
        self.sites = [
            node
            for node in values.program.nodes
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute))
        ]

    def called(self, node: ast.Call) -> Function | None:
        """The function of this file that a call calls."""
        program = self.values.program
        if isinstance(node.func, ast.Name):
            return program.functions.get(node.func.id)
        owner = program.owner(node)
        if isinstance(node.func, ast.Attribute) and is_self(node.func.value) and owner is not None:
            return methods(owner).get(node.func.attr)
        return None

    def returned(self, function: Function) -> Value:
        """What all its return statements have in common."""
        values = self.values
        if id(function) in values.busy:
            values.cut += 1
            return UNKNOWN
        values.busy.add(id(function))
        try:
            returns = [
                n.value
                for n in ast.walk(function)
                if isinstance(n, ast.Return) and values.program.function(n) is function
            ]
            return joined([UNKNOWN if value is None else values.of(value) for value in returns])
        finally:
            values.busy.discard(id(function))

    def parameter(self, binding: Binding) -> Value:
        """Return a parameter's value: from calls in this file, a positive default (an epsilon), the annotation, or a
        forward."""
        argument, function = binding.node, self.values.program.function(binding.node)
        if not isinstance(argument, ast.arg) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return UNKNOWN
        given = self.given(function, argument.arg, binding.parameter)
        if given is not None:
            return given
        default = default_of(function, argument.arg)
        if default is not None and (constant := self.values.of(default).constant) is not None and constant > 0:
            return number(constant)
        if argument.annotation is not None:
            text = ast.unparse(argument.annotation)
            return TENSOR if "Tensor" in text else NUMBER if text in ("float", "int") else UNKNOWN
        in_class = self.values.program.owner(function) is not None and argument.arg != "self"
        return TENSOR if function.name == "forward" and in_class and default is None else UNKNOWN

    def given(self, function: Function, name: str, position: int | None) -> Value | None:
        """What this file passes for a parameter; None if it never calls the function, or not in a way that can be
        followed."""
        found: list[Value] = []
        owner = self.values.program.owner(function)
        for node in self.sites:
            if not self.is_call_of(node, function, owner):
                continue
            if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
                return None
            passed = next((k.value for k in node.keywords if k.arg == name), None)
            at = None if position is None else position - (owner is not None)
            if passed is None and at is not None and 0 <= at < len(node.args):
                passed = node.args[at]
            if passed is None:
                return None
            found.append(self.values.of(passed))
        return joined(found) if found else None

    def is_call_of(self, node: ast.Call, function: Function, owner: ast.ClassDef | None) -> bool:
        """True if this call is of that function of the file."""
        if owner is None:
            return isinstance(node.func, ast.Name) and self.values.program.functions.get(node.func.id) is function
        return (
            isinstance(node.func, ast.Attribute)
            and is_self(node.func.value)
            and node.func.attr == function.name
            and self.values.program.owner(node) is owner
        )


def default_of(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter, None without one."""
    every = [*function.args.posonlyargs, *function.args.args]
    defaults: dict[str, Any] = dict(
        zip([a.arg for a in every[len(every) - len(function.args.defaults) :]], function.args.defaults, strict=True)
    )
    defaults.update(
        {a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d is not None}
    )
    return defaults.get(name)
