"""The line that built the model whose parameters an optimizer was given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.argument_origin import given_to
from debugtracer.callsites.origins.value_origin import origin, program_of, written_at
from debugtracer.callsites.origins.written_names import base, final_name
from debugtracer.trace.birth import Frame


def model_line(stack: Sequence[Frame], optimizer: str) -> Frame | None:
    """The line for the construction of an optimizer of this class on the innermost of these lines; None where its
    parameters are not those of one name (`model.parameters()`, `self.net.parameters()`). Reads source."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    asked = given_to(program, stack[0].line, optimizer, "params", 0)
    if not isinstance(asked, ast.Call) or final_name(asked.func) not in ("parameters", "named_parameters"):
        return None
    holder = asked.func.value if isinstance(asked.func, ast.Attribute) else None
    if holder is None or not isinstance(base(holder), (ast.Name, ast.Attribute)):
        return None
    return written_at(origin(ast.unparse(holder), stack))
