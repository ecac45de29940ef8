"""The line that builds a layer of a model: where the class that holds it sets it, inside a Sequential or a list that is
written out the line of that very element. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch import nn

from debugtracer.callsites.definitions import assigned_at
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

HOLDERS = (nn.Sequential, nn.ModuleList)


def layer_line(module: nn.Module, running: Sequence[nn.Module]) -> Frame | None:
    """The line that builds a module, set by one of the modules whose forward ran around it; None where it is not
    known."""
    for owner in running:
        for name, child in owner.named_children():
            if child is module and not isinstance(owner, HOLDERS):
                return assigned_at(type(owner), name)
            if isinstance(child, HOLDERS):
                place = next((i for i, one in enumerate(child.children()) if one is module), None)
                if place is not None:
                    return element_line(assigned_at(type(owner), name), type(module).__name__, place, len(child))
    return None


def element_line(holder: Frame | None, kind: str, place: int, count: int) -> Frame | None:
    """The line of one element among so many of the call that sets their holder; None where they are not all written
    out."""
    program = program_of(holder.file) if holder is not None else None
    if program is None or holder is None:
        return None
    for node in program.every(ast.Call):
        if not node.lineno <= holder.line <= (node.end_lineno or node.lineno):
            continue
        listed = node.args[0] if len(node.args) == 1 else None
        given = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else node.args
        one = given[place] if len(given) == count else None
        if isinstance(one, ast.Call) and final_name(one.func) == kind:
            return at_line(program, one.lineno)
    return None
