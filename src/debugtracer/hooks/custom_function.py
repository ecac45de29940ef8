"""Custom autograd.Functions called by the loop itself: invisible to a function mode, so their apply is wrapped."""

from __future__ import annotations

from typing import Any

from torch.autograd.function import Function

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.hook import AlwaysOn, Patches
from debugtracer.hooks.skipped_code import compiling
from debugtracer.recorder.tape.mode_stack import ModeStack


class CustomFunctionHook(AlwaysOn):
    """Replaces Function.apply; a call inside a module passes after one comparison."""

    def __init__(self, events: LoopEvents, stack: ModeStack) -> None:
        self.events, self.stack = events, stack
        self.patches = Patches()

    def install(self) -> None:
        """Patch the class method that every custom Function inherits."""
        bind = vars(Function)["apply"].__get__  # a classmethod; a descriptor written in C since torch 2.15
        hook, original = self, bind(None, Function)

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or not hook.stack.listening():
                return bind(None, cls)(*args, **kwargs)
            return hook.events.custom_function(bind(None, cls), args, kwargs)

        apply.__doc__, apply.__qualname__, apply.__module__ = (
            original.__doc__,
            original.__qualname__,
            original.__module__,
        )
        self.patches.put(Function, "apply", classmethod(apply))

    def remove(self) -> None:
        self.patches.undo()
