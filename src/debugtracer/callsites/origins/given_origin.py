"""The lines that made a tensor which a class of a library was built with, as the weights of a loss."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.only_caller import written
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.value_origin import Link, Use, argument_of, each_once, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files


def given_origin(kind: type, name: str) -> tuple[Link, ...]:
    """The lines behind the argument of this name where the program builds such an object, the last writer first; empty
    where the class takes none of that name, or where several lines give one. Reads source."""
    try:
        names = list(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return ()  # a class of C says nothing of its arguments
    given = list(uses(kind.__name__, name, names.index(name))) if name in names else []
    return each_once(written(given[0], given[0].node.lineno)) if len(given) == 1 else ()


def uses(called: str, name: str, place: int) -> Iterator[Use]:
    """Yield what each call of a name in the program gives an argument."""
    programs = programs_of(program_files())
    for program in programs:
        for node in program.nodes:
            if isinstance(node, ast.Call) and final_name(node.func) == called:
                value = argument_of(node, name, place)
                if value is not None:
                    yield Use(program, scope_at(program, node.lineno), carrier(value))
