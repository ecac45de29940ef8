"""Wraps every outermost optimizer step, of torch's optimizers and of subclasses that users write."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import OutermostCalls, Patches
from debugtracer.hooks.skipped_code import compiling, unseen
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById

Step = Callable[..., Any]


class OptimizerHook(OutermostCalls):
    """Wraps `step` of every optimizer class, `zero_grad`, and notes where optimizers are built."""

    def __init__(self, events: LoopEvents, thread: TrainingThread, state: RunState) -> None:
        super().__init__()
        self.events, self.thread, self.state = events, thread, state
        self.zeroing = Patches()
        self.near = True
        """Dynamo may meet our step: not all rests, or the program compiles."""
        self.makers: ById[Optimizer, int] = ById()
        """The thread that built each."""
        thread.on_claim(self.claimed)

    def install(self) -> None:
        """Patch where torch hooks step functions, then every class already hooked.

        (docs/rationale/replay.md#step-hook)"""
        self.off = False
        hook_step = Optimizer.profile_hook_step
        self.patches.put(
            Optimizer,
            "profile_hook_step",
            staticmethod(functools.wraps(hook_step)(lambda func: self.wrapped(hook_step(func)))),
        )
        self.patches.wrap(Optimizer, "__init__", self.noted)
        self.zeroing.wrap(Optimizer, "zero_grad", self.zeroed)
        self.zeroing.wrap(torch.nn.Module, "zero_grad", self.zeroed)
        for kind in subclasses(Optimizer):
            if "step" in vars(kind) and getattr(kind.step, "hooked", False):
                self.patches.put(kind, "step", self.wrapped(kind.step))
        self.reach_bound_steps()

    def reach_bound_steps(self) -> None:
        """Wrap the bound step of optimizers built before us, where a scheduler stored one on the instance.

        (docs/rationale/replay.md#outermost-calls)"""
        if not any(getattr(vars(kind).get("step"), "hooked", False) for kind in subclasses(Optimizer)):
            return  # no optimizer was ever built
        for thing in gc.get_objects():
            if not issubclass(type(thing), Optimizer):
                continue
            self.events.optimizer_found(thing)
            # a wrapper ends at the step of the one inside
            if "step" in vars(thing) and not isinstance(vars(thing).get("optimizer"), Optimizer):
                self.patches.put(thing, "step", self.wrapped_bound(thing, vars(thing)["step"]))

    def remove(self) -> None:
        """Restore everything, classes hooked while we listened included."""
        self.zeroing.lift(False)
        self.zeroing.undo()
        self.close()
        for kind in subclasses(Optimizer):
            step = vars(kind).get("step")
            inner = getattr(step, "debug_tracer_original", None)
            # a patch over ours copies our attributes
            if inner is not None and getattr(step, "debug_tracer_step", None) is step:
                # torch marked our stand-in; without it the next constructor hooks again and step hooks run twice
                inner.hooked = True
                kind.step = inner

    def rest(self, rests: bool) -> None:
        """Leave zero_grad to torch while all rests: nobody would hear of it."""
        self.zeroing.lift(rests)
        self.near = not rests or self.state.compiles

    def wrapped(self, original: Step) -> Step:
        """A step function that asks the gate; nested calls (super().step()) pass."""

        @functools.wraps(original)
        def step(optimizer: Optimizer, /, *args: Any, **kwargs: Any) -> Any:
            if self.near and compiling():  # first of all: Dynamo must meet nothing of ours
                return original(optimizer, *args, **kwargs)
            if self.off or self.depth or (self.thread.owner != get_ident() and self.thread.elsewhere()):
                if not self.off and self.thread.elsewhere():
                    self.leave(optimizer)
                return original(optimizer, *args, **kwargs)
            self.depth += 1
            try:
                return self.events.step(optimizer, original, args, kwargs)
            finally:
                self.depth -= 1

        step.debug_tracer_original, step.debug_tracer_step = original, step  # type: ignore[attr-defined]
        passed: Step = unseen(step)
        return passed

    def wrapped_bound(self, optimizer: Optimizer, bound: Step) -> Step:
        """The same for a bound step that lies on an instance."""
        owner = weakref.ref(optimizer)

        @functools.wraps(bound)
        def step(*args: Any, **kwargs: Any) -> Any:
            target = owner() if not compiling() else None
            if target is None or self.off or self.thread.elsewhere() or self.depth:
                return bound(*args, **kwargs)
            self.depth += 1
            try:
                return self.events.step(target, lambda _, *a, **k: bound(*a, **k), args, kwargs)
            finally:
                self.depth -= 1

        return step

    def noted(self, original: Step) -> Step:
        """Wrap Optimizer.__init__ to note the user's line."""

        @functools.wraps(original)
        def init(optimizer: Optimizer, /, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            if not compiling() and not self.off and not self.thread.elsewhere():
                self.state.optimizers[optimizer] = raw_frames()
                self.makers[optimizer] = threading.get_ident()
                self.events.optimizer_found(optimizer)
                self.events.optimizer_built(optimizer)

        return init

    def claimed(self, owner: int, home: int) -> None:
        """Leave what other threads have built, when the training thread is known; the session's own thread may build
        for it."""
        for optimizer in list(self.state.optimizers):
            if self.makers.get(optimizer, owner) not in (owner, home):
                self.leave(optimizer)

    def leave(self, optimizer: Optimizer) -> None:
        """Leave an optimizer of another thread: reading its gradients while they are written can crash the program."""
        self.state.foreign[optimizer] = True
        self.state.optimizers.pop(optimizer, None)

    def zeroed(self, original: Step) -> Step:
        """Wrap zero_grad of optimizers and modules."""

        @functools.wraps(original)
        def zero_grad(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or self.depth or (self.thread.owner != get_ident() and self.thread.elsewhere()):
                return original(owner, *args, **kwargs)
            return self.events.zero_grad(owner, original, args, kwargs)

        return zero_grad


def subclasses(kind: Any) -> Iterator[Any]:
    """A class and everything below it."""
    yield kind
    for child in kind.__subclasses__():
        yield from subclasses(child)
