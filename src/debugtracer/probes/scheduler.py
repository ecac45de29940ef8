"""Learning-rate schedulers: what they do is kept off the tape."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from debugtracer.probes.forwarded import from_caller
from debugtracer.probes.optimizer import subclasses
from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling


class Schedulers:
    """Wraps `step` of every scheduler class, those that are defined later when one is built."""

    def __init__(
        self,
        paused: Callable[[], AbstractContextManager[None]],
        stepped: Callable[[Any, tuple[Any, ...], dict[str, Any]], None] = lambda scheduler, args, kwargs: None,
        built: Callable[[Any], None] = lambda scheduler: None,
    ) -> None:
        self.paused = paused
        self.stepped = stepped
        """Told after an outermost step that the program called; must not raise."""
        self.built = built
        """Told after an outermost constructor; must not raise."""
        self.depth = 0
        self.patches = Patches()
        self.seen: set[type] = set()
        self.off = False

    def install(self) -> None:
        """Patch LRScheduler.__init__, which most subclasses call, and the steps of all classes there are (ReduceLROnPlateau does not call it)."""
        self.off = False
        self.seen.clear()
        self.patches.wrap(torch.optim.lr_scheduler.LRScheduler, "__init__", self.constructor)
        for kind in subclasses(torch.optim.lr_scheduler.LRScheduler):
            self.cover(kind)

    def remove(self) -> None:
        """Restore everything."""
        self.off = True
        self.patches.undo()

    def constructor(self, original: Any) -> Any:
        """The constructor steps once by itself; then the class's step is wrapped."""

        @functools.wraps(original)
        def init(scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
            self.depth += 1
            try:
                with self.paused():
                    original(scheduler, *args, **kwargs)
            finally:
                self.depth -= 1
            if not self.off:
                self.cover(type(scheduler))
                if not self.depth:
                    self.built(scheduler)

        return init

    def cover(self, kind: type) -> None:
        """Wrap the class that defines the step of `kind`."""
        owner = next((k for k in kind.__mro__ if "step" in vars(k)), None)
        if owner is not None and owner not in self.seen:
            self.seen.add(owner)
            self.patches.wrap(owner, "step", self.quiet)

    def quiet(self, original: Any) -> Any:
        """A step whose torch calls are not taped."""

        @functools.wraps(original)
        def step(scheduler: Any, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off:
                return original(scheduler, *args, **kwargs)
            self.depth += 1
            try:
                with self.paused():
                    output = from_caller()(original, (scheduler, *args), kwargs)
            finally:
                self.depth -= 1
            if not self.depth:
                self.stepped(scheduler, args, kwargs)
            return output

        return step
