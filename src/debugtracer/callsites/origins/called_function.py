"""Which function of the user's a call in the source calls: one of the same file, of another file of the program by its
import, a method of the same class, or one that is called on a class by its name or on an object that was made of it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterator

from debugtracer.callsites.origins.written_names import Function, parameters, returns, writes_of
from debugtracer.source.program import Program, methods

ReadProgram = Callable[[str], Program | None]
DEEP = 3  # modules that hand a name on, one to the other (ours)


def called_function(
    program: Program, scope: Function | None, call: ast.Call, read: ReadProgram
) -> tuple[Program, Function] | None:
    """The function and its file; None for a library's, and for what cannot be told from the source."""
    target = call.func
    if isinstance(target, ast.Name):
        return named(program, target.id, read) or computing(made_of(program, scope, target, read))
    if isinstance(target, ast.Call):  # an object that is made and called on one line: `Scaler(table)(rows)`
        return computing(built_by(program, target, read))
    if not isinstance(target, ast.Attribute):
        return None
    if isinstance(target.value, ast.Call):
        return method_of(built_by(program, target.value, read), target.attr)
    if isinstance(target.value, ast.Name) and target.value.id in ("self", "cls"):
        owner = program.owner(scope) if scope is not None else None
        return method_of((program, owner), target.attr) if owner is not None else None
    if isinstance(target.value, ast.Attribute) and isinstance(target.value.value, ast.Name):
        if target.value.value.id == "self":
            return method_of(made_of(program, scope, target.value, read), target.attr)
        module = imported_module(program, target.value.value.id, read)
        return method_of(class_named(module, target.value.attr, read), target.attr) if module is not None else None
    if not isinstance(target.value, ast.Name):
        return None
    module = imported_module(program, target.value.id, read)
    if module is not None:
        return named(module, target.attr, read)
    meant = class_named(program, target.value.id, read) or made_of(program, scope, target.value, read)
    return method_of(meant, target.attr)


def made_of(
    program: Program, scope: Function | None, value: ast.expr, read: ReadProgram
) -> tuple[Program, ast.ClassDef] | None:
    """The only class that a name, or an attribute of `self`, is ever given an object of."""
    own = isinstance(value, ast.Attribute) and scope is not None
    holder: ast.AST | None = program.owner(scope) if own and scope is not None else scope or program.tree
    given = writes_of(holder, ast.unparse(value)) if holder is not None else []
    found = {}
    for call in [w.value for w in given if isinstance(w.value, ast.Call) and isinstance(w.value.func, ast.Name)]:
        made = class_named(program, call.func.id, read) if isinstance(call.func, ast.Name) else None
        if made is not None:
            found[id(made[1])] = made
    return next(iter(found.values())) if len(found) == 1 else None


def computing(owner: tuple[Program, ast.ClassDef] | None) -> tuple[Program, Function] | None:
    """What runs where an object is called, where that is arithmetic of one argument (a scaler); what turns or draws
    stays the line that calls it."""
    found = method_of(owner, "__call__")
    given = returns(*found) if found is not None else []
    plain = found is not None and len(parameters(found[1])) == 2
    return found if plain and len(given) == 1 and isinstance(given[0].value, ast.BinOp) else None


def built_by(program: Program, call: ast.Call, read: ReadProgram) -> tuple[Program, ast.ClassDef] | None:
    """The class of the program that a call makes an object of."""
    return class_named(program, call.func.id, read) if isinstance(call.func, ast.Name) else None


def method_of(owner: tuple[Program, ast.ClassDef] | None, name: str) -> tuple[Program, Function] | None:
    """A method of a class, and the file of both."""
    method = methods(owner[1]).get(name) if owner is not None else None
    return (owner[0], method) if owner is not None and method is not None else None


def class_named(program: Program, name: str, read: ReadProgram, depth: int = 0) -> tuple[Program, ast.ClassDef] | None:
    """A class by the name it has in a file, its own or an imported one."""
    own = next((n for n in program.tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    if own is not None:
        return program, own
    for module, meant in sources_of(program, name) if depth < DEEP else ():
        other = read(file_of(program, module))
        found = class_named(other, meant, read, depth + 1) if other is not None else None
        if found is not None:
            return found
    return None


def named(program: Program, name: str, read: ReadProgram, depth: int = 0) -> tuple[Program, Function] | None:
    """A function by the name it has in a file, its own or an imported one."""
    own = program.functions.get(name)
    if own is not None:
        return program, own
    for module, meant in sources_of(program, name) if depth < DEEP else ():
        other = read(file_of(program, module))
        found = named(other, meant, read, depth + 1) if other is not None else None
        if found is not None:
            return found
    return None


def sources_of(program: Program, name: str) -> Iterator[tuple[str, str]]:
    """Yield the modules that can have given a file this name, each with the name it has there."""
    for node in program.every(ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                yield module, alias.name
            elif alias.name == "*":
                yield module, name


def imported_module(program: Program, name: str, read: ReadProgram) -> Program | None:
    """The file of a module of the program that is imported under a name (`import layers as L`, `from net import
    layers`)."""
    for node in program.nodes:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            if (alias.asname or alias.name) != name:
                continue
            before = ""
            if isinstance(node, ast.ImportFrom):
                before = "." * node.level + (f"{node.module}." if node.module else "")
            return read(file_of(program, before + alias.name))
    return None


def file_of(program: Program, module: str) -> str:
    """The file of a loaded module, as this file of the program names it; empty where there is none."""
    if module.startswith("."):
        package = next(
            (m.__package__ for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(program.path)), ""
        )
        try:
            module = importlib.util.resolve_name(module, package or "")
        except ImportError:
            return ""
    return getattr(sys.modules.get(module), "__file__", None) or ""
