"""A copy of parameters and optimizer state taken just before the update, so that a fault born inside step() can be
replayed."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.recorder.state.held_bytes import device_s, held_bytes
from debugtracer.recorder.state.host_copy import host_copy
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.sharded import local
from debugtracer.recorder.tape.entry import HALF

# seconds a step below which a copy or a comparison is never too dear (ours; small tensors take 6e-5 on a quiet machine)
FREE_S = 3e-4
SHAPE = operator.attrgetter("shape", "dtype")


class UpdateCopy:
    """A copy of one optimizer's parameters, state and group settings."""

    def __init__(self, optimizer: Optimizer, parameters: list[Tensor], on_host: bool = False) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.parameters = parameters
        self.on_host = on_host
        """The values lie in pinned host memory instead of beside the parameters."""
        self.values: list[Tensor] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.groups: list[dict[str, Any]] = []
        self.names: list[Any] = []
        """Parameters and keys of the state that was copied last, one after the other."""
        self.shapes: list[Any] = []
        """Of its values; [None] where the state is to be copied value by value."""
        self.buffers: list[Tensor] = []

    def take(self) -> None:
        """Copy into the buffers of last time where they fit, in the order of the stream; no host sync."""
        optimizer = self.optimizer()
        if optimizer is None:
            return
        with torch.no_grad():
            if len(self.values) == len(self.parameters):
                fill(self.values, self.parameters, self.on_host)
            else:
                self.values = [self.copied(p.detach()) for p in self.parameters]
            if not self.take_same_state(optimizer):
                self.take_state(optimizer)
        self.groups = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]

    def take_same_state(self, optimizer: Optimizer) -> bool:
        """Copy, in one call, a state that holds tensors of the same names and shapes as last time; False where it does
        not."""
        try:
            values = flat(optimizer.state)
            if list(map(SHAPE, values)) != self.shapes or not identical(names(optimizer.state), self.names):
                return False
        except (AttributeError, TypeError):  # it holds other things than tensors
            return False
        if values:
            fill(self.buffers, values, self.on_host)
        return True

    def take_state(self, optimizer: Optimizer) -> None:
        """Copy the tensors of the state; other values are kept as they are."""
        sources, targets, fresh = [], [], {}
        for parameter in self.parameters:
            now = optimizer.state.get(parameter)
            if not now:
                continue
            old, kept = self.state.get(parameter, {}), {}
            for key, value in now.items():
                buffer = old.get(key)
                if (
                    isinstance(value, Tensor)
                    and isinstance(buffer, Tensor)
                    and buffer.shape == value.shape
                    and buffer.dtype == value.dtype
                ):
                    sources.append(value)
                    targets.append(buffer)
                    kept[key] = buffer
                else:
                    kept[key] = self.copied(value.detach()) if isinstance(value, Tensor) else value
            fresh[parameter] = kept
        if targets:
            fill(targets, sources, self.on_host)
        self.state = fresh
        self.shapes = [None]
        if len(fresh) == len(optimizer.state):
            self.names = names(optimizer.state)
            self.buffers = [fresh[parameter][key] for parameter, kept in optimizer.state.items() for key in kept]
            self.shapes = [SHAPE(b) if isinstance(b, Tensor) else None for b in self.buffers]

    def copied(self, value: Tensor) -> Tensor:
        """A new buffer with this value."""
        return host_copy(value) if self.on_host else value.clone()

    def restore(self) -> None:
        """Restore values in place, and delete state that did not exist."""
        optimizer = self.optimizer()
        if optimizer is None:
            return
        for parameter, value in zip(self.parameters, self.values, strict=True):
            local(parameter).data.copy_(value)
        for parameter in self.parameters:
            self.restore_state(optimizer, parameter)
        for group, kept in zip(optimizer.param_groups, self.groups, strict=False):
            group.update(kept)

    def restore_state(self, optimizer: Optimizer, parameter: Tensor) -> None:
        """Restore one parameter's state in place; entries that did not exist before are deleted."""
        kept, now = self.state.get(parameter), optimizer.state.get(parameter)
        if kept is None:
            optimizer.state.pop(parameter, None)
            return
        for key in list(now or {}):
            if key not in kept and now is not None:
                del now[key]
        for key, value in kept.items():
            target = now.get(key) if now is not None else None
            if isinstance(target, Tensor) and isinstance(value, Tensor):
                local(target).data.copy_(local(value))
            else:
                optimizer.state[parameter][key] = value

    @property
    def nbytes(self) -> int:
        """The bytes held by the copies."""
        return sum(held_bytes(v) for v in self.values) + sum(
            held_bytes(v) for s in self.state.values() for v in s.values() if isinstance(v, Tensor)
        )


