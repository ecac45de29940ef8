"""What a loop over a loader counts, and what the lines behind it make of the counts: read in the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from debugtracer.callsites.origins.value_origin import scope_at
from debugtracer.callsites.origins.written_names import final_name, names_in, writes_of
from debugtracer.source.program import Program

COUNTED = frozenset({"size", "len", "numel", "shape", "nelement"})
PLAIN = frozenset({"float", "int", "item", "double"})
Loop = ast.For | ast.AsyncFor | ast.While


class PassTally(NamedTuple):
    """One name of a loop. `kept`: added to, and set before a loop around this one, or where its object is built;
    `listed`: a list that is appended to, made before a loop around this one, and summed and divided behind this one;
    `meter`: an object that is told of each batch, and asked behind the loop; `shared`: added to from 0, counts equal
    elements, and is divided; `last`: each turn writes it anew, and the lines behind the loop read it."""

    kind: Literal["kept", "listed", "meter", "shared", "last"]
    name: str
    write: ast.stmt
    """The statement of the loop that writes it."""
    begun: ast.stmt | None
    """The statement that sets it before."""
    use: ast.expr
    """What is made of it behind the loop: a division, or a comparison."""
    divisor: ast.expr | None = None
    sides: tuple[str, ...] = ()
    """Names of the tensors whose elements are compared."""
    mean: bool = False
    """What it is divided by goes on from pass to pass as well."""


def loop_at(program: Program, line: int) -> ast.For | None:
    """The loop whose head holds a line."""
    heads = [one for one in program.every(ast.For) if one.lineno <= line <= (one.iter.end_lineno or one.lineno)]
    return heads[-1] if heads else None


def pass_tallies(program: Program, loop: ast.For) -> Iterator[PassTally]:
    """Yield what is counted in a loop that runs to its end."""
    if any(isinstance(node, (ast.Break, ast.Return, ast.Yield)) for node in ast.walk(loop)):
        return
    batch = of_batch(loop)
    behind = list(lines_behind(program, loop))
    for node in ast.walk(loop):
        added = added_to(node)
        if added is not None:
            yield from adding(program, loop, added, batch, behind)
        elif isinstance(node, ast.Assign) and each_turn(program, loop, node):
            yield from writing_anew(loop, node, behind)
        elif isinstance(node, ast.Expr):
            yield from updating(node, batch, behind)
            yield from appending(program, loop, node, batch, behind)


def adding(
    program: Program, loop: ast.For, added: tuple[str, ast.stmt, ast.expr], batch: set[str], behind: list[ast.AST]
) -> Iterator[PassTally]:
    """Yield a count of the batches that a division or a comparison behind the loop is made of."""
    name, write, value = added
    if not names_in(value) & batch or is_row_count(value):
        return
    scope = scope_at(program, loop.lineno)
    every = [one.node for one in writes_of(scope or program.tree, name) if program.function(one.node) is scope]
    inside = [one for one in every if within(loop, one)]
    if any(added_to(one) is None for one in inside):
        return
    set_by = [one for one in every if one not in inside and one.lineno < loop.lineno and isinstance(one, ast.Assign)]
    use = best_use(behind, name)
    if use is not None and not set_by and (built := set_in_init(program, loop, name)) is not None:
        divisor = use.right if isinstance(use, ast.BinOp) else None
        owner = program.owner(loop) or loop
        goes_on = divisor is None or any(added_to(w.node) for one in held_in(divisor) for w in writes_of(owner, one))
        if not goes_on:
            yield PassTally("kept", name, write, built, use, divisor)
        return
    if use is None or not set_by or any(added_to(one) is not None for one in every if one not in inside):
        return
    begun, around = set_by[-1], loop_around(program, loop)
    divisor = use.right if isinstance(use, ast.BinOp) else None
    if around is not None and not within(around, begun):
        turns = names_in(around.target) if isinstance(around, (ast.For, ast.AsyncFor)) else set()
        again = any(within(around, one) for one in every if one not in inside)
        if not again and not (divisor is not None and names_in(divisor) & turns):
            mean = divisor is not None and any(writes_of(loop, one) for one in names_in(divisor))
            yield PassTally("kept", name, write, begun, use, divisor, mean=mean)
    elif is_zero(begun) and divisor is not None and len(inside) == 1:
        holder: ast.AST = scope or program.tree
        late = [w for one in names_in(divisor) for w in writes_of(holder, one) if w.node.lineno >= loop.lineno]
        sides = compared(value)
        if sides and not late and each_turn(program, loop, write):
            yield PassTally("shared", name, write, begun, use, divisor, sides)


def writing_anew(loop: ast.For, write: ast.Assign, behind: list[ast.AST]) -> Iterator[PassTally]:
    """Yield a count of one batch that only the lines behind the loop read."""
    sides, name = compared(write.value), ast.unparse(write.targets[0])
    read = [one for one in ast.walk(loop) if isinstance(one, ast.Name) and one.id == name]
    if not sides or len(read) != 1:
        return
    use: ast.expr | None = best_use(behind, name)
    if use is None:
        use = next((one for one in behind if isinstance(one, ast.Name) and one.id == name), None)
    if use is not None and isinstance(getattr(use, "ctx", ast.Load()), ast.Load):
        yield PassTally("last", name, write, None, use, None, sides)


def updating(node: ast.Expr, batch: set[str], behind: list[ast.AST]) -> Iterator[PassTally]:
    """Yield an object whose `update` is called with something of the batch, and that is asked behind the loop."""
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return
    held = call.func.value
    if is_held(held) and any(names_in(one) & batch and not is_row_count(one) for one in call.args):
        name = ast.unparse(held)
        use = next((one for one in behind if isinstance(one, ast.Attribute) and ast.unparse(one.value) == name), None)
        if use is not None:
            yield PassTally("meter", name, node, None, use)


def appending(
    program: Program, loop: ast.For, node: ast.Expr, batch: set[str], behind: list[ast.AST]
) -> Iterator[PassTally]:
    """Yield a list of something of the batches whose sum is divided behind the loop, by another number than its own
    length; one that the loop around makes anew or empties is left alone."""
    call, around = node.value, loop_around(program, loop)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return
    held = call.func.value
    if around is None or not isinstance(held, ast.Name) or not any(names_in(one) & batch for one in call.args):
        return
    scope = scope_at(program, loop.lineno)
    every = [one.node for one in writes_of(scope or program.tree, held.id) if program.function(one.node) is scope]
    every = [one for one in every if not isinstance(one, ast.Expr)]  # calls of its methods
    begun = every[0] if len(every) == 1 else None
    if not isinstance(begun, ast.Assign) or within(around, begun) or begun.lineno > loop.lineno:
        return
    cleared = [one for one in ast.walk(around) if is_emptied(one, held.id)]
    turns = names_in(around.target) if isinstance(around, (ast.For, ast.AsyncFor)) else set()
    for use in [] if cleared else behind:
        if isinstance(use, ast.BinOp) and isinstance(use.op, ast.Div) and is_sum(use.left, held.id):
            goes_on = any(writes_of(around, one) for one in names_in(use.right))
            if not goes_on and not names_in(use.right) & {held.id, *turns}:
                yield PassTally("listed", held.id, node, begun, use, use.right)
                return


def is_sum(node: ast.expr, name: str) -> bool:
    """Whether an expression is the sum of a whole list."""
    added = node.args if isinstance(node, ast.Call) and final_name(node.func) == "sum" else []
    return [ast.unparse(one) for one in added] == [name]


def is_emptied(node: ast.AST, name: str) -> bool:
    """Whether something is taken out of a list."""
    if isinstance(node, ast.Delete):
        return any(name in names_in(one) for one in node.targets)
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(one, ast.Subscript) and name in names_in(one.value) for one in targets)
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called in (f"{name}.clear", f"{name}.pop", f"{name}.remove")


def set_in_init(program: Program, loop: ast.For, name: str) -> ast.stmt | None:
    """The line of `__init__` that sets an attribute which no other method of its class sets."""
    owner = program.owner(loop) if name.startswith("self.") else None
    every = [one.node for one in writes_of(owner, name)] if owner is not None else []
    sets = [one for one in every if added_to(one) is None]
    scope = program.function(sets[0]) if len(sets) == 1 else None
    return sets[0] if isinstance(scope, ast.FunctionDef) and scope.name == "__init__" else None


def held_in(node: ast.expr) -> set[str]:
    """The names in an expression, and the attributes of names."""
    return names_in(node) | {ast.unparse(one) for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def added_to(node: ast.AST) -> tuple[str, ast.stmt, ast.expr] | None:
    """The name that `x += value` or `x = x + value` adds to, and the value."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and is_held(node.target):
        return ast.unparse(node.target), node, node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.BinOp):
        name, sides = ast.unparse(node.targets[0]), (node.value.left, node.value.right)
        others = [one for one in sides if ast.unparse(one) != name]
        if isinstance(node.value.op, ast.Add) and is_held(node.targets[0]) and len(others) == 1:
            return name, node, others[0]
    return None


