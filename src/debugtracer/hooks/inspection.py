"""The inspection of a step: a function mode that reports every torch function inside modules, on the first steps and
now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode, _push_mode

from debugtracer.callsites.caller import from_caller
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.training_events import TrainingEvents


class Inspection:
    """Whether the step in flight is inspected: one answer a step, read at every call outside modules."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        self.wanted = wanted
        """True when an observer listens to the calls of the step that begins now."""
        self.on = False

    def update(self) -> None:
        """Decide at the end of a step whether the next one is inspected."""
        self.on = self.wanted()


class InspectionMode(TorchFunctionMode):
    """On the stack only during an inspected root call. It runs each function as it was called and reports afterwards;
    it changes nothing."""

    def __init__(self, events: TrainingEvents, state: RunState) -> None:
        super().__init__()
        self.events, self.state = events, state
        self.pushed = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one call and emit it; what it raises is the user's and passes."""
        kwargs = kwargs or {}
        output = from_caller()(function, args, kwargs)
        if not torch._C._are_functorch_transforms_active() and torch._C._get_tracing_state() is None:
            self.events.called(function, args, kwargs, output)
        return output

    def begin(self) -> None:
        """Push the mode at a root call, only with a graph, and never where the program compiles (Dynamo would guard on
        it)."""
        if not self.pushed and not self.state.compiles and torch.is_grad_enabled():
            _push_mode(self)
            self.pushed = True

    def end(self) -> None:
        """Remove the function mode after a root call, whether that returned or raised."""
        if self.pushed and _get_current_function_mode() is self:
            _pop_mode()
            self.pushed = False
