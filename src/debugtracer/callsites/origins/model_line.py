"""The line that built the model whose parameters an optimizer was given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import argument_of, origin, program_of, written_at
from debugtracer.callsites.origins.written_names import base, final_name
from debugtracer.trace.birth import Frame


def model_line(stack: Sequence[Frame], optimizer: str) -> Frame | None:
    """The line for the construction of an optimizer of this class on the innermost of these lines; None where its
    parameters are not those of one name (`model.parameters()`, `self.net.parameters()`). Reads source."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line = stack[0].line
    calls = [n for n in program.nodes if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    given = [argument_of(call, "params", 0) for call in calls if final_name(call.func) == optimizer]
    asked = given[0] if len(given) == 1 else None
    if not isinstance(asked, ast.Call) or final_name(asked.func) not in ("parameters", "named_parameters"):
        return None
    holder = asked.func.value if isinstance(asked.func, ast.Attribute) else None
    if holder is None or not isinstance(base(holder), (ast.Name, ast.Attribute)):
        return None
    return written_at(origin(ast.unparse(holder), stack))
