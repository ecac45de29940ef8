"""Custom autograd.Functions called by the loop itself: invisible to a function mode, so their apply is wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.autograd.function import Function

from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling


class CustomFunctions:
    """Replaces Function.apply; a call inside a module passes after one comparison."""

    def __init__(self, handle: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any], listening: Callable[[], bool]) -> None:
        self.handle = handle
        """Runs and records one apply."""
        self.listening = listening
        self.patches = Patches()

    def install(self) -> None:
        """Patch the class method that every custom Function inherits."""
        bind = vars(Function)["apply"].__get__  # a classmethod; a descriptor written in C since torch 2.15
        probe, original = self, bind(None, Function)

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or not probe.listening():
                return bind(None, cls)(*args, **kwargs)
            return probe.handle(bind(None, cls), args, kwargs)

        apply.__doc__, apply.__qualname__, apply.__module__ = original.__doc__, original.__qualname__, original.__module__
        self.patches.put(Function, "apply", classmethod(apply))

    def remove(self) -> None:
        """Restore it."""
        self.patches.undo()
