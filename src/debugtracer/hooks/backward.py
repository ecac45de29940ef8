"""Patches backward: the outermost calls of the user, with the loss they start from."""

from __future__ import annotations

import functools
from threading import get_ident
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import Patches, Switch
from debugtracer.hooks.skipped_code import compiling
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack


class BackwardHook(Switch):
    """Replaces torch.autograd.backward (Tensor.backward, GradScaler, Lightning and accelerate all end there)."""

    def __init__(self, events: LoopEvents, thread: TrainingThread, stack: ModeStack, state: RunState) -> None:
        super().__init__()
        self.events, self.thread, self.stack, self.state = events, thread, stack, state
        self.patches, self.methods = Patches(), Patches()
        self.depth = 0
        self.others = False
        """A second thread was reported."""
        self.near = True
        """Dynamo may meet our function: not all rests, or the program compiles."""

    def install(self) -> None:
        """Patch torch.autograd.backward and Function.apply's caller-visible name stays as it is."""
        self.depth = 0
        self.patches.wrap(torch.autograd, "backward", self.wrapped)
        self.methods.wrap(Tensor, "backward", self.method)

    def remove(self) -> None:
        self.methods.lift(False)
        self.methods.undo()
        self.patches.undo()

    def rest(self, rests: bool) -> None:
        """Leave Tensor.backward to torch while all rests: there is no function mode to bypass."""
        self.methods.lift(rests)
        self.near = not rests or self.state.compiles

    def wrapped(self, original: Any) -> Any:
        """Wrap torch.autograd.backward under the same name and signature."""

        @functools.wraps(original)
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            if self.near and compiling():
                return original(tensors, grad_tensors, *args, **kwargs)
            if self.thread.owner != get_ident() and not self.off and not self.thread.here():
                self.other_thread()
                return original(tensors, grad_tensors, *args, **kwargs)
            if self.off or self.depth or torch._C._current_graph_task_id() != -1:
                return original(tensors, grad_tensors, *args, **kwargs)
            self.depth += 1
            mark, failed, told = None, True, None
            try:
                told = self.events.takes_loss(tensors)
                if told is None:
                    mark = self.announce(tensors, grad_tensors, args, kwargs)
                result = original(tensors, grad_tensors, *args, **kwargs)
                failed = False
                return result
            finally:
                self.depth -= 1
                if told is not False:
                    self.finish(mark, failed)

        return backward

    def other_thread(self) -> None:
        """Report once that a second thread trains."""
        if not self.others:
            self.others = True
            self.events.other_thread()

    def method(self, original: Any) -> Any:
        """Wrap Tensor.backward, to bypass the dispatch to function modes."""

        @functools.wraps(original)
        def backward(tensor: Tensor, /, *args: Any, **kwargs: Any) -> Any:
            if self.stack.resting or compiling() or self.off or not self.thread.here():
                return original(tensor, *args, **kwargs)
            # under a function mode torch would call a Tensor.backward that somebody patched twice
            with self.stack.paused():
                return original(tensor, *args, **kwargs)

        return backward

    def announce(self, tensors: Any, grad_tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Report that a backward begins, guarded."""
        given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        options = dict(zip(("retain_graph", "create_graph", "grad_variables", "inputs"), args, strict=False)) | kwargs
        try:
            return self.events.backward_begins(given, grad_tensors, options)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.backward", error)
            return None

    def finish(self, mark: Any, failed: bool) -> None:
        """Report that it ended, or died of an exception; guarded."""
        try:
            self.events.backward_ended(mark, failed)
        except Exception as error:
            swallow("hooks.backward", error)
