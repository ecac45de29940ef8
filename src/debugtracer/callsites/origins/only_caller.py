"""What a function of the program is given for a parameter where no call of it is on the stack any more: by the calls of
its name, or of its class, in the files of the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.value_origin import Link, Use, argument_of, follow, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name, outer, parameters
from debugtracer.callsites.program_files import program_files
from debugtracer.source.program import Program

DEEP = 4  # functions that hand a value on, one to the other (ours)
MOST = 8  # calls of one function (ours)


def written(use: Use, line: int, depth: int = 0) -> Iterator[Link]:
    """Yield the writing lines of a use, also behind the parameters of functions that have returned; of several calls
    all of them, in the order of the text."""
    found = list(follow(use, line, frozenset()))
    yield from found
    if found or depth == DEEP or not isinstance(use.node, ast.Name):
        return
    for given, at in passed(use, use.node.id):
        if not isinstance(given.node, (ast.Name, ast.Attribute)):
            yield Link(given.frame(given.node), "made", given)
        yield from written(given, at, depth + 1)


def passed(use: Use, name: str) -> Iterator[tuple[Use, int]]:
    """Yield what calls pass for a parameter of the function that an expression stands in, or of one around it, each
    with its line."""
    scope = use.scope
    while scope is not None and name not in parameters(scope):
        scope = outer(use.program, scope)
    if scope is None:
        return
    names = parameters(scope)
    owner = use.program.owner(scope)
    place = names.index(name) - (owner is not None and names[:1] in (["self"], ["cls"]))
    for program, call in list(calls_of(use.program, scope))[:MOST]:
        given = argument_of(call, name, place)
        if given is not None:
            yield Use(program, scope_at(program, call.lineno), given, (), use.part), call.lineno


def calls_of(program: Program, function: Function) -> Iterator[tuple[Program, ast.Call]]:
    """Yield the calls of a function, of the class for its constructor, in its own file and in the others."""
    owner = program.owner(function)
    name = owner.name if owner is not None and function.name == "__init__" else function.name
    files = dict.fromkeys([str(program.path), *(program_files() or ())])
    for file in files:
        one = program_of(file)
        for node in one.nodes if one is not None else ():
            if one is None or not isinstance(node, ast.Call) or final_name(node.func) != name:
                continue
            if owner is not None or isinstance(node.func, ast.Name) or is_of(one, node, function):
                yield one, node


def is_of(program: Program, call: ast.Call, function: Function) -> bool:
    """Whether a call of an attribute (`data.prepare(x)`) is that of a function of a module of the program."""
    called = called_function(program, scope_at(program, call.lineno), call, program_of)
    return called is not None and called[1] is function
