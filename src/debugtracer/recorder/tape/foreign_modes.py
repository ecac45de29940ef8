"""Modes that the program has put on torch's stacks (a FLOP counter, a mode of its own): they must see its calls and
none of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import _pop_mode, _push_mode

functions: Any = torch._C._len_torch_function_stack
dispatches: Any = torch._C._len_torch_dispatch_stack


def foreign() -> bool:
    """True if some mode of the program is active."""
    return bool(functions() or dispatches())


@contextlib.contextmanager
def without_modes() -> Iterator[None]:
    """Empty both stacks inside the context, and restore them afterwards."""
    from torch.utils._python_dispatch import _disable_current_modes

    with contextlib.ExitStack() as stack:
        while functions():
            stack.callback(_push_mode, _pop_mode())
        if dispatches():
            stack.enter_context(_disable_current_modes())
        yield
