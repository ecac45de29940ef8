"""Finds a copy of trained layers that no optimizer holds, that runs in each step looked at, and whose weights change: a
target network, a slow encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from debugtracer.recorder.state.identity import ById

MOST = 16  # weights of copies that are looked at (ours)
FEW = 4  # first values of each, kept as they were
LEAST = 2  # weights that changed: a codebook written by hand is one


class Follower:
    """Version counters do not see `p.data.copy_()`, so the first few values are compared."""

    def __init__(self) -> None:
        self.kept: ById[Tensor, Tensor] = ById()
        self.entered: set[int] = set()
        """Roots that ran since the last comparison."""
        self.idle: ById[nn.Module, bool] = ById()
        """Roots that did not run in some step looked at: a copy kept for evaluation."""
        self.found = False

    def finds_copy(self, modules: list[nn.Module], counts: Mapping[int, int]) -> bool:
        """Search at the end of an inspected step; True if such a copy is known."""
        for module in modules:
            if id(module) not in self.entered:
                self.idle[module] = True
        self.entered.clear()
        if self.found:
            return True
        running = [m for m in modules if self.idle.get(m) is None]
        shapes = Counter(tuple(p.shape) for m in modules for p in m.parameters() if id(p) in counts)
        copies = [
            p
            for m in running
            for p in m.parameters()
            if id(p) not in counts and p.grad is None and shapes[tuple(p.shape)]
        ]
        self.found = sum(self.changed(p) for p in copies[:MOST]) >= LEAST
        return self.found

    def changed(self, weight: Tensor) -> bool:
        """True if the weight changed since the last call, after which the present values are kept."""
        now = weight.detach().reshape(-1)[:FEW].clone() if weight.is_contiguous() else None
        before = self.kept.get(weight)
        if now is None or now.numel() == 0:
            return False
        self.kept[weight] = now
        return before is not None and before.device == now.device and not torch.equal(before, now)
