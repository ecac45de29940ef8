"""Copies of the weights that the program averages or moves itself (AveragedModel, EMA and target networks): no
optimizer holds them, and a roll-back must not leave what was averaged since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from debugtracer.recorder.state.held_weights import Average, HeldWeights
from debugtracer.recorder.state.identity import ById

PROBED = 16  # elements by which a write through `.data` is seen, which leaves no new version (ours)


class Averages:
    """One per process, in the modes that go back. An AveragedModel is known from its making, another copy from its
    first call; of these what was seen to move is copied, at first all that is no larger than what is trained: a
    frozen backbone costs nothing. Those in dicts and lists are found from the names of the loop."""

    def __init__(self, roots: Callable[[], Iterable[nn.Module]]) -> None:
        self.roots = roots
        self.made: ById[nn.Module, bool] = ById()
        self.seen: ById[Tensor, tuple[int, Tensor | None]] = ById()
        """Version and first elements of each at the last look."""
        self.moving: ById[Tensor, bool] = ById()
        self.held_weights = HeldWeights()
        self.last: ById[Tensor, Tensor] = ById()
        """The last copy of each tensor in a dict or list; where it has not moved it is that of the next look too."""
        self.handle: Any = None

    def install(self) -> None:
        """Listen for the making of averages."""
        self.handle = torch.nn.modules.module.register_module_module_registration_hook(self.registered)

    def remove(self) -> None:
        """Stop listening for them."""
        if self.handle is not None:
            self.handle.remove()
        self.handle = None

    def pause(self) -> None:
        """Do nothing: a replay makes none."""

    def resume(self) -> None:
        """Do nothing, as the counterpart of pause()."""

    def registered(self, module: nn.Module, name: str, submodule: Any) -> None:
        """Take a module whose copy of a model was just put into it."""
        if isinstance(module, AveragedModel):
            self.made[module] = True

    def copies(self, trained: Iterable[Tensor]) -> list[Average]:
        """Copy each tensor that moves although no optimizer holds it."""
        trained = list(trained)
        held = {id(p) for p in trained}
        averaged = [t for module, _ in self.made.items() for t in (*module.parameters(), *module.buffers())]
        others = [p for module in self.roots() for p in module.parameters() if id(p) not in held]
        new = [t for t in others if t not in self.seen]
        if sum(t.nbytes for t in new) > sum(p.nbytes for p in trained):
            new = []  # larger than what is trained: no average of it
        for tensor in others:
            if tensor not in self.moving and self.has_moved(tensor):
                self.moving[tensor] = True
        found = {id(t): t for t in (*averaged, *(t for t in others if t in self.moving), *new) if id(t) not in held}
        kept = self.in_containers(trained)
        return [*(Average(tensor, tensor.detach().clone()) for tensor in found.values()), *kept]

    def in_containers(self, trained: list[Tensor]) -> list[Average]:
        """Copy what the program keeps in dicts and lists of its own, unless it is as it was at the last look."""
        found = []
        for holder in self.held_weights.look(self.roots(), trained):
            for key, tensor in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
                if not isinstance(tensor, Tensor):
                    continue
                if self.has_moved(tensor) or tensor not in self.last:
                    self.last[tensor] = tensor.detach().clone()
                found.append(Average(tensor, self.last[tensor], holder, key))
        return found

    def has_moved(self, tensor: Tensor) -> bool:
        """Whether a tensor was written since the last look."""
        probe = tensor.detach().reshape(-1)[:PROBED].clone() if type(tensor.data) is Tensor and tensor.is_cpu else None
        before, self.seen[tensor] = self.seen.get(tensor), (tensor._version, probe)
        if before is None:
            return False
        version, first = before
        return version != tensor._version or (probe is not None and first is not None and not same(probe, first))


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two hold the same values; NaN is as NaN."""
    return a.shape == b.shape and bool(torch.allclose(a, b, rtol=0, atol=0, equal_nan=True))
