"""Which line of the running program writes single elements of a tensor: found in the source of the frames on the stack,
by the memory they share."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import islice
from types import FrameType
from typing import Any

from torch import Tensor, nn

from debugtracer.callsites.definitions import frame_at, parsed
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame

FRAMES = 8  # user frames that are looked through


def element_written_at(tensor: Tensor, frame: FrameType | None) -> Frame | None:
    """The first statement that assigns to elements of this tensor's memory; None when there is none, as for a fault of
    the hardware."""
    for user in islice(program_stack(frame), FRAMES):
        names = {**user.f_globals, **locals_of(user)}
        for line, node in parsed(user.f_code):
            if any(same_memory(resolved(target, names), tensor) for target in written(node)):
                return frame_at(user.f_code, line)
    return None


def written(node: ast.AST) -> list[ast.expr]:
    """What a statement writes elements of: `w[i] = x`, `w[i] ^= x`, `w[i].fill_(x)`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        return [node.target.value]
    if isinstance(node, ast.Assign):
        return [target.value for target in node.targets if isinstance(target, ast.Subscript)]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr.endswith("_")
        and isinstance(node.func.value, ast.Subscript)
    ):
        return [node.func.value.value]
    return []


def resolved(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The tensor or module an expression leads to, followed through modules and views; runs nothing of the program."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Call):
        return tensor_of(resolved(node.func.value, names)) if isinstance(node.func, ast.Attribute) else None  # a view
    if isinstance(node, ast.Attribute):
        base = resolved(node.value, names)
        if isinstance(base, nn.Module):
            return base._modules.get(node.attr, base._parameters.get(node.attr))
        return tensor_of(base) if node.attr == "data" else None
    if isinstance(node, ast.Subscript):
        base = resolved(node.value, names)
        if isinstance(base, nn.Module) and isinstance(node.slice, ast.Constant):
            return base._modules.get(str(node.slice.value))
        return tensor_of(base)
    return None


def tensor_of(value: Any) -> Tensor | None:
    """A tensor, nothing else."""
    return value if isinstance(value, Tensor) else None


def same_memory(value: Any, tensor: Tensor) -> bool:
    """Whether a value is this tensor or a view of it."""
    return (
        isinstance(value, Tensor)
        and value.device == tensor.device
        and value.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    )
