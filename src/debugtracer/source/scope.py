"""Where a name got its value: the assignments that can reach a use, the nearest that must and those on branches
since."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.program import Program, methods, place


@dataclass(frozen=True)
class Binding:
    """One assignment. `value` is None where the value is not known (a loop target, an in-place change)."""

    name: str
    node: ast.AST
    value: ast.expr | None
    add: ast.AugAssign | None = None
    parameter: int | None = None


class Scope:
    """Every assignment of a file by function and name."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: dict[tuple[ast.AST | None, str], list[Binding]] = defaultdict(list)
        for node in program.nodes:
            for binding in bindings(node):
                self.found[program.function(node), binding.name].append(binding)
        self.reached: dict[int, list[Binding]] = {}
        self.changed = {name for node in program.nodes for name in changed_attributes(node)}

    def reaching(self, use: ast.Name) -> list[Binding]:
        """The assignments that can be the value of this use; empty if it is unknown here."""
        if id(use) not in self.reached:
            self.reached[id(use)] = self.looked_up(use)
        return self.reached[id(use)]

    def looked_up(self, use: ast.Name) -> list[Binding]:
        """Search the bindings that can reach this use, from its own function outwards."""
        home: ast.AST | None = self.program.function(use)
        while True:
            known = [b for b in self.found.get((home, use.id), []) if not inside(self.program, b.node, use)]
            if known:
                return self.nearest(known, use) if home is self.program.function(use) else known
            if home is None:
                return []
            home = self.program.function(home)

    def nearest(self, known: list[Binding], use: ast.AST) -> list[Binding]:
        """The last assignment that is always passed, those on branches after it, and those later in a loop around the
        use."""
        around = {
            id(s)
            for block, at in self.program.blocks(use)
            for statement in block
            if place(statement) < place(at)
            for s in passed(statement)
        }
        before = [b for b in known if place(b.node) < place(use)]
        always = [b for b in before if b.parameter is not None or id(self.program.statement(b.node)) in around]
        last = max(always, key=lambda b: place(b.node), default=None)
        since = [b for b in before if last is None or place(b.node) > place(last.node)]
        loops = [
            a
            for a in self.program.above(use)
            if isinstance(a, (ast.For, ast.While)) and (last is None or not within(self.program, last.node, a))
        ]
        later = [
            b for b in known if place(b.node) > place(use) and any(within(self.program, b.node, loop) for loop in loops)
        ]
        return [*([last] if last is not None else []), *since, *later]

    def attribute(self, owner: ast.ClassDef, name: str) -> list[ast.expr | None]:
        """What `self.name` is set to anywhere in the class; None for what is not known."""
        told: list[ast.expr | None] = [None] if name in self.changed else []
        for function in methods(owner).values():
            for node in ast.walk(function):
                told += [
                    value
                    for target, value in targets(node)
                    if isinstance(target, ast.Attribute) and is_self(target.value) and target.attr == name
                ]
        for node in owner.body:
            told += [value for target, value in targets(node) if isinstance(target, ast.Name) and target.id == name]
        return told


def changed_attributes(node: ast.AST) -> Iterator[str]:
    """Yield attributes that are counted up, or set on an object from outside its class."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
        yield node.target.attr
    for target, _ in targets(node):
        if isinstance(target, ast.Attribute) and not is_self(target.value):
            yield target.attr


def passed(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, and those that are executed with it in any case: the body of a `with`."""
    yield statement
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        for inner in statement.body:
            yield from passed(inner)


def is_self(node: ast.AST) -> bool:
    """True for the object of a method, `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def within(program: Program, node: ast.AST, holder: ast.AST) -> bool:
    """True if the node is somewhere in the holder."""
    return any(above is holder for above in program.above(node))


def inside(program: Program, binding: ast.AST, use: ast.AST) -> bool:
    """True if the use is on the right-hand side of this very assignment."""
    return within(program, use, binding) and not isinstance(
        binding, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.comprehension)
    )


def targets(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Yield targets of an assignment with their values; a tuple of the same length is taken apart."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from pairs(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from pairs(node.target, None)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                yield from pairs(item.optional_vars, None)


def pairs(target: ast.AST, value: ast.expr | None) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Yield one target, or each of a tuple."""
    if isinstance(target, (ast.Tuple, ast.List)):
        known = (
            value.elts
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            else [None] * len(target.elts)
        )
        for one, part in zip(target.elts, known, strict=True):
            yield from pairs(one, part)
    elif isinstance(target, ast.Starred):
        yield target.value, None
    else:
        yield target, value


def bindings(node: ast.AST) -> Iterator[Binding]:
    """The names that a node gives values to."""
    for target, value in targets(node):
        if isinstance(target, ast.Name):
            yield Binding(target.id, node, value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield Binding(target.value.id, node, None)
    if isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            yield Binding(node.target.id, node, None, add=node)
        elif isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Name):
            yield Binding(node.target.value.id, node, None)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        changed = node.value.func
        if changed.attr.endswith("_") and not changed.attr.endswith("__") and isinstance(changed.value, ast.Name):
            yield Binding(changed.value.id, node, None)
    elif isinstance(node, ast.arguments):
        every = [*node.posonlyargs, *node.args]
        for number, argument in enumerate(every):
            yield Binding(argument.arg, argument, None, parameter=number)
        for argument in (*node.kwonlyargs, *(a for a in (node.vararg, node.kwarg) if a is not None)):
            yield Binding(argument.arg, argument, None, parameter=-1)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield Binding(node.name, node, None)
