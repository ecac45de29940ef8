"""Which attributes of its own a method reads and writes, with those of the methods that it calls; by bytecode, nothing
is executed."""

from __future__ import annotations

import ast
import dis
import inspect
from types import CodeType, FunctionType
from typing import NamedTuple

from debugtracer.callsites.definitions import frame_at, parsed
from debugtracer.callsites.nested_code import with_nested
from debugtracer.trace.birth import Frame

MOST = 64  # methods that are followed (ours)
INIT = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})


class AttributesUsed(NamedTuple):
    """What a method and those that it calls do with attributes, whosever they are."""

    read: frozenset[str]
    written: frozenset[str]
    methods: frozenset[str]


def attributes_used(kind: type, method: str) -> AttributesUsed:
    """The names; empty for a method that is not written in Python."""
    read: set[str] = set()
    written: set[str] = set()
    waiting, methods = [method], {method}
    while waiting and len(methods) <= MOST:
        for code in code_of(kind, waiting.pop()):
            for step in dis.get_instructions(code):
                if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
                    read.add(str(step.argval))
                elif step.opname.startswith(("STORE_ATTR", "DELETE_ATTR")):
                    written.add(str(step.argval))
        called = {name for name in read - methods if any(True for _ in code_of(kind, name))}
        methods |= called
        waiting += called
    return AttributesUsed(frozenset(read), frozenset(written), frozenset(methods))


def code_of(kind: type, name: str) -> list[CodeType]:
    """The code of a method or property of a class, with the functions inside it."""
    value = inspect.getattr_static(kind, name, None)
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    return list(with_nested(value.__code__)) if isinstance(value, FunctionType) else []


def written_outside(kind: type, attribute: str, methods: frozenset[str]) -> Frame | None:
    """The line that writes `self.attribute` in another method than these and the constructor."""
    for owner in kind.__mro__:
        for name, function in vars(owner).items():
            if inspect.isfunction(function) and name not in INIT and name not in methods:
                for line, node in parsed(function):
                    if writes(node, f"self.{attribute}"):
                        return frame_at(function, line)
    return None


def writes(node: ast.AST, name: str) -> bool:
    """Whether a statement assigns to a name, or to a part of it, or calls a method that ends in one statement."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(ast.unparse(target).split("[")[0] == name for target in targets)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    inside = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == name
    return inside or any(ast.unparse(argument) == name for argument in call.args)
