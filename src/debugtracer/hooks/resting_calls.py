"""Root calls while all rests: a stand-in for `nn.Module.__call__`, for a global hook sends every root call through
torch's slow path.

(docs/rationale/performance.md#governor)"""

from __future__ import annotations

import functools
from threading import get_ident
from time import perf_counter
from typing import Any, Protocol

import torch
from torch import nn

from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import Patches, Switch
from debugtracer.recorder.run_state import RunState

CALL = "__call__"
INNER = 64  # modules inside a root up to which a stand-in on each call is cheaper than a hook on the root's (ours)

ASKED = ("_compiled_call_impl", "_call_impl")
"""All that torch's call asks of a module; a call inside a root is then made here, with no frame more than torch's."""


class RootCalls(Protocol):
    """Who hears of root calls at rest. Never raises, but for the stop of mode dev."""

    def root_called(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Called after an outermost call that returned."""

    def root_failed(self, module: nn.Module) -> None:
        """Called where it raised; the exception is the program's and passes."""


class RestingCalls(Switch):
    """One per session. No class of the program is touched, and no module."""

    def __init__(self, listener: RootCalls, thread: TrainingThread, state: RunState) -> None:
        super().__init__()
        self.listener, self.thread, self.state = listener, thread, state
        self.patches = Patches()

    def begin(self) -> bool:
        """Put the stand-in in place; False, and nothing is patched, where hooks are cheaper or somebody else has
        replaced torch's call."""
        if self.state.compiles or nn.Module.__call__ is not nn.Module._wrapped_call_impl:
            return False
        if not all(map(is_small, self.state.roots.known)):
            return False
        self.patches.wrap(nn.Module, CALL, self.stand_in)
        return True

    def end(self) -> None:
        """Give the call back as it was; one in flight is still told."""
        self.patches.undo()

    def stand_in(self, original: Any) -> Any:
        """What every module calls instead. In one function: each further one costs a microsecond where a step of
        training has emptied the caches."""
        call, thread, state, listener = self.state.open_root, self.thread, self.state, self.listener
        tracing: Any = torch._C._get_tracing_state
        direct = getattr(getattr(original, "__code__", None), "co_names", ()) == ASKED

        @functools.wraps(original)
        def __call__(module: Any, /, *args: Any, **kwargs: Any) -> Any:
            if call.module is not None and direct and module._compiled_call_impl is None:
                return module._call_impl(*args, **kwargs)
            if call.module is not None or self.off or thread.owner != get_ident() or tracing() is not None:
                return original(module, *args, **kwargs)
            call.module, call.nested = module, 0
            state.forward_since = True
            try:
                output = original(module, *args, **kwargs)
            except BaseException as error:
                if call.module is module:
                    call.module = None
                    listener.root_failed(module)
                if error.__traceback__ is not None:
                    error.__traceback__ = error.__traceback__.tb_next  # it reads as it would without us
                raise
            returned = perf_counter()
            if call.module is module:  # else it was forgotten meanwhile
                call.module = None
                listener.root_called(module, args, kwargs, output)
            state.own_s += perf_counter() - returned
            return output

        return __call__


def is_small(module: nn.Module) -> bool:
    """Whether few modules are called inside it, and in Python."""
    if isinstance(module, torch.jit.ScriptModule):
        return False
    return sum(1 for _, _ in zip(module.modules(), range(INNER + 1), strict=False)) <= INNER
