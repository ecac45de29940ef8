"""What is swapped between the blocks of benchmarks/rest_turns.py: what of debug-tracer stands in the place of torch's
own, and the least that would see a bad step (the floor)."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

KEPT = 64  # losses and norms that the floor keeps, as many as are published together
everywhere: Any = torch.nn.modules.module


class Watch:
    """What of debug-tracer stands in torch's places: taken away and put back between two steps."""

    def __init__(self, session: Any) -> None:
        from debugtracer.hooks.hook import MISSING, Patches

        self.session, self.missing = session, MISSING
        self.patches = [patches for patches in gc.get_objects() if isinstance(patches, Patches) and patches.done]
        self.taken: list[tuple[Any, str, Any]] = []
        self.hooks: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})

    def key(self) -> tuple[bool, bool]:
        """Whether observers rest, and root calls too."""
        events = self.session.events
        return events.target is events.resting, events.calls.rests

    def publish(self) -> None:
        """Publish the steps that wait: they are counted where they were made."""
        if self.key()[0]:
            self.session.events.resting.steps.publish()

    def touch(self) -> None:
        """Set each patched attribute to what it is: the interpreter forgets what it has learnt of a class whose
        attribute is set, and is to have forgotten it before each block, not before those alone that follow a change."""
        for owner, name, _, _ in [done for patches in self.patches for done in patches.done]:
            if name in vars(owner):
                setattr(owner, name, vars(owner)[name])

    def leave(self) -> None:
        """Put torch's own functions back."""
        self.taken = []
        for owner, name, before, value in [done for patches in self.patches for done in patches.done]:
            if vars(owner).get(name, self.missing) is value and before is not self.missing:
                self.taken.append((owner, name, value))
                setattr(owner, name, before)
        hooks = everywhere._global_forward_pre_hooks, everywhere._global_forward_hooks
        self.hooks = hooks[0].copy(), hooks[1].copy()
        hooks[0].clear()
        hooks[1].clear()

    def come_back(self) -> None:
        """Put ours in their place again."""
        for owner, name, value in self.taken:
            setattr(owner, name, value)
        everywhere._global_forward_pre_hooks.update(self.hooks[0])
        everywhere._global_forward_hooks.update(self.hooks[1])


class Floor:
    """The least that would see a bad step: the loss of each backward and one fused norm of each update's gradients are
    read, and nothing else is done."""

    def __init__(self, trained: Callable[[], list[Tensor]] | None) -> None:
        self.trained = trained
        """The tensors of a loop that writes its weights itself; None where an optimizer has them."""
        self.rows: list[tuple[float, float]] = []
        self.loss = 0.0
        self.backward = torch.autograd.backward

    def come(self) -> None:
        """Read the loss of each backward from here on."""
        self.backward = torch.autograd.backward
        torch.autograd.backward = self.reading(self.backward)

    def leave(self) -> None:
        """Put back what stood there."""
        torch.autograd.backward = self.backward

    def reading(self, original: Any) -> Any:
        """A backward whose loss is read before it, and whose gradients after it where no optimizer steps."""

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self.loss = good((tensors if isinstance(tensors, Tensor) else tensors[0]).tolist())
            done = original(tensors, *args, **kwargs)
            if self.trained is not None:
                self.read(self.trained())
            return done

        return backward

    def read(self, tensors: list[Tensor]) -> None:
        """Read one norm of all gradients, where there are any, and keep it with the loss."""
        grads = [t.grad for t in tensors if t.grad is not None]
        norms = torch._foreach_norm(grads) if grads else []
        self.rows.append((self.loss, good(math.hypot(*map(Tensor.tolist, norms)))))  # type: ignore[arg-type]
        if len(self.rows) >= KEPT:
            self.rows.clear()

    def step(self, optimizer: Any, original: Any, args: Any, kwargs: Any) -> Any:
        """Run a step of an optimizer whose gradients are read before it, after its closure."""
        closure = kwargs.get("closure", args[0] if args else None)
        if closure is not None:
            with torch.enable_grad():
                result = closure()
            self.read(optimizer.param_groups[0]["params"])
            return original(optimizer, lambda: result)
        self.read(optimizer.param_groups[0]["params"])
        return original(optimizer, *args, **kwargs)


def good(value: Any) -> float:
    """The number. Raises ArithmeticError where it is not finite."""
    if not math.isfinite(value):
        raise ArithmeticError(f"{value} in a program that should be healthy")
    return float(value)
