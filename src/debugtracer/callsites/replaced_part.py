"""The line that gave a model another part than the one it was built with."""

from __future__ import annotations

import ast
import linecache

from torch import nn

from debugtracer.callsites.attributes_read import written_outside
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame


def replaced_at(model: nn.Module, path: str, file: str | None) -> Frame | None:
    """The only line that sets the module of this path anew: a method of the class that holds it, or `model.head = ...`
    in that file; None where there is none, or several. Reads source."""
    above, _, attribute = path.rpartition(".")
    try:
        owner = model.get_submodule(above)
    except AttributeError:
        return None
    if not attribute.isidentifier():
        return None
    inside = written_outside(type(owner), attribute, frozenset())
    program = program_of(file) if file is not None and inside is None else None
    if program is None or file is None:
        return inside
    set_at = [n for n in program.every(ast.Assign) if any(sets(t, attribute) for t in n.targets)]
    if len(set_at) != 1:
        return None
    line, name = set_at[0].lineno, getattr(program.function(set_at[0]), "name", "<module>")
    return Frame(file, line, name, linecache.getline(file, line).strip())


def sets(target: ast.expr, attribute: str) -> bool:
    """True for `model.head` as a target, and not for `self.head`."""
    own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    return isinstance(target, ast.Attribute) and target.attr == attribute and not own
