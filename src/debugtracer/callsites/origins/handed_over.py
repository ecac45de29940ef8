"""The line that wrote last what a part of a model is called with, or what a tensor of the loop holds. Source is read,
nothing is run."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import FrameType

from torch import Tensor, nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.value_origin import Link, origin, program_of
from debugtracer.trace.birth import Frame


def handed_to(roots: Sequence[nn.Module], name: str) -> Frame | None:
    """The last write of the argument in `self.part(argument)`, in the forward of what holds the part of this name; the
    call itself where the argument is written there. None where no source has that call."""
    above, _, part = name.rpartition(".")
    for root in roots:
        holder = holder_of(root, above)
        forward = getattr(type(holder), "forward", None) if holder is not None else None
        code = getattr(inspect.unwrap(forward), "__code__", None) if forward is not None else None
        program = program_of(code.co_filename) if code is not None else None
        if code is None or program is None:
            continue
        lines = {line for _, _, line in code.co_lines() if line}
        for node in program.nodes:
            if isinstance(node, ast.Call) and is_call_of(node, part) and node.lineno in lines:
                return written_before(node, as_frame(code, node.lineno))
    return None


def holder_of(root: nn.Module, path: str) -> object | None:
    """The module at a path below another."""
    held: object = root
    for part in path.split(".") if path else ():
        held = getattr(held, part, None)
    return held


def is_call_of(node: ast.Call, part: str) -> bool:
    """Whether a node is `self.part(...)`."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == part


def written_before(call: ast.Call, frame: Frame | None) -> Frame | None:
    """The line that wrote the first argument of a call last, else the line of the call."""
    given = call.args[0] if call.args else None
    if frame is None or not isinstance(given, ast.Name):
        return frame
    links = origin(given.id, [frame])
    return links[0].frame if links else frame


def written_of(tensor: Tensor, user: FrameType | None) -> Link | None:
    """The last write of the name by which a frame holds the memory of a tensor."""
    if user is None:
        return None
    address = tensor.data_ptr()
    for name, held in locals_of(user).items():
        if type(held) is Tensor and held.numel() == tensor.numel() and held.data_ptr() == address:
            frame = as_frame(user.f_code, user.f_lineno)
            links = origin(name, [frame]) if frame is not None else ()
            return links[0] if links else None
    return None
