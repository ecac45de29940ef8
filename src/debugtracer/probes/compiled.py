"""Compiled functions and modules: Dynamo must not trace our function mode, so it leaves the stack before they run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

import torch
from torch import nn

from debugtracer.errors import guarded
from debugtracer.probes.frames import raw_frames
from debugtracer.probes.module import RootCalls
from debugtracer.probes.optimizer import Gates
from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling
from debugtracer.recorder.identity import ById

Call = Callable[..., Any]


class Compiled:
    """Patches torch.compile: free functions become one entry of the tape, a compiled optimizer step passes the gate.

    And nn.Module.compile, whose hooks would be compiled away (FEASIBILITY 1c)."""

    def __init__(self, handle: Callable[[Call, tuple[Any, ...], dict[str, Any]], Any], listening: Callable[[], bool], roots: RootCalls, gates: Gates) -> None:
        self.handle = handle
        """Runs and records one call of a compiled function."""
        self.listening = listening
        self.roots = roots
        self.gates = gates
        self.patches = Patches()
        self.places: ById[Any, Any] = ById()
        """What was compiled -> raw user frames of the call that did it."""
        self.on_compile: Callable[[], None] = lambda: None
        """Told when the program compiles something."""

    def install(self) -> None:
        """Patch both."""
        self.patches.wrap(torch, "compile", self.function)
        self.patches.wrap(nn.Module, "compile", self.module)

    def remove(self) -> None:
        """Restore both; what was compiled meanwhile stays and passes."""
        self.patches.undo()

    def function(self, original: Call) -> Call:
        """torch.compile."""

        @functools.wraps(original)
        def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
            self.on_compile()
            owner = getattr(model, "__self__", None)
            if isinstance(owner, torch.optim.Optimizer):
                inner = getattr(model.__func__, "debug_tracer_original", None)  # the compiler meets torch's step, not our gate around it
                return self.gates.wrapped_bound(owner, original(MethodType(inner, owner) if inner is not None else model, *args, **kwargs))
            made = original(model, *args, **kwargs)
            self.note(made)
            if model is None or isinstance(model, nn.Module) or isinstance(made, nn.Module) or not callable(made):
                return made
            return self.stand_in(made)

        return compile

    @guarded("probes.compiled")
    def note(self, made: Any) -> None:
        """Where it was compiled; a decorator without a function is not known yet."""
        if callable(made):
            self.places[made] = raw_frames(4)

    def stand_in(self, made: Call) -> Call:
        """A compiled free function."""

        @functools.wraps(made)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            if compiling() or not self.listening():
                return made(*args, **kwargs)
            return self.handle(made, args, kwargs)

        return compiled

    def module(self, original: Call) -> Call:
        """nn.Module.compile, in place."""

        @functools.wraps(original)
        def compile(module: nn.Module, /, *args: Any, **kwargs: Any) -> None:
            self.on_compile()
            original(module, *args, **kwargs)
            self.note(module)
            inner = getattr(module, "_compiled_call_impl", None)
            if inner is not None:
                module._compiled_call_impl = torch._dynamo.disable(self.through_hooks(module, inner), recursive=False)

        return compile

    def through_hooks(self, module: nn.Module, inner: Call) -> Call:
        """The compiled call between our two hooks."""
        roots = self.roots

        def outer(*args: Any, **kwargs: Any) -> Any:
            roots.before(module, args)
            try:
                output = inner(*args, **kwargs)
            except Exception:
                roots.after(module, args)
                raise
            roots.after(module, args, kwargs, output)
            return output

        return outer
