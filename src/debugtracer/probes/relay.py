"""The relay: what the core probes report goes to the recorder first and then to the takers; an inspected root call is looked into."""

from __future__ import annotations

import functools
import sys
from typing import Any

from torch import Tensor, nn

from debugtracer.probes.desk import Desk
from debugtracer.probes.free_calls import FreeCalls
from debugtracer.probes.inspection import Inspection
from debugtracer.probes.own_frames import hide
from debugtracer.recorder.canaries import Canaries
from debugtracer.recorder.recorder import Recorder


class Relay:
    """Receives root calls, backwards, zero_grad and clipping."""

    desk: Desk

    def __init__(self, recorder: Recorder, free: FreeCalls, canaries: Canaries) -> None:
        self.recorder, self.free, self.canaries = recorder, free, canaries
        self.inspection = Inspection(lambda *call: self.desk.moment("called", *call))
        self.losses: list[Tensor] = []
        self.root_args: tuple[Any, ...] = ()

    def look(self) -> None:
        """Free calls of an inspected step are told to the takers too."""
        closely = self.desk.inspecting and self.desk.wants("called")
        self.free.inspect = functools.partial(self.desk.moment, "called") if closely else None

    def compiles(self) -> None:
        """The program compiles: no function mode inside modules from now on."""
        self.inspection.compiles = self.desk.compiles = True

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """An outermost module call begins."""
        self.root_args = args
        self.recorder.on_enter(module, args)
        self.desk.moment("entered", module, args)
        if self.free.inspect is not None:
            self.inspection.begin()

    def left(self, module: nn.Module, kwargs: dict[str, Any], output: Any, failed: bool) -> None:
        """It ended."""
        self.inspection.end()
        if failed:
            hide(sys.exc_info()[1])  # the program may print it itself
        self.recorder.on_leave(module, kwargs, output, failed)
        args, self.root_args = self.root_args, ()
        if not failed:
            self.desk.moment("left", module, args, kwargs, output)

    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: dict[str, Any]) -> bool:
        """An outermost backward is called."""
        self.losses = given
        self.desk.moment("backward_begins", given)
        return self.recorder.on_backward(given, grad_tensors, options)

    def backward_ended(self, popped: bool | None, failed: bool = False) -> None:
        """It ended; takers are told of one that worked, the recorder of each that began."""
        losses, self.losses = self.losses, []
        if popped is not None and not failed:
            self.desk.moment("backward_ended", losses)
        self.recorder.after_backward(popped, failed)

    def zero_grad(self, owner: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """optimizer.zero_grad, module.zero_grad."""
        output = self.recorder.on_quiet_call("zero_grad", original, (owner, *args), kwargs)
        self.desk.moment("zeroed", owner)
        return output

    def clip(self, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """clip_grad_norm_, clip_grad_value_."""
        norm = self.recorder.on_quiet_call("clip", original, args, kwargs)
        if (args[2] if len(args) > 2 else kwargs.get("norm_type", 2.0)) == 2:  # a norm of another order is not grad_l2
            self.canaries.clipped(args[0], norm)
        self.desk.moment("clipped", original.__name__, args, kwargs, norm)
        return norm
