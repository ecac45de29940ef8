"""Compiled functions and modules: Dynamo must not trace our function mode, so it leaves the stack before they run."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

import torch
from torch import nn

from debugtracer.callsites.frames import raw_frames
from debugtracer.errors import guarded
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.hook import AlwaysOn, Patches
from debugtracer.hooks.module import ModuleHook
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.hooks.skipped_code import compiling
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack

Call = Callable[..., Any]


class CompileHook(AlwaysOn):
    """Patches torch.compile: free functions become one entry of the tape, a compiled optimizer step passes the gate.

    And nn.Module.compile, whose hooks would be compiled away (docs/rationale/replay.md#module-compile)."""

    def __init__(
        self, events: LoopEvents, stack: ModeStack, modules: ModuleHook, optimizers: OptimizerHook, state: RunState
    ) -> None:
        self.events, self.stack, self.state = events, stack, state
        self.modules, self.optimizers = modules, optimizers
        self.patches = Patches()

    def install(self) -> None:
        """Patch torch.compile and nn.Module.compile; what was compiled before us counts."""
        if compiled_before():
            self.events.compiles()
        self.patches.wrap(torch, "compile", self.function)
        self.patches.wrap(nn.Module, "compile", self.module)

    def remove(self) -> None:
        """Restore both; what was compiled meanwhile stays and passes."""
        self.patches.undo()

    def function(self, original: Call) -> Call:
        """Wrap torch.compile, so that our function mode leaves the stack first."""

        @functools.wraps(original)
        def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
            self.events.compiles()
            owner = getattr(model, "__self__", None)
            if isinstance(owner, torch.optim.Optimizer):
                # the compiler meets torch's step, not our gate around it
                inner = getattr(model.__func__, "debug_tracer_original", None)
                return self.optimizers.wrapped_bound(
                    owner, original(MethodType(inner, owner) if inner is not None else model, *args, **kwargs)
                )
            made = original(model, *args, **kwargs)
            self.note(made)
            if model is None or isinstance(model, nn.Module) or isinstance(made, nn.Module) or not callable(made):
                return made
            return self.stand_in(made)

        return compile

    @guarded("hooks.compiled")
    def note(self, made: Any) -> None:
        """Note where it was compiled; a decorator without a function is not known yet."""
        if callable(made):
            self.state.compiled[made] = raw_frames(4)

    def stand_in(self, made: Call) -> Call:
        """A compiled free function."""

        @functools.wraps(made)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            if compiling() or not self.stack.listening():
                return made(*args, **kwargs)
            return self.events.custom_function(made, args, kwargs)

        return compiled

    def module(self, original: Call) -> Call:
        """Wrap nn.Module.compile, which works in place."""

        @functools.wraps(original)
        def compile(module: nn.Module, /, *args: Any, **kwargs: Any) -> None:
            self.events.compiles()
            original(module, *args, **kwargs)
            self.note(module)
            inner = getattr(module, "_compiled_call_impl", None)
            if inner is not None:
                module._compiled_call_impl = torch._dynamo.disable(self.through_hooks(module, inner), recursive=False)

        return compile

    def through_hooks(self, module: nn.Module, inner: Call) -> Call:
        """The compiled call between our two hooks."""
        modules = self.modules

        def outer(*args: Any, **kwargs: Any) -> Any:
            modules.enter(module, args)
            try:
                output = inner(*args, **kwargs)
            except Exception:
                modules.after(module, args)
                raise
            modules.after(module, args, kwargs, output)
            return output

        return outer


def compiled_before() -> bool:
    """Whether anything was given to Dynamo in this process yet. Imports no Dynamo (seconds)."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    backends: dict[int, Any] = getattr(frames, "cached_backends", {})
    return any(backend is not None for backend in backends.values())  # None stands for torch.compiler.disable
