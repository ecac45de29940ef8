"""Where two counts change places on their way: a function returns them in one order and is unpacked in the other, or a
call hands them over in the other order of its parameters. The names are compared with each other, never read."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.origins.called_function import called_function, class_named, imported_module
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, parameters, returns
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame


class ExchangedNames(NamedTuple):
    """Both lines; `taken` is None where it is a call that exchanges them."""

    given: Frame
    """The line that returns them, or the call."""
    taken: Frame | None = None
    """The line that unpacks them."""


def exchanged_names(error: BaseException, files: Sequence[str], pair: tuple[int, int]) -> ExchangedNames | None:
    """The only place of the program at which two names with these two numbers change places; None for none and for
    several."""
    found: dict[Frame, ExchangedNames] = {}
    for program in (p for file in files if (p := program_of(file)) is not None):
        for node in program.nodes:
            places = unpacked(program, node) if isinstance(node, ast.Assign) else handed(program, node)
            for names, one in places:
                if numbers_of(error, program, scope_at(program, node.lineno), names) == set(pair):  # type: ignore[attr-defined]
                    found[one.given] = one
    return next(iter(found.values())) if len(found) == 1 else None


def unpacked(program: Program, node: ast.Assign) -> Iterator[tuple[tuple[str, str], ExchangedNames]]:
    """Yield two names of `a, b = made()` that the function returns as `b, a`."""
    target, call = node.targets[-1], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(call, ast.Call):
        return
    called = called_function(program, scope_at(program, node.lineno), call, program_of)
    if called is None or not (found := returns(*called)):
        return
    last = found[-1]
    if isinstance(last.value, ast.Tuple) and len(last.value.elts) == len(target.elts):
        for names in crossed(plain(last.value.elts), plain(target.elts)):
            yield names, ExchangedNames(at_line(called[0], last.lineno), at_line(program, node.lineno))


def handed(program: Program, node: ast.AST) -> Iterator[tuple[tuple[str, str], ExchangedNames]]:
    """Yield two names of `Made(b, a)` whose parameters are `a, b`."""
    called = callee(program, node) if isinstance(node, ast.Call) and len(node.args) > 1 else None
    if called is None or not isinstance(node, ast.Call):
        return
    named = parameters(called)
    for names in crossed(plain(node.args), named[named[:1] == ["self"] :]):
        yield names, ExchangedNames(at_line(program, node.lineno))


def callee(program: Program, call: ast.Call) -> Function | None:
    """The function of the user's that a call runs, of a class its __init__."""
    named = call.func
    held = class_named(program, named.id, program_of) if isinstance(named, ast.Name) else None
    if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name):
        module = imported_module(program, named.value.id, program_of)
        held = class_named(module, named.attr, program_of) if module is not None else None
    if held is not None:
        return methods(held[1]).get("__init__")
    called = called_function(program, scope_at(program, call.lineno), call, program_of)
    return called[1] if called is not None else None


def plain(nodes: Sequence[ast.expr]) -> list[str]:
    """The plain names; empty for what is none."""
    return [node.id if isinstance(node, ast.Name) else "" for node in nodes]


def crossed(given: Sequence[str], taken: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield two names of which either stands in the place of the other."""
    for place, name in enumerate(given[: len(taken)]):
        other = taken[place]
        if name and other and name != other and taken.count(name) == 1 and taken.index(name) > place:
            there = taken.index(name)
            if there < len(given) and given[there] == other:
                yield name, other


def numbers_of(error: BaseException, program: Program, scope: Function | None, names: tuple[str, str]) -> set[int]:
    """The whole numbers that two names have in a scope that is still alive."""
    held = held_in(error, str(program.path), scope)
    return {int(held[name]) for name in names if hasattr(held.get(name), "__index__")}


def held_in(error: BaseException, file: str, function: Function | None) -> Mapping[str, Any]:
    """The names of a function of the traceback, or of its file."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename != file:
            continue
        if function is None:
            return frame.f_globals
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        if frame.f_code.co_name == function.name and frame.f_code.co_firstlineno == first:
            return locals_of(frame)
    return {}
