"""A file as patterns see it: calls by name, what is known of values, which tests guard them, and where no gradient is
made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.bounds import bounded, made_with
from debugtracer.source.calls import Call
from debugtracer.source.names import dotted, method
from debugtracer.source.program import Program, place
from debugtracer.source.value import Value
from debugtracer.source.values import Values

# as methods without arguments, so that logger.log(...) is none
BARE = frozenset(
    {"log", "log2", "log10", "log1p", "sqrt", "rsqrt", "exp", "acos", "arccos", "asin", "arcsin", "reciprocal"}
)
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
GRADIENT_OFF = frozenset({"no_grad", "inference_mode"})
REPAIRS = frozenset({"nan_to_num", "nan_to_num_", "xlogy", "entr"})


@dataclass(frozen=True)
class Asked:
    """One call of a torch function, as a function or a method."""

    node: ast.Call
    name: str
    operand: ast.expr
    given: Call


class Source:
    """One file of the user's program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = Values(program)
        self.names = self.values.names

    def value(self, node: ast.AST) -> Value:
        """What is known of an expression."""
        return self.values.of(node)

    def shown(self, node: ast.AST) -> str:
        """An expression on one line."""
        return self.program.shown(node)

    def calls(self, *wanted: str) -> Iterator[Asked]:
        """Yield calls of these torch functions: `torch.log(x)`, `F.softmax(x)`, `x.log()`; in-place ones too."""
        for node in self.program.nodes:
            if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
                continue
            keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
            function = self.names.torch_function(node.func)
            if function is not None:
                operand = node.args[0] if node.args else keywords.get("input")
                if function in wanted and operand is not None:
                    yield Asked(node, function, operand, Call(self.values, node.args[1:], keywords))
                continue
            name = (method(node) or "").removesuffix("_")
            if name in wanted and isinstance(node.func, ast.Attribute) and self.names.meaning(node.func) is None:
                if name in BARE and (node.args or node.keywords):
                    continue
                if self.value(node.func.value).tensor is not False:
                    yield Asked(node, name, node.func.value, Call(self.values, node.args, keywords))

    def divisions(self) -> Iterator[tuple[ast.AST, ast.expr | None, ast.expr]]:
        """Yield each division: its node, what is divided, and by what."""
        for node in self.program.nodes:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                yield node, node.left, node.right
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
                yield node, node.target, node.value
        for call in self.calls("div", "true_divide"):
            other = call.given.node(0, "other")
            if other is not None:
                yield call.node, call.operand, other
        for call in self.calls("reciprocal"):
            yield call.node, None, call.operand

    def no_grad(self, node: ast.AST) -> bool:
        """True where no gradient is made: under no_grad or inference_mode, or in a function decorated so."""
        for above in self.program.above(node):
            if isinstance(above, (ast.With, ast.AsyncWith)) and any(
                self.is_off(item.context_expr) for item in above.items
            ):
                return True
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = self.program.owner(above)
                if any(self.is_off(d) for d in above.decorator_list) or (
                    owner is not None and self.without_gradient(owner, above.name)
                ):
                    return True
        return False

    def without_gradient(self, owner: ast.ClassDef, name: str) -> bool:
        """True for methods that run without autograd: a Dataset's, an Optimizer's step, a custom Function's two
        halves."""
        bases = {(self.names.meaning(base) or dotted(base) or "").rpartition(".")[2] for base in owner.bases}
        return bool(bases & {"Dataset", "IterableDataset", "Optimizer"}) or (
            "Function" in bases and name in ("forward", "backward", "jvp")
        )

    def is_off(self, node: ast.AST) -> bool:
        """True for torch.no_grad, torch.no_grad() and torch.set_grad_enabled(False)."""
        called = node.func if isinstance(node, ast.Call) else node
        name = (self.names.meaning(called) or dotted(called) or "").rpartition(".")[2]
        if name == "set_grad_enabled" and isinstance(node, ast.Call):
            return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
        return name in GRADIENT_OFF

    def guarded(self, node: ast.AST, operand: ast.AST) -> bool:
        """True if a condition, a repair of the result or a torch.where is around: the last is the business of
        where-unsafe-branch."""
        return (
            self.tested(node, operand)
            or self.repaired(node)
            or any(self.is_where(above) for above in self.program.above(node))
        )

    def is_where(self, node: ast.AST) -> bool:
        """True for torch.where with three arguments."""
        return isinstance(node, ast.Call) and self.names.torch_function(node.func) == "where" and len(node.args) == 3

    def bounded(self, node: ast.AST) -> bool:
        """True if something on the way to this expression bounds it."""
        return bounded(self.values, node)

    def made_with(self, node: ast.AST, functions: frozenset[str]) -> bool:
        """True if one of these functions was applied on the way to this expression."""
        return made_with(self.values, node, functions)

    def of_weight(self, node: ast.AST) -> bool:
        """True for what is made of a layer's weight, which no initialisation fills with zeros."""
        return any(
            isinstance(part, ast.Attribute) and part.attr == "weight" for part in ast.walk(self.values.meant(node))
        )

    def repaired(self, node: ast.AST) -> bool:
        """True if the result goes straight into something that replaces bad values."""
        for above in self.program.above(node):
            if isinstance(above, ast.stmt):
                return False
            if isinstance(above, ast.Call) and ((self.names.torch_function(above.func) or method(above)) in REPAIRS):
                return True
        return False

    def tested(self, node: ast.AST, operand: ast.AST) -> bool:
        """True if a condition around the node, or one that leaves the block before it, looks at what the operand is
        made of."""
        terms = self.terms(operand)
        for above in self.program.above(node):
            tests = [above.test] if isinstance(above, (ast.If, ast.IfExp, ast.While)) else []
            tests += above.ifs if isinstance(above, ast.comprehension) else []
            if any(self.mentions(test, terms) for test in tests):
                return True
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                break
        for block, at in self.program.blocks(node):
            for statement in block:
                if place(statement) >= place(at):
                    break
                leaves = isinstance(statement, ast.If) and (
                    changes(statement, terms) or any(isinstance(s, LEAVES) for s in ast.walk(statement))
                )
                if (leaves or isinstance(statement, ast.Assert)) and self.mentions(statement.test, terms):  # type: ignore[attr-defined]
                    return True
        return False

    def terms(self, operand: ast.AST, deep: int = 4) -> set[str]:
        """The names and attributes an expression is made of, and those of their assignments."""
        found: set[str] = set()
        for node in ast.walk(operand):
            name = dotted(node)
            if name is None or name == "self" or self.names.meaning(node) is not None or is_called(self.program, node):
                continue
            found.add(name)
            if deep and isinstance(node, ast.Name):
                for binding in self.values.scope.reaching(node):
                    if binding.value is not None:
                        found |= self.terms(binding.value, deep - 1)
        return found

    def mentions(self, test: ast.AST, terms: set[str]) -> bool:
        """True if a condition looks at the numbers: `is None` and isinstance do not."""
        if isinstance(test, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
            return False
        if isinstance(test, ast.BoolOp):
            return any(self.mentions(part, terms) for part in test.values)
        if (
            isinstance(test, ast.Call)
            and isinstance(test.func, ast.Name)
            and test.func.id in ("isinstance", "hasattr", "callable")
        ):
            return False
        if isinstance(test, ast.UnaryOp):
            return self.mentions(test.operand, terms)
        return any(
            (name := dotted(node)) is not None and name in terms and not is_called(self.program, node)
            for node in ast.walk(test)
        )


def is_called(program: Program, node: ast.AST) -> bool:
    """True for the name of a function in its call."""
    above = program.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def changes(statement: ast.If, terms: set[str]) -> bool:
    """True if a branch gives one of the names another value."""
    return any(
        isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store) and dotted(n) in terms
        for n in ast.walk(statement)
    )