def is_held(target: ast.expr) -> bool:
    """Whether it is a name, or an attribute of one."""
    return isinstance(target.value if isinstance(target, ast.Attribute) else target, ast.Name)


def of_batch(loop: ast.For) -> set[str]:
    """The names that a turn of the loop computes of its batch."""
    found = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    if final_name(getattr(loop.iter, "func", loop.iter)) == "enumerate" and isinstance(loop.target, ast.Tuple):
        found -= {one.id for one in loop.target.elts[:1] if isinstance(one, ast.Name)}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and names_in(node.value) & found:
            found |= {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def is_row_count(value: ast.expr) -> bool:
    """Whether a value says how large a batch is."""
    words = {final_name(one) for one in ast.walk(value) if isinstance(one, (ast.Name, ast.Attribute))}
    return bool(words & COUNTED) and not any(isinstance(one, ast.BinOp) for one in ast.walk(value))


def lines_behind(program: Program, loop: ast.For) -> Iterator[ast.AST]:
    """Yield all nodes behind a loop, in its function and in the loop around it."""
    scope = scope_at(program, loop.lineno)
    holder: ast.AST = loop_around(program, loop) or scope or program.tree
    for node in ast.walk(holder):
        if getattr(node, "lineno", 0) > (loop.end_lineno or 0) and program.function(node) is scope:
            yield node


def loop_around(program: Program, loop: ast.For) -> Loop | None:
    """The loop around this one in the same function."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    above = takewhile(lambda one: not isinstance(one, functions), program.above(loop))
    return next((one for one in above if isinstance(one, Loop)), None)


def best_use(behind: list[ast.AST], name: str) -> ast.BinOp | ast.Compare | None:
    """Where a count is divided, times a number at most; or compared with the best so far, which it then becomes."""
    for node in behind:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and is_count(node.left, name):
            return node
    taken = {ast.unparse(one.targets[0]) for one in behind if isinstance(one, ast.Assign) and is_count(one.value, name)}
    for node in behind:
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Lt, ast.Gt)):
            continue
        if is_count(node.left, name) and ast.unparse(node.comparators[0]) in taken:
            return node
    return None


def is_count(node: ast.expr, name: str) -> bool:
    """Whether an expression is the count alone: converted, or times 100."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        return any(isinstance(a, ast.Constant) and is_count(b, name) for a, b in (sides, sides[::-1]))
    if isinstance(node, ast.Call) and final_name(node.func) in PLAIN:
        held = node.func.value if isinstance(node.func, ast.Attribute) else None
        given = node.args[0] if node.args else held
        return given is not None and is_count(given, name)
    return is_held(node) and ast.unparse(node) == name if isinstance(node, (ast.Name, ast.Attribute)) else False


def compared(value: ast.expr) -> tuple[str, ...]:
    """The names on the sides of the one comparison that `(a == b).sum().item()` counts; nothing of a weighed sum."""
    nodes = list(ast.walk(value))
    words = {final_name(one.func) for one in nodes if isinstance(one, ast.Call)}
    if "sum" not in words or any(isinstance(one, ast.BinOp) for one in nodes):
        return ()
    equal = [sides for one in nodes if (sides := equal_sides(one))]
    return tuple(one.id for one in equal[0] if isinstance(one, ast.Name)) if len(equal) == 1 else ()


def equal_sides(node: ast.AST) -> list[ast.expr]:
    """What `a == b`, `a.eq(b)` or `torch.eq(a, b)` compares."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return [node.left, node.comparators[0]]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "eq" and node.args:
        return [node.func.value, *node.args] if len(node.args) == 1 else list(node.args)
    return []


def is_zero(node: ast.stmt) -> bool:
    """Whether a statement sets names to 0."""
    value = node.value if isinstance(node, ast.Assign) else None
    every = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(one, ast.Constant) and one.value == 0 for one in every)


def each_turn(program: Program, loop: ast.For, write: ast.stmt) -> bool:
    """Whether a statement runs once in each turn: no turn is left out, and no condition or loop stands between."""
    between = takewhile(lambda one: one is not loop, program.above(write))
    plain = all(isinstance(one, (ast.With, ast.AsyncWith)) for one in between)
    return plain and not any(isinstance(node, ast.Continue) for node in ast.walk(loop))


def within(holder: ast.AST, node: ast.AST) -> bool:
    """Whether a statement is a part of another one."""
    return any(one is node for one in ast.walk(holder))
