"""A lookup that gives unknown values the length of its own table as their id, where the rows are counted by that very
length: one row short. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.written_names import final_name, returns, writes_of
from debugtracer.callsites.program_files import program_files
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame


class FallbackId(NamedTuple):
    """Where the length is taken, and where the id of unknown values is given."""

    length: Frame
    given: Frame


def fallback_id() -> FallbackId | None:
    """The only such pair of lines in the files of the program; None where there is none, or more than one."""
    programs = programs_of(program_files())
    found = list(dict.fromkeys(pair for program in programs for pair in pairs(program)))
    return found[0] if len(found) == 1 else None


def pairs(program: Program) -> Iterator[FallbackId]:
    """Yield them of one file: a class whose `__len__` is the length that its lookup gives unknown values, or a name
    whose length is both that id and counted for something else."""
    for node in program.nodes:
        table = looked_up(program, node) if isinstance(node, ast.expr) else None
        if table is None or not isinstance(node, ast.expr) or writes(program.statement(node), table):
            continue
        owner, length = program.owner(node), f"len({table})"
        method = methods(owner).get("__len__") if owner is not None else None
        own = returns(program, method)[-1:] if method is not None else []
        if table.startswith("self."):
            if own and own[0].value is not None and ast.unparse(own[0].value) == length:
                yield FallbackId(at_line(program, own[0].lineno), at_line(program, node.lineno))
            continue
        sizes = [n for n in program.every(ast.Assign) if ast.unparse(n.value) == length]
        sizes = [n for n in sizes if not any(other is n for other in program.above(node))]
        if len(sizes) == 1:
            yield FallbackId(at_line(program, sizes[0].lineno), at_line(program, node.lineno))


def writes(statement: ast.stmt | None, table: str) -> bool:
    """Whether a statement numbers what is new: `ids[word] = ids.get(word, len(ids))`."""
    return statement is not None and bool(writes_of(statement, table))


def looked_up(program: Program, node: ast.AST) -> str | None:
    """The table of a lookup whose fallback is its own length: `ids.get(word, len(ids))`, `ids[w] if w in ids else
    len(ids)`; None for anything else."""
    if isinstance(node, ast.Call) and final_name(node.func) == "get" and len(node.args) == 2:
        table, fallback = node.func.value if isinstance(node.func, ast.Attribute) else None, node.args[1]
    elif isinstance(node, ast.IfExp) and isinstance(node.body, ast.Subscript) and isinstance(node.test, ast.Compare):
        known = len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.In)
        table, fallback = node.body.value if known else None, node.orelse
    else:
        return None
    name = ast.unparse(table) if table is not None else ""
    if isinstance(fallback, ast.Attribute) and (owner := program.owner(node)) is not None:
        written = writes_of(owner, ast.unparse(fallback))
        fallback = written[0].value or fallback if len(written) == 1 else fallback
    return name if name and ast.unparse(fallback) == f"len({name})" else None
