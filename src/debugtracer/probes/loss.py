"""Backward calls: the outermost ones of the user, with the loss they start from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling


class Backwards:
    """Replaces torch.autograd.backward (Tensor.backward, GradScaler, Lightning and accelerate all end there)."""

    def __init__(
        self,
        before: Callable[[list[Tensor], Any, dict[str, Any]], Any],
        after: Callable[[Any, bool], None],
        paused: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.before = before
        """Called on entry with (tensors, their gradients, options); what it gives is handed to `after`, with whether the backward raised."""
        self.after = after
        self.paused = paused
        """A context without the function mode: under one, torch would call a Tensor.backward that somebody patched twice."""
        self.patches = Patches()
        self.here: Callable[[], bool] = lambda: True
        """False in a thread that does not train."""
        self.on_other_thread: Callable[[], None] | None = None
        self.depth = 0
        self.off = False

    def install(self) -> None:
        """Patch torch.autograd.backward and Function.apply's caller-visible name stays as it is."""
        self.patches.wrap(torch.autograd, "backward", self.wrapped)
        self.patches.wrap(Tensor, "backward", self.method)

    def remove(self) -> None:
        """Restore it."""
        self.patches.undo()

    def wrapped(self, original: Any) -> Any:
        """Our stand-in: same name and signature."""

        @functools.wraps(original)
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            if compiling():
                return original(tensors, grad_tensors, *args, **kwargs)
            if not self.off and not self.here():
                self.other_thread()
                return original(tensors, grad_tensors, *args, **kwargs)
            if self.off or self.depth or torch._C._current_graph_task_id() != -1:
                return original(tensors, grad_tensors, *args, **kwargs)
            self.depth += 1
            mark, failed = None, True
            try:
                mark = self.announce(tensors, grad_tensors, args, kwargs)
                result = original(tensors, grad_tensors, *args, **kwargs)
                failed = False
                return result
            finally:
                self.depth -= 1
                self.finish(mark, failed)

        return backward

    def other_thread(self) -> None:
        """Say once that a second thread trains."""
        tell, self.on_other_thread = self.on_other_thread, None
        if tell is not None:
            tell()

    def method(self, original: Any) -> Any:
        """Tensor.backward, past the dispatch to function modes."""

        @functools.wraps(original)
        def backward(tensor: Tensor, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or not self.here():
                return original(tensor, *args, **kwargs)
            with self.paused():
                return original(tensor, *args, **kwargs)

        return backward

    def announce(self, tensors: Any, grad_tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Tell the session, guarded."""
        options = dict(zip(("retain_graph", "create_graph", "grad_variables", "inputs"), args, strict=False)) | kwargs
        try:
            return self.before([tensors] if isinstance(tensors, Tensor) else list(tensors), grad_tensors, options)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("probes.loss", error)
            return None

    def finish(self, mark: Any, failed: bool) -> None:
        """Tell the session that it ended, or died of an exception; guarded."""
        try:
            self.after(mark, failed)
        except Exception as error:
            swallow("probes.loss", error)
