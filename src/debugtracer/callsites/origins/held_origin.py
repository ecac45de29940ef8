"""The line that gave a variable of the running program the value that it holds."""

from __future__ import annotations

import ast
import sys
from itertools import islice
from typing import Any

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.value_origin import Link, origin
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame


def held_origin(value: Any, raw: RawFrames) -> Frame | None:
    """Where the variable that holds this object got it, in the innermost of the functions of `raw`, the lines of the
    live stack, in which that can be read; None where there is none."""
    stack = frames_of(raw)
    for depth, frame in enumerate(islice(program_stack(sys._getframe(1)), len(stack))):
        name = next((n for n, held in locals_of(frame).items() if held is value and n.isidentifier()), "")
        links = origin(name, stack[depth:]) if name else ()
        if links:
            return next((link for link in links if not converts(link)), links[0]).frame
    return None


def converts(link: Link) -> bool:
    """Whether a line only gives a name another form of what it held (`x = x.cuda()`), maybe in a branch that did not
    run."""
    use = link.value
    statement = use.program.statement(use.node) if use is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return use is not None and target is not None and ast.unparse(carrier(use.node)) == ast.unparse(target)
