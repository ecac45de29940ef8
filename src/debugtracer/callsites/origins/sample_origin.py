"""Where a tensor of a batch is made: in the user's `__getitem__`, generator or collate_fn, else in what was given to
the TensorDataset. The source is read, nothing is executed."""

from __future__ import annotations

import ast
import functools
import re
from types import CodeType
from typing import Any

from debugtracer.callsites.origins.built_with import built_with
from debugtracer.callsites.origins.value_origin import (
    Link,
    Use,
    each_once,
    follow,
    last_write,
    program_of,
    returned,
    scope_at,
)
from debugtracer.callsites.origins.written_names import Function, final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

PART = re.compile(r"\[(?:(\d+)|'([^']*)')\]")
WRAPS = ("Subset", "random_split", "DataLoader", "prepare")
"""Calls whose first argument is the data itself."""
JOINS = ("ConcatDataset", "ChainDataset")
"""Data sets made of a list of others."""


def sample_origin(dataset: Any, collate: Any, built: Frame | None, path: str) -> tuple[Link, ...]:
    """The lines that made a leaf (`batch[0]`, `batch['x']`) of the batches of a loader, the last writer first; `built`
    is where the user built the loader."""
    named = PART.search(path)
    part = (int(named[1]) if named[1] is not None else named[2]) if named else None
    by_collate = of_function(function_of(collate), part)
    if any(link.kind == "made" and not takes_part(link, part) for link in by_collate[-1:]):
        return by_collate
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):  # a Subset hands on
        dataset = dataset.dataset
    kind = type(dataset)
    by_dataset = of_function(getattr(kind, "__getitem__", None), part) or of_function(
        getattr(kind, "__iter__", None), part
    )
    if by_dataset or by_collate:
        return built_with((*by_collate, *by_dataset), built, holder)
    if kind.__name__ in JOINS:
        return of_parts(built, kind.__name__)
    return of_tensors(built, part if isinstance(part, int) else 0) if kind.__name__ == "TensorDataset" else ()


def function_of(collate: Any) -> Any:
    """The function that collates: of a partial, of an object that is called, of a wrapper that Trainer puts around."""
    for _ in range(4):
        if isinstance(collate, functools.partial):
            collate = collate.func
        elif hasattr(collate, "data_collator"):
            collate = collate.data_collator
    return collate if hasattr(collate, "__code__") else vars(type(collate)).get("__call__")


def takes_part(link: Link, part: int | str | None) -> bool:
    """Whether a line of a collate_fn puts together what the samples have under the same key, which made the values."""
    use = link.value
    return (
        part is not None
        and use is not None
        and isinstance(use.node, ast.Call)
        and any(
            isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant) and n.slice.value == part
            for argument in use.node.args
            for n in ast.walk(argument)
        )
    )


def of_parts(built: Frame | None, kind: str) -> tuple[Link, ...]:
    """The line that made the list of data sets which are joined, where it has a name."""
    program = program_of(built.file) if built is not None else None
    if program is None or built is None:
        return ()
    scope = scope_at(program, built.line)
    calls = [n for n in program.every(ast.Call) if n.lineno <= built.line <= (n.end_lineno or 0)]
    call = next((found for c in calls if (found := data_call(program, scope, c, built.line, kind)) is not None), None)
    if call is None or not call.args or not isinstance(call.args[0], ast.Name):
        return ()
    return each_once(follow(Use(program, scope, call.args[0]), call.lineno, frozenset()))[:1]


def of_function(function: Any, part: int | str | None) -> tuple[Link, ...]:
    """The lines that made a part of what a function of the user's hands out; nothing for a library's."""
    code = getattr(function, "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    if program is None or code is None:
        return ()
    node = function_at(program, code)
    return each_once(returned(program, node, part)) if node is not None else ()


def function_at(program: Program, code: CodeType) -> Function | None:
    """The function of a file that this code was made of."""
    return next(
        (
            n
            for n in program.nodes
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
            and n.name == code.co_name
            and min([n.lineno, *(d.lineno for d in n.decorator_list)]) == code.co_firstlineno
        ),
        None,
    )


def of_tensors(built: Frame | None, place: int) -> tuple[Link, ...]:
    """The lines that made one of the tensors given to the TensorDataset of a loader."""
    program = program_of(built.file) if built is not None else None
    if program is None or built is None:
        return ()
    scope = scope_at(program, built.line)
    calls = [n for n in program.every(ast.Call) if n.lineno <= built.line <= (n.end_lineno or n.lineno)]
    call = next((found for c in calls if (found := data_call(program, scope, c, built.line)) is not None), None)
    if call is None:  # made by a function, or split by one: the only one of the file
        every = [n for n in program.every(ast.Call) if final_name(n.func) == "TensorDataset"]
        call = every[0] if len(every) == 1 else None
        scope = scope_at(program, call.lineno) if call is not None else None
    if call is None or place >= len(call.args) or isinstance(call.args[place], ast.Starred):
        return ()
    return each_once(follow(Use(program, scope, call.args[place]), call.lineno, frozenset()))


def holder(use: Use, line: int, kind: str) -> ast.Call | None:
    """The call of that class which an expression on a line holds as its data."""
    return data_call(use.program, use.scope, use.node, line, kind)


def data_call(
    program: Program, scope: Function | None, node: ast.expr, line: int, kind: str = "TensorDataset", depth: int = 0
) -> ast.Call | None:
    """The call of that class of data set which an expression is, or holds as its data."""
    if depth > 6:
        return None
    if isinstance(node, ast.Name):
        last = last_write(program, scope, node.id, line)
        if last is None or last.value is None:
            return None
        return data_call(program, scope, last.value, line, kind, depth + 1)
    if not isinstance(node, ast.Call):
        return None
    name = final_name(node.func)
    if name == kind:
        return node
    first = next((k.value for k in node.keywords if k.arg == "dataset"), node.args[0] if node.args else None)
    return data_call(program, scope, first, line, kind, depth + 1) if name in WRAPS and first is not None else None
