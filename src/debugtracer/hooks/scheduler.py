"""Patches learning-rate schedulers: their own calls are kept off the tape."""

from __future__ import annotations

import functools
from typing import Any

import torch

from debugtracer.callsites.caller import from_caller
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.optimizer import subclasses
from debugtracer.hooks.skipped_code import compiling
from debugtracer.recorder.tape.mode_stack import ModeStack


class SchedulerHook(OutermostCalls):
    """Wraps `step` of every scheduler class, those that are defined later when one is built."""

    def __init__(self, events: LoopEvents, stack: ModeStack) -> None:
        super().__init__()
        self.events, self.stack = events, stack
        self.seen: set[type] = set()

    def install(self) -> None:
        """Patch LRScheduler.__init__, which most subclasses call, and the steps of all classes there are
        (ReduceLROnPlateau does not call it)."""
        self.off = False
        self.seen.clear()
        self.patches.wrap(torch.optim.lr_scheduler.LRScheduler, "__init__", self.constructor)
        for kind in subclasses(torch.optim.lr_scheduler.LRScheduler):
            self.cover(kind)

    def remove(self) -> None:
        self.close()

    def constructor(self, original: Any) -> Any:
        """The constructor steps once by itself; then the class's step is wrapped."""

        @functools.wraps(original)
        def init(scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
            with self.stack.paused():
                self.inside(original, scheduler, *args, **kwargs)
            if not self.off:
                self.cover(type(scheduler))
                if not self.depth:
                    self.events.scheduler_built(scheduler)

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
            with self.stack.paused():
                output = self.inside(from_caller(), original, (scheduler, *args), kwargs)
            if not self.depth:
                self.events.scheduled(scheduler, args, kwargs)
            return output

        return step
