"""The part of the data that was made beside the one which two loaders are given, and that is read nowhere. The source
is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


class Unread(NamedTuple):
    """A value that nothing takes."""

    name: str
    line: Frame
    """Where it is made."""


def unread_beside(one: Frame | None, other: Frame | None) -> Unread | None:
    """What is unpacked from the same statement as the dataset that both lines give to a DataLoader, or made by the same
    call, and is never read; None where they are given two datasets, or nothing is left over."""
    program = program_of(other.file) if one is not None and other is not None and one.file == other.file else None
    if program is None or one is None or other is None or one.line == other.line:
        return None
    given = dataset_at(program, other.line)
    first = dataset_at(program, one.line)
    if given is None or first is None or ast.dump(given) != ast.dump(first):
        return None
    own, written = ast.unparse(given), list(assignments(program))
    for node, names in written:
        if own not in names:
            continue
        beside = [(node, names), *(pair for pair in written if same_call(pair[0], node))]
        for made, name in ((made, name) for made, more in beside for name in more):
            if name != own and not name.startswith("_") and not is_read(program, name):
                return Unread(name, at_line(program, made.lineno))
    return None


def dataset_at(program: Program, line: int) -> ast.expr | None:
    """What the only DataLoader of a line is given as its dataset."""
    calls = [
        node
        for node in program.every(ast.Call)
        if node.lineno <= line <= (node.end_lineno or node.lineno) and final_name(node.func) == "DataLoader"
    ]
    if len(calls) != 1:
        return None
    named = next((k.value for k in calls[0].keywords if k.arg == "dataset"), None)
    given = named if named is not None else next(iter(calls[0].args), None)
    return given if isinstance(given, (ast.Name, ast.Attribute)) else None


def assignments(program: Program) -> Iterator[tuple[ast.Assign, list[str]]]:
    """Yield the statements that give names a value, with the names that they unpack."""
    for node in program.every(ast.Assign):
        target = node.targets[0]
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        yield node, [ast.unparse(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))]


def same_call(one: ast.Assign, other: ast.Assign) -> bool:
    """Whether two statements call the same class or function."""
    calls = one.value, other.value
    return (
        one is not other
        and isinstance(calls[0], ast.Call)
        and isinstance(calls[1], ast.Call)
        and ast.dump(calls[0].func) == ast.dump(calls[1].func)
    )


def is_read(program: Program, name: str) -> bool:
    """Whether some line of the file takes what has this name; of an attribute, of whatever object."""
    word = name.rpartition(".")[2]
    return any(node.id == word and isinstance(node.ctx, ast.Load) for node in program.every(ast.Name)) or any(
        node.attr == word and isinstance(node.ctx, ast.Load) for node in program.every(ast.Attribute)
    )
