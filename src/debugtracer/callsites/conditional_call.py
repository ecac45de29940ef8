"""Where a forward of the user's calls one of its layers only under a condition."""

from __future__ import annotations

import ast
import linecache

from torch import nn

from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame


def conditional_call(model: nn.Module, layer: str) -> Frame | None:
    """The only line of a forward around a layer (by its path in the model) that calls it, where it stands under a
    condition; None where it is called always, in several places, or in library code. Reads source."""
    parts = layer.split(".") if layer else []
    owner: object = model
    for part in parts:
        found = called_in(owner, part)
        if found is not None:
            return found
        owner = getattr(owner, part, None)
    return None


def called_in(owner: object, name: str) -> Frame | None:
    """The only call of `self.NAME` in the forward of an object, where a condition is around it."""
    code = getattr(getattr(type(owner), "forward", None), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    function = function_at(program, code) if program is not None and code is not None else None
    if program is None or function is None:
        return None
    calls = [
        n for n in ast.walk(function) if isinstance(n, ast.Call) and ast.unparse(n.func).split("[")[0] == f"self.{name}"
    ]
    if len(calls) != 1:
        return None
    around = program.above(calls[0])
    conditions = (isinstance(a, (ast.If, ast.IfExp)) for a in iter(lambda: next(around, function), function))
    if not any(conditions):
        return None
    line = calls[0].lineno
    return Frame(str(program.path), line, function.name, linecache.getline(str(program.path), line).strip())
