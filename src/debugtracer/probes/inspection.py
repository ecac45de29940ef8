"""The inspection of a step: a function mode that tells of every torch function inside modules, on the first steps and now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode, _push_mode

from debugtracer.probes.forwarded import from_caller


class Inspection(TorchFunctionMode):
    """On the stack only during an inspected root call. It runs each function as it was called and tells afterwards; it changes nothing."""

    def __init__(self, tell: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]) -> None:
        super().__init__()
        self.tell = tell
        self.pushed = False
        self.compiles = False
        """The program compiles something: Dynamo would trace and guard on a mode, so it stays off the stack."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One call; what it raises is the user's and passes."""
        kwargs = kwargs or {}
        output = from_caller()(function, args, kwargs)
        if not torch._C._are_functorch_transforms_active() and torch._C._get_tracing_state() is None:
            self.tell(function, args, kwargs, output)
        return output

    def begin(self) -> None:
        """A root call begins. Only with a graph: without one torch takes other kernels when a mode is there (fast paths of attention)."""
        if not self.pushed and not self.compiles and torch.is_grad_enabled():
            _push_mode(self)
            self.pushed = True

    def end(self) -> None:
        """It is over, in whatever way."""
        if self.pushed and _get_current_function_mode() is self:
            _pop_mode()
            self.pushed = False