class Copies:
    """The last copy of each optimizer, and the governor that stops copying when it costs more than its share of a
    step."""

    def __init__(self, max_bytes: int, max_share: float) -> None:
        self.max_bytes, self.max_share = max_bytes, max_share
        self.held: ById[Optimizer, UpdateCopy] = ById()
        self.cost_s: list[float] = []
        self.off: dict[int, str] = {}
        """id of optimizer -> why its copies stopped."""

    def take(self, optimizer: Optimizer, parameters: list[Tensor], step_s: float) -> str | None:
        """Copy before a step; the answer is a sentence when copying stops for this optimizer, else None."""
        if id(optimizer) in self.off:
            return None
        held = self.held.get(optimizer)
        if held is None or not identical(held.parameters, parameters):
            if sum(held_bytes(p) for p in parameters) * 3 > self.max_bytes:
                return self.stop(
                    optimizer, f"its parameters and state need more than copy_bytes ({self.max_bytes} bytes)"
                )
            held = self.held[optimizer] = UpdateCopy(optimizer, parameters)
        begin = perf_counter()
        held.take()
        taken_s = perf_counter() - begin
        return self.judge(optimizer, parameters, max(taken_s, device_s([optimizer], lambda _: parameters)), step_s)

    def judge(self, optimizer: Optimizer, parameters: list[Tensor], cost_s: float, step_s: float) -> str | None:
        """Stop when the copy is not worth its time; half-precision parameters are always copied: their updates
        underflow."""
        self.cost_s = [*self.cost_s[-8:], cost_s]
        usual = sorted(self.cost_s)[len(self.cost_s) // 2]
        if (
            len(self.cost_s) < 5
            or usual < FREE_S
            or usual < self.max_share * step_s
            or any(p.dtype in HALF for p in parameters)
        ):
            return None
        return self.stop(
            optimizer,
            f"the copy before the update took {usual * 1e3:.1f} ms, {usual / max(step_s, 1e-9):.1%} of a step; allowed "
            f"{self.max_share:.1%} (own_share)",
        )

    def stop(self, optimizer: Optimizer, why: str) -> str:
        """Stop copies of this optimizer and return the reason."""
        self.off[id(optimizer)] = why
        self.held.pop(optimizer, None)
        return why

    def skip(self, optimizer: Optimizer) -> None:
        """Take none before this step, and drop that of an earlier one: a replay must not begin with it."""
        self.held.pop(optimizer, None)

    def drop(self) -> None:
        """Drop all: the next steps are taken without."""
        self.held.clear()

    def get(self, optimizer: Optimizer) -> UpdateCopy | None:
        """The copy taken before the optimizer's last step."""
        return self.held.get(optimizer)


def fill(buffers: list[Tensor], values: list[Tensor], on_host: bool) -> None:
    """Copy all at once on one device; one by one where they change it, for a foreach copy would wait for each."""
    if not on_host:
        torch._foreach_copy_(buffers, values)
        return
    for buffer, value in zip(buffers, values, strict=True):
        buffer.copy_(value, non_blocking=True)


def identical(a: list[Any], b: list[Any]) -> bool:
    """True for the same objects in the same order."""
    return len(a) == len(b) and all(map(operator.is_, a, b))


def flat(state: Mapping[Any, Mapping[Any, Any]]) -> list[Any]:
    """Every value of an optimizer's state."""
    return [value for kept in state.values() for value in kept.values()]


def names(state: Mapping[Any, Mapping[Any, Any]]) -> list[Any]:
    """What its values are found by: the parameters, then the keys of each."""
    return [*state, *(key for kept in state.values() for key in kept)]
