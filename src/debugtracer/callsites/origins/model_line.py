"""The line that built the model whose parameters an optimizer was given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.argument_origin import given_to
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import origin, program_of, written_at
from debugtracer.callsites.origins.written_names import base, final_name, returns
from debugtracer.trace.birth import Frame


def model_line(stack: Sequence[Frame], optimizer: str) -> Frame | None:
    """The line for the construction of an optimizer of this class on the innermost of these lines; None where its
    parameters are not those of one name (`model.parameters()`, `self.net.parameters()`). Reads source."""
    holder = model_name(stack, optimizer)
    return written_at(origin(holder, stack)) if holder else None


def copy_line(stack: Sequence[Frame], optimizer: str) -> Frame | None:
    """The same for a model that a function of the program makes, also where that has the name of one of torch's
    (`net.clone()`): the line of that function which makes it."""
    holder = model_name(stack, optimizer)
    links = origin(holder, stack) if holder else ()
    for use in [link.value for link in links if link.value is not None]:
        call = use.node
        called = called_function(use.program, use.scope, call, program_of) if isinstance(call, ast.Call) else None
        last = returns(*called)[-1:] if called is not None else []
        if called is not None and last:
            line, value = at_line(called[0], last[0].lineno), last[0].value
            return written_at(origin(value.id, [line]) if isinstance(value, ast.Name) else ()) or line
    return written_at(links)


def model_name(stack: Sequence[Frame], optimizer: str) -> str:
    """What the innermost of these lines calls the model whose parameters it gives an optimizer; empty where it gives
    anything else."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return ""
    asked = given_to(program, stack[0].line, optimizer, "params", 0)
    if not isinstance(asked, ast.Call) or final_name(asked.func) not in ("parameters", "named_parameters"):
        return ""
    holder = asked.func.value if isinstance(asked.func, ast.Attribute) else None
    if holder is None or not isinstance(base(holder), (ast.Name, ast.Attribute)):
        return ""
    return ast.unparse(holder)
