"""What is known of each expression of a file: names are followed to their assignments, arithmetic is worked out."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace

from debugtracer.source.calls import Calls
from debugtracer.source.expressions import Expressions
from debugtracer.source.layers import Layers
from debugtracer.source.names import method
from debugtracer.source.own_code import OwnCode
from debugtracer.source.program import Program
from debugtracer.source.scope import Binding, is_self
from debugtracer.source.value import (
    INF,
    NUMBER,
    TENSOR,
    UNKNOWN,
    Point,
    Value,
    either,
    joined,
    negated,
    number,
    over,
    plus,
    powered,
    squared,
    times,
)

CONSTANTS = {
    "math.pi": math.pi,
    "math.e": math.e,
    "torch.pi": math.pi,
    "numpy.pi": math.pi,
    "math.inf": INF,
    "torch.inf": INF,
    "numpy.inf": INF,
}
SMALL = {"eps": 1.2e-7, "tiny": 1.2e-38, "smallest_normal": 1.2e-38, "resolution": 1e-6, "max": 3.4e38, "min": -3.4e38}
Operation = Callable[[Value, Value], Value]
OPERATIONS: dict[type[ast.operator], Operation] = {
    ast.Add: plus,
    ast.Sub: lambda a, b: plus(a, negated(b)),
    ast.Mult: times,
    ast.Div: over,
}


class Values(Expressions):
    """The answers for one file."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.own_code = OwnCode(self)
        self.layers = Layers(self, self.own_code)
        self.calls = Calls(self, self.layers, self.own_code)

    def worked_out(self, node: ast.AST) -> Value:
        """Evaluate an expression by its kind of node."""
        match node:
            case ast.Constant(value=bool() | int() | float() as literal):
                return number(float(literal))
            case ast.Name():
                return self.name(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negated(self.of(operand))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return replace(self.of(operand), points=()) if self.of(operand).form == "bool" else UNKNOWN
            case ast.Compare():
                tensor = True if any(self.of(part).tensor for part in (node.left, *node.comparators)) else None
                return Value(tensor, 0.0, 1.0, form="bool", detached=True)
            case ast.BinOp():
                return self.binary(node)
            case ast.IfExp(body=body, orelse=orelse):
                return joined([self.of(body), self.of(orelse)])
            case ast.Subscript():
                return self.item(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.Call():
                return self.calls.of(node)
        return UNKNOWN

    def name(self, node: ast.Name) -> Value:
        """Evaluate a name through the assignments that can reach it."""
        meaning = self.names.meaning(node)
        if meaning in CONSTANTS:
            return number(CONSTANTS[meaning])
        return joined([self.binding(b) for b in self.scope.reaching(node)])

    def binding(self, binding: Binding) -> Value:
        """Evaluate one assignment to a name."""
        if binding.value is not None:
            return self.of(binding.value)
        if binding.add is not None:
            operation = OPERATIONS.get(type(binding.add.op))
            return UNKNOWN if operation is None else operation(self.of(binding.add.target), self.of(binding.add.value))
        return self.own_code.parameter(binding) if isinstance(binding.node, ast.arg) else UNKNOWN

    def binary(self, node: ast.BinOp) -> Value:
        """Evaluate arithmetic, with the forms of it that mean more than their parts."""
        left, right = self.of(node.left), self.of(node.right)
        tensor = either(left.tensor, right.tensor)
        match node.op:
            case ast.Mult() if ast.dump(node.left) == ast.dump(node.right):
                return squared(left)
            case ast.Pow():
                return powered(left, right.constant) if right.constant is not None else Value(tensor)
            case ast.MatMult():
                return Value(True, -1.0, 1.0) if left.form == right.form == "unit" else TENSOR
            case ast.BitAnd() | ast.BitOr() if "bool" in (left.form, right.form):
                return Value(tensor, 0.0, 1.0, form="bool")
            case ast.Sub() if (special := self.difference(node, left, right)) is not None:
                return special
        operation = OPERATIONS.get(type(node.op))
        return UNKNOWN if operation is None else operation(left, right)

    def difference(self, node: ast.BinOp, left: Value, right: Value) -> Value | None:
        """Recognise differences: x - x.max() <= 0, x.max() - x.min() reaches 0, E[x^2] - E[x]^2 is rounded below 0."""
        if left.form in ("mean_of_squares", "squares") and right.form == "square_of_mean":
            return Value(
                left.tensor, points=(Point(-1e-8, "E[x^2] - E[x]^2 is rounded below 0 where the variance is small"),)
            )
        high, low = self.meant(node.left), self.meant(node.right)
        if (method(high), method(low)) in (("max", "min"), ("amax", "amin")) and receiver(high) == receiver(low):
            return Value(
                left.tensor, 0.0, INF, (Point(0.0, "max equals min where all values are equal"),), form="spread"
            )
        return (
            Value(left.tensor, -INF, 0.0, detached=left.detached)
            if right.form == "max" and left.form != "max"
            else None
        )

    def meant(self, node: ast.AST) -> ast.AST:
        """The expression a name stands for, when there is only one."""
        seen: set[int] = set()
        while isinstance(node, ast.Name) and id(node) not in seen:
            seen.add(id(node))
            bindings = self.scope.reaching(node)
            if len(bindings) != 1 or bindings[0].value is None:
                return node
            node = bindings[0].value
        return node

    def item(self, node: ast.Subscript) -> Value:
        """A part of a tensor; what a condition selects is taken for guarded."""
        whole = self.of(node.value)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return NUMBER
        inverted = isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.op, ast.Invert)
        selected = inverted or self.of(node.slice).form == "bool"
        return replace(whole, points=(), free="", form="nonzero") if selected else whole

    def attribute(self, node: ast.Attribute) -> Value:
        """Evaluate constants of libraries, parts of a tensor, and what a class sets on itself."""
        meaning = self.names.meaning(node)
        if meaning in CONSTANTS:
            return number(CONSTANTS[meaning])
        if (
            isinstance(node.value, ast.Call)
            and (self.names.meaning(node.value.func) or "").endswith("finfo")
            and node.attr in SMALL
        ):
            return number(SMALL[node.attr])
        if node.attr in ("shape", "ndim", "itemsize"):
            return NUMBER
        if node.attr == "grad":
            return Value(True, form="grad", detached=True)
        if node.attr in ("T", "mT", "real"):
            return self.of(node.value)
        if node.attr == "data":
            return replace(self.of(node.value), detached=True)
        owner = self.program.owner(node)
        if is_self(node.value) and owner is not None:
            assigned = self.scope.attribute(owner, node.attr)
            return joined([UNKNOWN if value is None else self.of(value) for value in assigned])
        return UNKNOWN


def receiver(node: ast.AST) -> str:
    """The text of what a method is called on, with its arguments."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.dump(node.func.value) + "".join(ast.dump(a) for a in [*node.args, *node.keywords])
    return ast.dump(node)
