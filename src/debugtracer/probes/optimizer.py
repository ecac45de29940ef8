"""The gate: every outermost optimizer step passes through here, of any torch optimizer and of subclasses that users write."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling, unseen
from debugtracer.recorder.identity import ById

Step = Callable[..., Any]
Gate = Callable[[Optimizer, Step, tuple[Any, ...], dict[str, Any]], Any]


class Gates:
    """Wraps `step` of every optimizer class, `zero_grad`, and notes where optimizers are built."""

    def __init__(
        self, gate: Gate, zero: Callable[[Any, Step, tuple[Any, ...], dict[str, Any]], Any], frames: Callable[[], Any], seen: Callable[[], None] = lambda: None
    ) -> None:
        self.gate = gate
        """Runs the step or not; what the original raises passes through it."""
        self.zero = zero
        self.frames = frames
        self.seen = seen
        """Called when an optimizer is built, or found: this program has updates of its own."""
        self.on_built: Callable[[Optimizer], None] = lambda optimizer: None
        """Told after each constructor; must not raise."""
        self.patches = Patches()
        self.elsewhere: Callable[[], bool] = lambda: False
        """True in a thread that does not train."""
        self.depth = 0
        self.off = False
        self.built: ById[Optimizer, Any] = ById()
        """Raw user frames of each constructor call."""
        self.makers: ById[Optimizer, int] = ById()
        """The thread that built each."""
        self.foreign: ById[Optimizer, bool] = ById()
        """Those that another thread steps or has built."""

    def install(self) -> None:
        """Patch the place where torch hooks step functions, then every class already hooked (FEASIBILITY 1b, P3, P5)."""
        self.off = False
        hook_step = Optimizer.profile_hook_step
        self.patches.put(Optimizer, "profile_hook_step", staticmethod(functools.wraps(hook_step)(lambda func: self.wrapped(hook_step(func)))))
        self.patches.wrap(Optimizer, "__init__", self.noted)
        self.patches.wrap(Optimizer, "zero_grad", self.zeroed)
        self.patches.wrap(torch.nn.Module, "zero_grad", self.zeroed)
        for kind in subclasses(Optimizer):
            if "step" in vars(kind) and getattr(kind.step, "hooked", False):
                self.patches.put(kind, "step", self.wrapped(kind.step))
        self.reach_bound_steps()

    def reach_bound_steps(self) -> None:
        """Optimizers built before us: told, and their bound step wrapped where a scheduler stored one on the instance (FEASIBILITY P5)."""
        if not any(getattr(vars(kind).get("step"), "hooked", False) for kind in subclasses(Optimizer)):
            return  # no optimizer was ever built
        for thing in gc.get_objects():
            if not issubclass(type(thing), Optimizer):
                continue
            self.seen()
            if "step" in vars(thing) and not isinstance(vars(thing).get("optimizer"), Optimizer):  # a wrapper ends at the step of the one inside
                self.patches.put(thing, "step", self.wrapped_bound(thing, vars(thing)["step"]))

    def remove(self) -> None:
        """Restore everything, classes hooked while we listened included."""
        self.off = True
        self.patches.undo()
        for kind in subclasses(Optimizer):
            step = vars(kind).get("step")
            inner = getattr(step, "debug_tracer_original", None)
            if inner is not None and getattr(step, "debug_tracer_step", None) is step:  # a patch over ours copies our attributes
                inner.hooked = True  # torch marked our stand-in; without it the next constructor hooks again and step hooks run twice
                kind.step = inner

    def wrapped(self, original: Step) -> Step:
        """A step function that asks the gate; nested calls (super().step()) pass."""

        @functools.wraps(original)
        def step(optimizer: Optimizer, /, *args: Any, **kwargs: Any) -> Any:
            if compiling():  # first of all: Dynamo must meet nothing of ours
                return original(optimizer, *args, **kwargs)
            if self.off or self.elsewhere() or self.depth:
                if not self.off and self.elsewhere():
                    self.leave(optimizer)
                return original(optimizer, *args, **kwargs)
            self.depth += 1
            try:
                return self.gate(optimizer, original, args, kwargs)
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
            if compiling():
                return bound(*args, **kwargs)
            target = owner()
            if self.off or self.elsewhere() or self.depth or target is None:
                return bound(*args, **kwargs)
            self.depth += 1
            try:
                return self.gate(target, lambda _, *a, **k: bound(*a, **k), args, kwargs)
            finally:
                self.depth -= 1

        return step

    def noted(self, original: Step) -> Step:
        """Optimizer.__init__ that notes the user's line."""

        @functools.wraps(original)
        def init(optimizer: Optimizer, /, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            if not compiling() and not self.off and not self.elsewhere():
                self.built[optimizer] = self.frames()
                self.makers[optimizer] = threading.get_ident()
                self.seen()
                self.on_built(optimizer)

        return init

    def claimed(self, owner: int, home: int) -> None:
        """The training thread is known: what other threads have built is theirs; that of the session often builds for another one."""
        for optimizer in list(self.built):
            if self.makers.get(optimizer, owner) not in (owner, home):
                self.leave(optimizer)

    def leave(self, optimizer: Optimizer) -> None:
        """One of another thread: its gradients are written while we run, and reading one then can crash the program."""
        self.foreign[optimizer] = True
        self.built.pop(optimizer, None)

    def zeroed(self, original: Step) -> Step:
        """zero_grad, of optimizers and modules."""

        @functools.wraps(original)
        def zero_grad(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or self.elsewhere() or self.depth:
                return original(owner, *args, **kwargs)
            return self.zero(owner, original, args, kwargs)

        return zero_grad


def subclasses(kind: Any) -> Iterator[Any]:
    """A class and everything below it."""
    yield kind
    for child in kind.__subclasses__():
        yield from subclasses(child)


def parameters(optimizer: Optimizer) -> list[torch.Tensor]:
    """All parameters in optimizer order."""
    return [p for group in optimizer.param_groups for p in group["params"]]
