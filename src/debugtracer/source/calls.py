"""What a call gives: torch by its table, numpy and the rest no tensor, builtins, layers, and the file's own
functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from debugtracer.source.expressions import Expressions
from debugtracer.source.functions import FUNCTIONS, NUMBERS
from debugtracer.source.layers import Layers
from debugtracer.source.names import method
from debugtracer.source.own_code import OwnCode
from debugtracer.source.value import (
    INF,
    NUMBER,
    TENSOR,
    UNKNOWN,
    Point,
    Value,
    clamped,
    joined,
    negated,
    number,
    over,
    plus,
    times,
)

# methods that an array of numpy does not have
ONLY_TORCH = frozenset(("norm", "softmax", "log_softmax", "sigmoid", "exp", "log", "sqrt", "clamp", "detach"))
NO_TENSORS = frozenset({"math", "numpy", "random", "time", "os"})


@dataclass(frozen=True)
class Call:
    """The further arguments of a call, after the tensor."""

    values: Expressions
    rest: list[ast.expr]
    keywords: dict[str, ast.expr]

    def node(self, position: int, *keywords: str) -> ast.expr | None:
        """Return the expression of one argument, None if it is not given."""
        named = next((self.keywords[k] for k in keywords if k in self.keywords), None)
        return named if named is not None else self.rest[position] if position < len(self.rest) else None

    def value(self, position: int, *keywords: str) -> Value | None:
        """Return the value of one argument; None when it is not given or is None."""
        node = self.node(position, *keywords)
        return None if node is None or (isinstance(node, ast.Constant) and node.value is None) else self.values.of(node)


class Calls:
    """The calls of one file."""

    def __init__(self, values: Expressions, layers: Layers, own_code: OwnCode) -> None:
        self.values, self.layers, self.own_code = values, layers, own_code

    def of(self, node: ast.Call) -> Value:
        """What one call gives."""
        values, names = self.values, self.values.names
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        first = UNKNOWN if not node.args or starred else values.of(node.args[0])
        function = names.torch_function(node.func)
        if function is not None:
            first = values.of(keywords["input"]) if "input" in keywords else first
            return self.torch(function, first, Call(values, node.args[1:], keywords), node)
        meaning = names.meaning(node.func)
        if meaning is not None and names.layer(node.func) is None:
            return NUMBER if meaning.partition(".")[0] in NO_TENSORS else UNKNOWN
        if (
            isinstance(node.func, ast.Name)
            and node.func.id not in values.program.functions
            and (known := self.built_in(node.func.id, node)) is not None
        ):
            return known
        made = self.layers.made(node.func)
        if made is not None:
            return self.layers.through(made, first, Call(values, node.args[1:], keywords))
        own = self.own_code.called(node)
        if own is not None:
            return self.own_code.returned(own)
        return self.method(node, Call(values, node.args, keywords))

    def torch(self, name: str, x: Value, given: Call, node: ast.Call) -> Value:
        """Return what the torch function `torch.name(x, ...)` gives."""
        if name == "where" and len(node.args) == 3:
            return replace(joined([self.values.of(node.args[1]), self.values.of(node.args[2])]), tensor=True)
        other = given.value(0, "other") or UNKNOWN
        if name in ("div", "true_divide"):
            return replace(over(x, other), tensor=True)
        if name in ("add", "sub", "mul") and "alpha" not in given.keywords:
            return replace(
                {"add": plus, "sub": lambda a, b: plus(a, negated(b)), "mul": times}[name](x, other), tensor=True
            )
        if name == "arange":
            points = (Point(0.0, "arange starts at 0"),) if len(node.args) == 1 else ()
            return Value(True, 0.0 if points else -INF, INF, points, detached=True)
        transfer = FUNCTIONS.get(name)
        return TENSOR if transfer is None else replace(transfer(x, given), tensor=True)

    def method(self, node: ast.Call, given: Call) -> Value:
        """Return what the method call `x.name(...)` gives."""
        name = method(node)
        if name is None or not isinstance(node.func, ast.Attribute):
            return UNKNOWN
        if name in NUMBERS:
            return NUMBER
        x = self.values.of(node.func.value)
        if name in ("sample", "rsample"):
            return replace(TENSOR, form="nonzero")
        if name not in FUNCTIONS:
            return Value(x.tensor, detached=x.detached)
        found = FUNCTIONS[name](x, given)
        if name in ("item", "tolist"):
            return found
        torch_words = name in ONLY_TORCH or bool({"dim", "keepdim"} & given.keywords.keys())
        return replace(found, tensor=True if x.tensor or torch_words else x.tensor)

    def built_in(self, name: str, node: ast.Call) -> Value | None:
        """Return what max, min, abs, float, int or len gives; None for other names."""
        arguments = [self.values.of(a) for a in node.args]
        if name in ("max", "min") and len(arguments) == 2:
            one, other = arguments if arguments[1].constant is not None else arguments[::-1]
            return clamped(one, other, None) if name == "max" else clamped(one, None, other)
        if (
            name == "float"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            return number(float(node.args[0].value))
        if name in ("float", "int") and arguments:
            return replace(arguments[0], tensor=False, detached=True)
        if name == "abs" and arguments:
            return FUNCTIONS["abs"](arguments[0], Call(self.values, [], {}))
        return NUMBER if name in ("len", "round", "range", "bool", "str", "ord") else None
