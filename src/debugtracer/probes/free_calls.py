"""Torch calls of the loop outside modules (the loss, the batch's preparation), written on the tape by a function mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode, _push_mode

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.probes.forwarded import from_caller
from debugtracer.probes.loss_function import LOSSES
from debugtracer.recorder.functions import Meaning, meaning
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.tape import Tape, finish, prepare


class FreeCalls(TorchFunctionMode):
    """The function mode. It is taken off the stack while modules, backward, optimizers and loaders run, so it costs nothing there."""

    def __init__(self, tape: Tape, on_peek: Callable[[Tensor], None]) -> None:
        super().__init__()
        self.tape = tape
        self.on_peek = on_peek
        self.inspect: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None] | None = None
        """Told of each call after it ran, while a step is inspected; must not raise."""
        self.scored: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None] | None = None
        """Told of a loss function called without a graph, on any step; must not raise."""
        self.off = 0
        """Above 0: every call passes untouched (used when another mode lies on top of ours)."""
        self.pushed = False
        self.elsewhere: Callable[[], bool] = lambda: False
        """True in a thread that does not train."""

    def move(self) -> None:
        """The training thread is this one: listen here; the stack of the thread we were installed in cannot be reached, we are silent there."""
        self.pushed = False
        self.install()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Record one call; what the function raises is the user's and passes."""
        kwargs = kwargs or {}
        what = Meaning.IGNORE if self.off or self.elsewhere() else meaning(function)
        if what is Meaning.IGNORE or torch._C._are_functorch_transforms_active() or torch._C._get_tracing_state() is not None:
            return from_caller()(function, args, kwargs)
        if what is Meaning.PEEK:
            self.peek(args)
        pending = self.guarded(prepare, what, function, args, kwargs)
        output = from_caller()(function, args, kwargs)
        if pending is not None:
            self.guarded(finish, pending, output)
        if self.inspect is not None:
            self.inspect(function, args, kwargs, output)
        if self.scored is not None and not torch.is_grad_enabled() and getattr(function, "__name__", "") in LOSSES:
            self.scored(function, args, kwargs, output)
        return output

    def guarded(self, action: Any, *args: Any) -> Any:
        """Our own part of a call: a failure refuses the replay of this step and nothing else."""
        try:
            with measuring(False):
                return action(self.tape, *args)
        except Exception as error:
            self.tape.current.refused = f"recording failed ({type(error).__name__})"
            swallow("recorder.tape", error)
            return None

    def peek(self, args: Any) -> None:
        """The user looks at a value: if it is the loss and bad, the replay comes before their reaction. No sync that they do not make themselves."""
        tensor = args[0] if args else None
        try:
            if isinstance(tensor, Tensor) and self.is_bad_loss(tensor):
                self.on_peek(tensor)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("probes.free_calls", error)

    def is_bad_loss(self, tensor: Tensor) -> bool:
        """A loss in host memory that is not finite."""
        with measuring(False):
            return tensor.device.type == "cpu" and self.tape.is_losslike(tensor) and not torch.isfinite(tensor.detach()).item()

    def install(self) -> None:
        """Put the mode on this thread's stack."""
        if not self.pushed:
            _push_mode(self)
            self.pushed = True

    def remove(self) -> None:
        """Take the mode off this thread's stack, or disarm it if it lies under another one."""
        if self.pushed and _get_current_function_mode() is self:
            _pop_mode()
        elif self.pushed:
            self.off += 1
        self.pushed = False

    def listening(self) -> bool:
        """True while free calls of this thread are taped."""
        return self.pushed and not self.off and _get_current_function_mode() is self

    def suspend(self) -> bool:
        """Stop listening until resume(answer); True when the mode left the stack."""
        if self.pushed and not self.off and _get_current_function_mode() is self:
            _pop_mode()
            self.pushed = False
            return True
        self.off += 1
        return False

    def resume(self, popped: bool) -> None:
        """The counterpart of suspend()."""
        if not popped:
            self.off -= 1
        elif not self.pushed:
            _push_mode(self)
            self.pushed = True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No recording inside."""
        popped = self.suspend()
        try:
            yield
        finally:
            self.resume(popped)
