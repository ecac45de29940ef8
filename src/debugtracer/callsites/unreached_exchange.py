"""The line of a program that would exchange tensors between ranks and was never reached. Read from the source, nothing
is run."""

from __future__ import annotations

import ast
from collections.abc import Set

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import imported_files
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

EXCHANGES = frozenset({"all_reduce", "all_reduce_coalesced", "all_gather", "all_gather_into_tensor", "reduce_scatter"})
LEAVES = (ast.Continue, ast.Break, ast.Return)
MANY = 200  # files of the user's that are read (ours)


def unreached_exchange(reached: Set[tuple[str, int]]) -> Frame | None:
    """The only call of such a function, in the files that this process has imported, at none of the lines that were
    reached: its place is that of the condition over it, where it has one. None where there is none, or more."""
    own = sorted({file for file in imported_files() if file.endswith(".py")})[:MANY]
    found = [(p, node) for file in own if (p := program_of(file)) is not None for node in left_out(p, file, reached)]
    holders = {id(program.function(node)) for program, node in found}
    return at(*found[0]) if len(holders) == 1 else None


def left_out(program: Program, file: str, reached: Set[tuple[str, int]]) -> list[ast.Call]:
    """The calls in one file that no reached line is part of."""
    lines = {line for where, line in reached if where == file}
    return [
        node
        for node in program.nodes
        if isinstance(node, ast.Call)
        and final_name(node.func) in EXCHANGES
        and not lines & set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    ]


def at(program: Program, node: ast.Call) -> Frame:
    """The line of the innermost condition that lets a call in its function be reached or not, else its own."""
    line = next((c.lineno for block, inside in program.blocks(node) if (c := condition(block, inside))), node.lineno)
    return at_line(program, line)


def condition(block: list[ast.stmt], inside: ast.stmt) -> ast.If | None:
    """A statement that is a condition itself, or the last one before it that leaves the block."""
    if isinstance(inside, ast.If):
        return inside
    before = [s for s in block[: block.index(inside)] if isinstance(s, ast.If) and isinstance(s.body[-1], LEAVES)]
    return before[-1] if before else None
