"""Whether the rows of two values were each put in a random order of their own: two draws, with nothing that repeats the
first between them. The source is read, nothing is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from debugtracer.callsites.origins.argument_origin import calls_on
from debugtracer.callsites.origins.order_origin import names_at, of_scope
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import Link, Use, argument_of, chain, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files, with_words
from debugtracer.trace.birth import Frame

DRAWS = frozenset({"randperm", "permutation", "permuted", "shuffle"})
DRAWN = re.compile(rf"\b(?:{'|'.join(sorted(DRAWS))})\(")
REPEATS = frozenset({
    "seed", "manual_seed", "seed_everything", "set_seed", "setstate", "set_state", "set_rng_state", "default_rng",
    "RandomState", "Random", "Generator", "fork_rng",
})  # fmt: skip
"""Calls between two draws that may make the second one the first again."""
SEEDED = frozenset({"random_state", "generator", "seed", "rng"})
DEEP = 5  # expressions that are gone back through (ours)
MOST = 64  # of them in all (ours)

Draw = tuple[str, int, int]
"""The file, the line and the column of a call that draws an order."""


def drawn_apart(stack: Sequence[Frame], called: str) -> tuple[Frame, Frame] | None:
    """The lines that drew the orders of the inputs and of the targets of the loss on the innermost of these lines, the
    first of the text first; None unless each side has one draw, and none in common."""
    files = program_files()
    program = program_of(stack[0].file) if stack else None
    if program is None or (files is not None and not with_words(files, DRAWN, 2)):
        return None
    calls = [c for c in calls_on(program, stack[0].line) if len(c.args) + len(c.keywords) > 1]
    calls = [c for c in calls if final_name(c.func) == called] or calls[-1:]
    sides = [argument_of(calls[0], name, at) for at, name in enumerate(("input", "target"))] if calls else [None]
    scope, above = scope_at(program, stack[0].line), tuple(stack[1:])
    found = [drawn(Use(program, scope, side, above), stack[0].line) for side in sides if side is not None]
    return of_two(*found) if len(found) == 2 else None


def of_two(one: dict[Draw, ast.Call], other: dict[Draw, ast.Call]) -> tuple[Frame, Frame] | None:
    """The two lines, where each side was drawn once, in one file and by a generator that goes on in between."""
    if len(one) != 1 or len(other) != 1 or one.keys() == other.keys():
        return None
    (first, call), (last, again) = sorted([*one.items(), *other.items()], key=lambda item: item[0])
    program = program_of(first[0]) if first[0] == last[0] else None
    if program is None or any(keyword.arg in SEEDED for each in (call, again) for keyword in each.keywords):
        return None
    holders = {ast.unparse(each.func.value) if isinstance(each.func, ast.Attribute) else "" for each in (call, again)}
    between = (n for n in program.every(ast.Call) if first[1] <= n.lineno <= last[1])
    if len(holders) != 1 or any(final_name(n.func) in REPEATS for n in between):
        return None
    return at_line(program, first[1]), at_line(program, last[1])


def drawn(use: Use, line: int) -> dict[Draw, ast.Call]:
    """The draws of orders that a value is made with."""
    found: dict[Draw, ast.Call] = {}
    gather(use, line, found, set(), 0)
    return found


def gather(use: Use, line: int, found: dict[Draw, ast.Call], seen: set[tuple[str, int, str]], depth: int) -> None:
    """Add the draws in an expression and in those that wrote its names."""
    key = (str(use.program.path), line, ast.unparse(use.node))
    if depth > DEEP or key in seen or len(seen) >= MOST:
        return
    seen.add(key)
    called = {id(node.func) for node in ast.walk(use.node) if isinstance(node, ast.Call)}
    for node in ast.walk(use.node):
        if isinstance(node, ast.Call) and final_name(node.func) in DRAWS:
            found[(str(use.program.path), node.lineno, node.col_offset)] = node
        elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called:
            for link in chain(Use(use.program, use.scope, node, use.above), line):
                of_link(link, found)
                if link.value is not None:
                    gather(link.value, link.frame.line, found, seen, depth + 1)


def of_link(link: Link, found: dict[Draw, ast.Call]) -> None:
    """Add the statement that shuffles in place what a line writes."""
    if link.value is None:
        return
    names = names_of(link.value, link.frame.line)
    for node in link.value.program.every(ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call) or final_name(call.func) not in DRAWS or not of_scope(link.value, call):
            continue
        if any(isinstance(one, ast.Name) and one.id in names for one in call.args[:1]):
            found[(str(link.value.program.path), call.lineno, call.col_offset)] = call


def names_of(use: Use, line: int) -> set[str]:
    """The names that get this very value on a line; of `a, b = x, y` one."""
    for node in use.program.every(ast.Assign):
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                return {ast.unparse(name) for name, value in pairs if value is use.node}
    return names_at(use, line)
