"""The line that writes a copy of a model first, where no line of the program writes it again. Read from the source."""

from __future__ import annotations

import ast

from debugtracer.callsites.copying_line import builds
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.program_files import program_files
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

PLAIN = frozenset({"eval", "train", "to", "cuda", "cpu", "requires_grad_", "share_memory", "state_dict"})
FREEZES = frozenset({"requires_grad", "requires_grad_"})


def untouched_copy(name: str) -> Frame | None:
    """The last line that builds or fills what goes by this name, where all others call it, freeze it or set its mode;
    None where something else is done with it, which may write it."""
    found: list[Frame] = []
    stored = 0
    for program in programs_of(program_files()):
        for node in program.nodes:
            if last_word(node) != name:
                continue
            if isinstance(getattr(node, "ctx", None), ast.Store):
                stored += 1
            elif not is_harmless(program, node):
                return None
            else:
                continue
            if not builds(program, node):
                return None
            found.append(at_line(program, getattr(node, "lineno", 1)))
    return found[-1] if stored == 1 else None


def last_word(node: ast.AST) -> str:
    """The last word of a name or of an attribute."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_harmless(program: Program, node: ast.AST) -> bool:
    """Whether a use is a call, a mode, a first filling, or a loop that freezes parameters."""
    above = program.parents.get(node)
    if isinstance(above, ast.Call):
        return above.func is node
    if not isinstance(above, ast.Attribute):
        return False
    if above.attr == "load_state_dict":
        return builds(program, above)
    if above.attr in ("parameters", "modules"):
        loop = program.parents.get(program.parents.get(above, above))
        return isinstance(loop, ast.For) and all(freezes(one) for one in loop.body)
    return above.attr in PLAIN


def freezes(node: ast.stmt) -> bool:
    """Whether a statement says that a parameter has no gradient."""
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Attribute) and one.attr in FREEZES for one in node.targets)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in FREEZES
