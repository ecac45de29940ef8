"""Does a collate function put the samples of a batch in an order of its own? Read from its code, nothing is run."""

from __future__ import annotations

import dis
import functools
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.nested_code import with_nested
from debugtracer.trace.birth import Frame

ORDERS = frozenset({"sorted", "sort", "argsort", "msort", "lexsort", "shuffle", "permutation", "randperm"})
DEPTH = 3  # functions that call functions (ours)


def keeps_order(collate: Any) -> bool:
    """Whether row i of the batch is the i-th sample: nothing that the user's function calls by name sorts or shuffles.
    It may sort something else: then no is said too often, and a row is looked for by its values."""
    return not any(name in ORDERS for code in codes_of(collate, DEPTH) for name in code.co_names)


def codes_of(function: Any, depth: int) -> Iterator[CodeType]:
    """The code of a function of the user's, of those inside it and of those that it names; of a callable object that of
    its call."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, MethodType):
        function = function.__func__
    elif not isinstance(function, FunctionType):
        function = next((vars(k)["__call__"] for k in type(function).__mro__ if "__call__" in vars(k)), None)
    code = getattr(function, "__code__", None)
    if code is None or not depth or not is_user_file(code.co_filename):
        return
    for one in with_nested(code):
        yield one
        for name in one.co_names:
            called = function.__globals__.get(name)
            if isinstance(called, FunctionType) and called is not function:
                yield from codes_of(called, depth - 1)


def order_line(function: Any, names: Collection[str] = ORDERS) -> Frame | None:
    """The first line of the user's that sorts or shuffles there, or calls another of these names."""
    for code in codes_of(function, DEPTH):
        begins, line = dict(dis.findlinestarts(code)), code.co_firstlineno
        for step in dis.get_instructions(code):
            line = begins.get(step.offset) or line
            if isinstance(step.argval, str) and step.argval in names:
                return as_frame(code, line)
    return None
