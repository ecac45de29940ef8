"""Which term of a target lacks the dimension that its neighbours have, and where the program made room for it: a row of
numbers beside columns, in a replay buffer."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

from torch import Tensor

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.sample_origin import of_function
from debugtracer.callsites.origins.value_origin import Link, origin
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame

MOST = 4  # functions that are looked into (ours)
ROOM = frozenset({"zeros", "empty", "ones", "full"})
"""Functions that make room for values which are stored later."""


class ShortTerm(NamedTuple):
    """Its name at the loss, and the line that made room for it."""

    name: str
    frame: Frame


def short_term(target: Tensor, rows: int) -> ShortTerm | None:
    """The only value of shape (N,) in what the target was written with, beside one of (N, 1), where an attribute of an
    object was given room of one dimension for it; None where there is none. Reads names of the running function and
    source; for a call of the user's that is found stretched."""
    for user in islice(program_stack(sys._getframe(1)), MOST):
        name = name_of(target, user)
        found = short_in(user, name, rows) if name else None
        if found is not None:
            return found
    return None


def short_in(user: FrameType, name: str, rows: int) -> ShortTerm | None:
    """The same in one function, by the name that it has for the target."""
    here = as_frame(user.f_code, user.f_lineno)
    first = next(iter(origin(name, (here,))), None)
    held = locals_of(user)
    names = list(dict.fromkeys((name, *read_in(first))))
    shapes = {one: tuple(held[one].shape) for one in names if type(held.get(one)) is Tensor}
    short = [one for one, shape in shapes.items() if shape == (rows,)]
    column = any(shape == (rows, 1) for shape in shapes.values())
    if len(short) != 1 or not (column or short[0] == name):
        return None
    links = origin(short[0], (here,))
    room = next((one for one in reversed((*links, *handed_out(links, held))) if makes_room(one)), None)
    return ShortTerm(short[0], room.frame) if room is not None else None


def handed_out(links: Sequence[Link], held: Mapping[str, Any]) -> tuple[Link, ...]:
    """The lines behind a part of what a method of an object at hand gave (`buffer.sample(n)`), by the class that the
    object has now."""
    use = links[0].value if links else None
    call = use.node if use is not None else None
    if use is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ()
    owner, _, attribute = ast.unparse(call.func.value).partition(".")
    found = held.get(owner)
    found = getattr(found, "__dict__", {}).get(attribute) if attribute else found
    return of_function(getattr(type(found), call.func.attr, None), use.part)


def name_of(tensor: Tensor, user: FrameType) -> str:
    """The name that a function has for a tensor."""
    return next((name for name, held in locals_of(user).items() if held is tensor and name.isidentifier()), "")


def read_in(link: Link | None) -> Iterator[str]:
    """Yield the plain names that a line computes with."""
    for node in ast.walk(link.value.node) if link is not None and link.value is not None else ():
        if isinstance(node, ast.Name):
            yield node.id


def makes_room(link: Link) -> bool:
    """Whether a line makes room of one dimension for an attribute of an object: `self.reward = np.zeros(size)`."""
    use = link.value
    statement = use.program.statement(use.node) if use is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    node = use.node if use is not None else None
    if not isinstance(target, ast.Attribute) or not isinstance(node, ast.Call) or not node.args:
        return False
    size = node.args[0]
    wide = isinstance(size, (ast.Tuple, ast.List)) and len(size.elts) > 1
    return final_name(node.func) in ROOM and not wide and (len(node.args) == 1 or final_name(node.func) == "full")
