"""Checksums this rank's copy of the model, and checks that the loop calls the DDP wrapper that keeps copies equal."""

from __future__ import annotations

import functools
import math
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from debugtracer.callsites.construction import built_at
from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.observers.checkpoint.checksum import checksums
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.gate.norms import total_l2
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.replicas import Replica

EVERY = 50  # steps between two looks (docs/rationale/checks.md#dev_rank_param_div)


class Wrapper:
    """One DistributedDataParallel."""

    def __init__(self, module: DistributedDataParallel, frame: Frame | None) -> None:
        self.module = weakref.ref(module)
        self.inner = {id(part) for part in module.module.modules()}
        self.frame = frame
        self.called = False
        """In the iteration in flight."""
        self.around: Frame | None = None
        """The line outside of it that called a part or a method of it instead."""
        self.bypassed: Frame | None = None
        self.loaded: Frame | None = None
        """The line that loaded weights into it after it had made the copies equal."""


class ReplicaObserver(Observer):
    """No collective and no exchange: each rank writes down its own, they are compared after the run."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.wrappers: list[Wrapper] = []

    def install(self) -> None:
        """Listen to the wrapper's constructor."""
        self.patches.wrap(DistributedDataParallel, "__init__", self.wrap)

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        """Drop the wrappers: a forked child wraps its own."""
        self.wrappers.clear()

    def wrap(self, original: Callable[..., None]) -> Callable[..., None]:
        """Wrap DistributedDataParallel.__init__ to note new replicas."""

        @functools.wraps(original)
        def __init__(module: Any, /, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            self.wrapped(module, sys._getframe(1))

        return __init__

    @guarded("observers.device.replicas: DistributedDataParallel()")
    def wrapped(self, module: DistributedDataParallel, caller: Any) -> None:
        """Note that a model was replicated."""
        self.wrappers.append(Wrapper(module, built_at(caller, module)))
        self.run.subscribe(self.entered, self.backward_ended, self.step_begins)

    def restored(self, word: str, owner: Any) -> None:
        """Note weights that are loaded into a model which is wrapped already."""
        for wrapper in self.wrappers if word == "weights" else ():
            if wrapper.module() is owner or id(owner) in wrapper.inner:
                wrapper.loaded = self.run.here()

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note whether the loop calls the wrapper, or the model around it."""
        for wrapper in self.wrappers if torch.is_grad_enabled() else ():
            if wrapper.module() is module:
                wrapper.called = True
            elif wrapper.called or wrapper.around is not None or not module.training:
                continue
            elif id(module) in wrapper.inner and not inside_forward():
                wrapper.around = line_outside(wrapper.inner)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note an iteration whose forward went around the wrapper: it averages nothing."""
        if not self.wrappers:
            self.run.unsubscribe(self.entered, self.backward_ended, self.step_begins)
        for wrapper in self.wrappers:
            if not wrapper.called and wrapper.around is not None and wrapper.bypassed is None:
                wrapper.bypassed = wrapper.around
            wrapper.called, wrapper.around = False, None

    def step_begins(self, optimizer: Optimizer) -> None:
        """Compare when gradients are final and parameters are still those of the forward."""
        if self.wrappers and (self.run.inspecting or self.run.step % EVERY == 0):
            held = {id(p) for p in parameters(optimizer)}
            for wrapper in self.wrappers:
                module = wrapper.module()
                if module is not None:
                    self.compare_sums(wrapper, module, optimizer, held)

    def compare_sums(
        self, wrapper: Wrapper, module: DistributedDataParallel, optimizer: Optimizer, held: set[int]
    ) -> None:
        """Emit checksums of what this optimizer writes in this model."""
        ignored = getattr(module, "parameters_to_ignore", ())
        named = [
            (name, p)
            for name, p in module.module.named_parameters()
            if id(p) in held and p.requires_grad and name not in ignored
        ]
        if not named:
            return
        values, grads = [p for _, p in named], [p.grad for _, p in named]
        sums = checksums([*values, *grads])
        grad_l2, param_l2 = norm([g for g in grads if g is not None]), norm(values)
        lr = optimizer.param_groups[0].get("lr")
        self.run.emit(
            Replica(
                ref=self.run.ref("update", self.run.iteration - 1), wrapper=type(module).__name__, frame=wrapper.frame,
                group=group_of(module), hooked=bool(getattr(module, "_comm_hooks", ())), bypassed=wrapper.bypassed,
                loaded=wrapper.loaded, replaced=replaced(module, values),
                optimizer=type(optimizer).__name__, built=self.run.built_at(optimizer),
                lr=float(lr) if isinstance(lr, (int, float)) else None, names=tuple(name for name, _ in named),
                before=sums[: len(named)], grads=sums[len(named) :],
                grad_l2=grad_l2 if math.isfinite(grad_l2) else -1.0, param_l2=param_l2, bad=not math.isfinite(grad_l2),
            )
        )  # fmt: skip


def norm(tensors: list[Tensor]) -> float:
    """The L2 norm over all of these tensors. Syncs the host."""
    total = total_l2(tensors)
    return 0.0 if total is None else float(total.item())


def replaced(module: DistributedDataParallel, values: list[nn.Parameter]) -> int:
    """How many of these are new since the wrapper hooked the parameters: it averages no gradient of theirs."""
    hooked = getattr(module, "_module_parameters", None)
    known = {id(p) for p in hooked or ()}
    return sum(id(p) not in known for p in values) if known else 0


def group_of(module: DistributedDataParallel) -> tuple[int, ...]:
    """The ranks it averages over."""
    return tuple(torch.distributed.get_process_group_ranks(module.process_group))


def line_outside(inner: set[int]) -> Frame | None:
    """The user's line that called a method of these modules from outside: what it calls next may be any part of them.
    The innermost line where no method of theirs is on the stack."""
    frame: FrameType | None = sys._getframe(1)
    found: tuple[CodeType, int] | None = None
    while frame is not None:
        code = frame.f_code
        if place_of(code) == USER:
            own = code.co_argcount > 0 and id(local(frame, code.co_varnames[0])) in inner
            found = None if own else found or (code, frame.f_lineno)
        frame = frame.f_back
    return as_frame(*found) if found is not None else None


def inside_forward() -> bool:
    """Whether the wrapper's own forward is on the stack (it calls the inner module)."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is DistributedDataParallel.forward.__code__:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
