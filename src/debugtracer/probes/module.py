"""Root-module calls: the outermost module the loop calls, seen by global hooks that stand aside under torch.compile."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.probes.thread import TrainingThread

UNSET = object()
OPTIMIZED = r"Using `torch\.compile\(module\)` when there are global hooks"  # torch's remark on hooks firing twice, which the depth rule takes care of


class RootCalls:
    """Global forward hooks with a depth rule: only the outermost call is reported, inner calls cost one comparison."""

    def __init__(self, enter: Callable[[nn.Module, tuple[Any, ...]], None], leave: Callable[[nn.Module, dict[str, Any], Any, bool], None]) -> None:
        self.enter = enter
        """Called before an outermost call with (module, args)."""
        self.leave = leave
        """Called after it with (module, kwargs, output, failed)."""
        self.root: nn.Module | None = None
        self.nested = 0
        self.handles: list[Any] = []
        self.off = False
        self.thread = TrainingThread()

    def install(self) -> None:
        """Register the two global hooks."""
        register = torch.nn.modules.module
        warnings.filterwarnings("ignore", message=OPTIMIZED)
        self.handles = [
            register.register_module_forward_pre_hook(self.before),
            register.register_module_forward_hook(self.after, with_kwargs=True, always_call=True),
        ]

    def remove(self) -> None:
        """Unregister them."""
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def reset(self) -> bool:
        """Forget a call that never returned (KeyboardInterrupt inside a forward); True if there was one."""
        lost, self.root, self.nested = self.root is not None, None, 0
        return lost

    def before(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Global pre-hook; always returns None so that no argument is replaced."""
        if torch.compiler.is_compiling() or self.off or torch._C._get_tracing_state() is not None:
            return
        if self.thread.elsewhere() or (torch.is_grad_enabled() and not self.thread.here()):
            return
        if self.root is not None:
            self.nested += module is self.root
            return
        self.root, self.nested = module, 0
        try:
            self.enter(module, args)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("probes.module", error)

    def after(self, module: nn.Module, args: tuple[Any, ...], kwargs: Any = None, output: Any = UNSET) -> None:
        """Global post-hook; after an exception torch calls it without kwargs. Always returns None."""
        if torch.compiler.is_compiling() or self.off or module is not self.root or self.thread.elsewhere():
            return
        if self.nested:
            self.nested -= 1
            return
        self.root = None
        failed = output is UNSET
        try:
            self.leave(module, {} if failed else kwargs, None if failed else output, failed)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("probes.module", error)
