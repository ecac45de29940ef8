"""Where the number that a call is given was written: a constant, a default of an argument or an option, an entry of a
dictionary, a field of a class. What is found must be the number that is in use, or a line that computes it."""

from __future__ import annotations

import ast
import linecache
import math
import sys
from collections.abc import Iterable, Iterator, Sequence

from debugtracer.callsites.origins.called_function import class_named, file_of, imported_module, sources_of
from debugtracer.callsites.origins.option_lines import fields, literal, option_lines
from debugtracer.callsites.origins.settings_file import settings_line
from debugtracer.callsites.origins.value_origin import (
    Use,
    argument_of,
    last_write,
    program_of,
    scope_at,
)
from debugtracer.callsites.origins.written_names import Function, final_name, outer, parameters, returns, writes_of
from debugtracer.source.own_code import default_of
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame

DEEP = 8  # names that are gone back through (ours)


def setting_line(stack: Sequence[Frame], called: str, parameter: str, place: int, number: float) -> Frame | None:
    """The line of the number that the call of this name on the innermost of these lines got for a parameter; None where
    it stands on that line itself, or cannot be followed."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line = stack[0].line
    calls = [n for n in program.every(ast.Call) if n.lineno <= line <= (n.end_lineno or n.lineno)]
    named = [call for call in calls if final_name(call.func) == called] or calls
    given = [value for call in named if (value := argument_of(call, parameter, place)) is not None]
    if len(given) != 1:
        return None
    use = Use(program, scope_at(program, line), given[0], tuple(stack[1:]))
    if not isinstance(given[0], (ast.Name, ast.Attribute, ast.Subscript)) and key_asked(given[0]) is None:
        return use.frame(given[0]) if given[0].lineno != line else None
    return next((frame for frame in written(use, line, number)), None)


def written(use: Use, line: int, number: float, depth: int = 0) -> Iterator[Frame]:
    """Yield the lines that wrote an expression with that value, going back from a line."""
    node = use.node
    if depth > DEEP:
        return
    if isinstance(node, ast.Name):
        yield from of_name(use, node.id, line, number, depth)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        yield from of_own_attribute(use, node.attr, number, depth)
    elif found := list(set_before(use, line, number, depth)):
        yield from found
    elif isinstance(node, ast.Attribute):
        yield from of_attribute(use, node, number, depth)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        yield from options(use, str(node.slice.value), number)
    elif (key := key_asked(node)) is not None:
        yield from options(use, key, number)


def set_before(use: Use, line: int, number: float, depth: int) -> Iterator[Frame]:
    """Yield the line of the same function that last wrote an attribute or an entry of an object before a line:
    `args.lr = args.lr * world`."""
    last = last_write(use.program, use.scope, ast.unparse(use.node), line)
    if last is not None and last.value is None:
        yield use.frame(last.node)
    elif last is not None and last.value is not None and last.part is None:
        given = Use(use.program, use.scope, last.value, use.above)
        yield from given_by(given, last.node, last.value, number, depth + 1)


def given_by(use: Use, at: ast.AST, value: ast.expr, number: float, depth: int) -> Iterator[Frame]:
    """Yield the line of a value: where it stands as that number or is computed, else where its name got it."""
    found = literal(value)
    if found is not None:
        if math.isclose(found, number, rel_tol=1e-9):
            yield use.frame(at)
        return
    further = list(written(Use(use.program, use.scope, value, use.above), getattr(at, "lineno", 1), number, depth + 1))
    if further:
        yield from further
    elif not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
        yield use.frame(at)


def of_name(use: Use, name: str, line: int | None, number: float, depth: int) -> Iterator[Frame]:
    """Follow a plain name: its last assignment, what the caller passed, its default, or an import."""
    scope: Function | None = use.scope
    while True:
        last = last_write(use.program, scope, name, line if scope is use.scope else None)
        if last is not None:
            if last.value is not None and last.part is None:
                above = use.above if scope is use.scope else ()
                yield from given_by(Use(use.program, scope, last.value, above), last.node, last.value, number, depth)
            return
        if scope is not None and name in parameters(scope):
            yield from of_parameter(use, scope, name, number, depth)
            return
        if scope is None:
            break
        scope = outer(use.program, scope)
    for module, meant in sources_of(use.program, name):
        other = program_of(file_of(use.program, module))
        if other is not None:
            yield from of_name(Use(other, None, use.node), meant, None, number, depth + 1) if depth < DEEP else ()


def of_parameter(use: Use, function: Function, name: str, number: float, depth: int) -> Iterator[Frame]:
    """Follow a parameter to what its callers pass: the line above on the stack, else every call in the file; where they
    pass nothing, to its default."""
    place = parameters(function).index(name) - (parameters(function)[:1] == ["self"])
    owner = use.program.owner(function)
    known = owner.name if owner is not None and function.name == "__init__" else function.name
    program, above = use.program, use.above[1:]
    at = use.above[0] if use.above and function is use.scope else None
    if at is not None and (caller := program_of(at.file)) is not None:
        program = caller
    calls = calls_of(program, known, at)
    if not calls and at is None and function.name == "__init__":
        others = ((other, calls_of(other, known, None)) for other in loaded(program))
        program, calls = next(((other, found) for other, found in others if found), (program, calls))
    passed = [(n, value) for n in calls if (value := argument_of(n, name, place)) is not None]
    held = settings_line(name, number) if not passed and any(unpacks(call) for call in calls) else None
    if held is not None:
        yield held
        return
    for call, value in passed:
        scope = scope_at(program, call.lineno)
        yield from given_by(Use(program, scope, value, above if at else ()), value, value, number, depth)
    default = default_of(function, name)
    if not passed and default is not None:
        yield from given_by(Use(use.program, None, default), default, default, number, depth)


def unpacks(call: ast.Call) -> bool:
    """Whether a call hands over the entries of a mapping: `Net(**conf["model"])`."""
    return any(keyword.arg is None for keyword in call.keywords)


def calls_of(program: Program, name: str, at: Frame | None) -> list[ast.Call]:
    """The calls of that name in a file; with `at` those on its line."""
    return [
        n
        for n in program.nodes
        if isinstance(n, ast.Call)
        and final_name(n.func) == name
        and (at is None or n.lineno <= at.line <= (n.end_lineno or n.lineno))
    ]


def loaded(own: Program) -> Iterator[Program]:
    """Yield the files of the program that are loaded, this one first; a script that has ended is no module any more."""
    modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = dict.fromkeys([str(own.path), *(file for file in modules if isinstance(file, str)), *linecache.cache])
    for file in files:
        program = program_of(file) if file.endswith(".py") else None
        if program is not None:
            yield program


def of_property(use: Use, name: str, number: float, depth: int) -> Iterator[Frame]:
    """Follow `data.x` to what a property of the one loaded class that has it returns."""
    found = [
        (program, method)
        for program in loaded(use.program)
        for owner in program.classes.values()
        if (method := methods(owner).get(name)) is not None
        and any(ast.unparse(one).endswith("property") for one in method.decorator_list)
    ]
    for program, method in found if len(found) == 1 else ():
        for last in returns(program, method)[-1:]:
            if last.value is not None:
                yield from given_by(Use(program, method, last.value), last, last.value, number, depth + 1)


def of_own_attribute(use: Use, name: str, number: float, depth: int) -> Iterator[Frame]:
    """Follow `self.x` to the class that sets it."""
    owner = use.program.owner(use.scope) if use.scope is not None else None
    if owner is None:
        return
    for one in writes_of(owner, f"self.{name}"):
        scope = use.program.function(one.node)
        if one.value is not None and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from given_by(Use(use.program, scope, one.value), one.node, one.value, number, depth)
    for found in fields(owner, name, number):
        yield at_line(use.program, found)


def of_attribute(use: Use, node: ast.Attribute, number: float, depth: int) -> Iterator[Frame]:
    """Follow `config.x`: a name of a module of the program, or an option of an object that holds them."""
    module = imported_module(use.program, node.value.id, program_of) if isinstance(node.value, ast.Name) else None
    if module is not None:
        yield from of_name(Use(module, None, node), node.attr, None, number, depth + 1)
        return
    found = list(of_property(use, node.attr, number, depth))
    yield from found or options(use, node.attr, number)


def options(use: Use, name: str, number: float) -> Iterator[Frame]:
    """Yield lines of the files at hand, else of all files of the program, else of its settings files, that give an
    option of that name this very number; nothing where several do."""
    near = [use.program, *(program for frame in use.above if (program := program_of(frame.file)) is not None)]
    programs = {str(p.path): p for one in near for p in (one, *imported(one))}
    found = given_lines(programs.values(), name, number) or given_lines(loaded(use.program), name, number)
    held = settings_line(name, number) if not found else None
    if len(found) == 1 or held is not None:
        yield held or found[0]


def given_lines(programs: Iterable[Program], name: str, number: float) -> list[Frame]:
    """The lines of these files that give an option of that name this number."""
    return [at_line(one, line) for one in programs for line in dict.fromkeys(option_lines(one, name, number))]


def key_asked(node: ast.expr) -> str | None:
    """The key that a call asks a mapping for: `conf.get("lr", 0.1)`."""
    key = node.args[0] if isinstance(node, ast.Call) and final_name(node.func) == "get" and node.args else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def at_line(program: Program, line: int) -> Frame:
    """A line of a file, with the function it is in."""
    scope = scope_at(program, line)
    name = scope.name if scope is not None else "<module>"
    return Frame(str(program.path), line, name, program.text.splitlines()[line - 1].strip())


def imported(program: Program) -> Iterator[Program]:
    """Yield the files of the program that a file imports from, and those of classes that a package hands on."""
    for node in program.nodes:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
            made = (class_named(program, a.asname or a.name, program_of) for a in node.names)
            yield from (found[0] for found in made if found is not None and found[0] is not program)
        for name in names:
            other = program_of(file_of(program, name))
            if other is not None:
                yield other
