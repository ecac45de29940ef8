"""Which module's forward runs now, and what it is called below the root."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType

from torch import nn

from debugtracer.callsites.frame_locals import local
from debugtracer.recorder.state.roots import plain_path

DEPTH = 40  # frames looked at (ours)


def running_module(skip: int = 1) -> nn.Module | None:
    """The innermost module of the live stack, as the `self` of a method. Reads locals: not on a hot path."""
    frame: FrameType | None = sys._getframe(skip)
    for _ in range(DEPTH):
        if frame is None:
            return None
        code = frame.f_code
        owner = local(frame, "self") if code.co_argcount and code.co_varnames[0] == "self" else None
        if isinstance(owner, nn.Module):
            return owner
        frame = frame.f_back
    return None


def path_of(module: nn.Module, roots: Iterable[nn.Module]) -> str | None:
    """The path below the first of these roots that holds it; "" for a root, None when no root does. Walks all
    modules."""
    for root in roots:
        for name, part in root.named_modules():
            if part is module:
                return plain_path(name)
    return None
