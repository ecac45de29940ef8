"""Dicts that number words, which the program can reach while it trains, and the line that made each."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from debugtracer.callsites.filled_dicts import PLAIN, home_of, numbers_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.stored_entries import Held, reachable
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

FEWEST, LONGEST = 8, 1 << 20  # entries (ours)


class WordTable(NamedTuple):
    """A dict from words to whole numbers, each its own, from 0 or 1 on without gaps."""

    held: Held
    ids: dict[str, int]


def word_tables(others: tuple[Any, ...] = ()) -> list[WordTable]:
    """The tables that the functions on the stack can reach, and those that these objects hold, each once."""
    found: dict[int, Held] = {}
    for held in [*reachable(), *held_by(others)]:
        found.setdefault(id(held.value), held)
    return [WordTable(held, held.value) for held in found.values() if is_table(held.value)]


def held_by(others: tuple[Any, ...]) -> Iterator[Held]:
    """Yield the attributes of some objects, and of what they hold of the user's classes."""
    for one in others:
        for name, value in list(vars(one).items()) if hasattr(one, "__dict__") else ():
            yield Held(value, name, one)
            inside = vars(value) if hasattr(value, "__dict__") and not isinstance(value, type) else {}
            yield from (Held(below, own, value) for own, below in list(inside.items()))


def is_table(value: Any) -> bool:
    """Whether a dict numbers words."""
    if type(value) not in PLAIN or not FEWEST <= len(value) <= LONGEST:
        return False
    if not all(type(word) is str for word in itertools.islice(value, FEWEST)):
        return False
    numbers = numbers_of(value)
    return numbers is not None and min(numbers) in (0, 1) and max(numbers) - min(numbers) == len(numbers) - 1


def made_at(held: Held) -> Frame | None:
    """The last line that gives the name of a table its value, in the file where it was found. Reads source."""
    programs = [program for file in home_of(held) if (program := program_of(file)) is not None]
    lines = [
        (inside(program, node, held), at_line(program, node.lineno))
        for program in programs
        for node in program.every(ast.Assign)
        if any(final_name(target) == held.name for one in node.targets for target in parts_of(one))
    ]
    best = max((own for own, _ in lines), default=0)
    kept = [line for own, line in lines if own == best]
    return kept[-1] if kept else None


def inside(program: Program, node: ast.AST, held: Held) -> int:
    """Give 1 where a statement stands in the function, or the class, that holds the table, else 0."""
    if not isinstance(held.owner, CodeType):
        owner = program.owner(node)
        return int(owner is not None and owner.name == type(held.owner).__name__)
    function = program.function(node)
    return int(getattr(function, "name", "<module>") == held.owner.co_name)


def parts_of(target: ast.expr) -> list[ast.expr]:
    """The names that an assignment writes."""
    return list(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]
