"""Where scores that know their target were given an angle in degrees: by a module that is called with the target, or
by a function on the way to the loss."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType

from torch import nn

from debugtracer.callsites.origins.angle_origin import Angle, angle_origin
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

LOSSES = ("cross_entropy",)


def score_angle(roots: Iterable[nn.Module], stack: Sequence[Frame]) -> Angle | None:
    """The first such angle. Reads source."""
    kinds = dict.fromkeys(type(module) for root in roots for module in root.modules())
    holders = [*(found for kind in kinds for found in class_of(kind)), *on_the_way(stack)]
    return next((found for program, holder in holders if (found := angle_origin(program, holder)) is not None), None)


def class_of(kind: type) -> Iterator[tuple[Program, ast.AST]]:
    """Yield the source of a class of the user's whose forward takes more than the inputs."""
    forward = inspect.getattr_static(kind, "forward", None)
    if not isinstance(forward, FunctionType) or forward.__code__.co_argcount < 3:
        return
    program = program_of(forward.__code__.co_filename)
    owner = program.classes.get(kind.__name__) if program is not None else None
    if program is not None and owner is not None:
        yield program, owner


def on_the_way(stack: Sequence[Frame]) -> Iterator[tuple[Program, ast.AST]]:
    """Yield the functions in which the scores were written, the last first."""
    for link in argument_origin(stack, LOSSES, "input", 0):
        use = link.value
        if use is not None and use.scope is not None:
            yield use.program, use.scope
