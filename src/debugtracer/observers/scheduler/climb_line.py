"""Which line of a schedule written by hand makes the rate climb: the one that multiplies it by a count and divides by
nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name, returns, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

DEEP = 4  # names and calls followed from the write (ours)
Given = tuple[Program, Function | None, ast.expr, int]
"""A file, the function of it, an expression that gives the rate and its line."""


def climb_line(files: Iterable[str], given: Frame | None = None) -> Frame | None:
    """The only line that counts up, of all that can have given the rate: of the function of `given`, the line of a
    scheduler's function, else of what these files write into `param_groups[...]["lr"]`. None where none does, or
    several."""
    found = {(str(p.path), line): (p, line) for p, _, node, line in expressions(files, given) if counts_up(node)}
    return at_line(*next(iter(found.values()))) if len(found) == 1 else None


def expressions(files: Iterable[str], given: Frame | None) -> Iterator[Given]:
    """Yield what can have given the rate."""
    for begin in returned(given) if given is not None else written(files):
        yield from followed(begin, DEEP)


def returned(given: Frame) -> Iterator[Given]:
    """Yield what the function around a line returns."""
    program = program_of(given.file)
    scope = scope_at(program, given.line) if program is not None else None
    if scope is None or scope.name != given.function:
        return  # a lambda
    for node in returns(program, scope) if program is not None else ():
        if node.value is not None and program is not None:
            yield program, scope, node.value, node.lineno


def written(files: Iterable[str]) -> Iterator[Given]:
    """Yield what the first of the files that writes a rate writes."""
    for file in dict.fromkeys(files):
        program = program_of(file)
        writes = [n for n in program.nodes if writes_rate(n)] if program is not None else []
        for node in writes:
            if program is not None and isinstance(node, (ast.Assign, ast.AugAssign)):
                yield program, scope_at(program, node.lineno), node.value, node.lineno
        if writes:
            return


def followed(given: Given, depth: int) -> Iterator[Given]:
    """Yield an expression; of a conditional one both sides, of a name all that its function writes to it, of a call of
    a function of the program, also one that is a factor, all that this returns."""
    inner = list(within(given)) if depth else []
    if not inner:
        yield given
    for one in inner:
        yield from followed(one, depth - 1)


def within(given: Given) -> Iterator[Given]:
    """Yield what an expression was taken from."""
    program, scope, node, _ = given
    factors = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else [node]
    calls = [one for one in factors if isinstance(one, ast.Call)]
    if isinstance(node, ast.IfExp):
        yield from ((program, scope, one, one.lineno) for one in (node.body, node.orelse))
    elif isinstance(node, ast.Name):
        every = [w for w in writes_of(scope or program.tree, node.id) if program.function(w.node) is scope]
        for one in every:
            if one.value is not None and one.part is None:
                yield program, scope, one.value, one.node.lineno
    elif len(calls) == 1 and (called := called_function(program, scope, calls[0], program_of)) is not None:
        for last in returns(*called):
            if last.value is not None:
                yield *called, last.value, last.lineno


def writes_rate(node: ast.AST) -> bool:
    """True for `group["lr"] = rate` and `group["lr"] *= factor`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return any(
        isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Constant) and t.slice.value == "lr" for t in targets
    )


def counts_up(node: ast.expr) -> bool:
    """Whether an expression is a sum or product of two things that are not written out, or a sum of one, without a
    division, a power, a difference or a call that bounds it."""
    every = list(ast.walk(node))
    operations = [n for n in every if isinstance(n, ast.BinOp)]
    shrinks = any(isinstance(n.op, (ast.Div, ast.FloorDiv, ast.Pow, ast.Sub, ast.Mod)) for n in operations)
    bounded = any(isinstance(n, ast.Call) and final_name(n.func) not in ("float", "int") for n in every)
    counted = any(
        isinstance(n.op, ast.Add) or (literal(n.left) is None and literal(n.right) is None)
        for n in operations
        if literal(n.left) is None or literal(n.right) is None
    )
    return counted and not (shrinks or bounded)
