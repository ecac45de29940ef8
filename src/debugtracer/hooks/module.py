"""Root-module calls: global hooks on the outermost module the loop calls, inactive under torch.compile."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.hooks.hook import Switch
from debugtracer.hooks.loop_events import LoopEvents
from debugtracer.hooks.training_thread import TrainingThread
from debugtracer.recorder.run_state import OpenRoot

UNSET = object()
# torch's remark on hooks firing twice, which the depth rule takes care of
OPTIMIZED = r"Using `torch\.compile\(module\)` when there are global hooks"


class ModuleHook(Switch):
    """Global forward hooks with a depth rule: only the outermost call is reported, inner calls cost one comparison."""

    def __init__(self, events: LoopEvents, thread: TrainingThread, open_root: OpenRoot) -> None:
        super().__init__()
        self.events, self.thread, self.open_root = events, thread, open_root
        self.handles: list[Any] = []

    def install(self) -> None:
        """Register the two global hooks."""
        register = torch.nn.modules.module
        warnings.filterwarnings("ignore", message=OPTIMIZED)
        self.handles = [
            register.register_module_forward_pre_hook(self.before),
            register.register_module_forward_hook(self.after, with_kwargs=True, always_call=True),
        ]

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def before(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Run before each module; returns None so that no argument is replaced."""
        if torch.compiler.is_compiling() or self.off or torch._C._get_tracing_state() is not None:
            return
        if self.thread.elsewhere() or (torch.is_grad_enabled() and not self.thread.here()):
            return
        call = self.open_root
        if call.module is not None:
            call.nested += module is call.module
            return
        call.module, call.nested = module, 0
        try:
            self.events.entered(module, args)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.module", error)

    def after(self, module: nn.Module, args: tuple[Any, ...], kwargs: Any = None, output: Any = UNSET) -> None:
        """Run after each module; after an exception torch calls it without kwargs. Returns None."""
        call = self.open_root
        if torch.compiler.is_compiling() or self.off or module is not call.module or self.thread.elsewhere():
            return
        if call.nested:
            call.nested -= 1
            return
        call.module = None
        failed = output is UNSET
        try:
            self.events.left(module, {} if failed else kwargs, None if failed else output, failed)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.module", error)
