"""A training that can be told to go on, watched, with a ring that time has no say in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.watching import under_watch


class Training:
    """A loop that can be told to go on, watched, with a ring that time has no say in."""

    def __init__(
        self,
        out: Path,
        make: Callable[[Any], torch.optim.Optimizer] = lambda p: torch.optim.Adam(p, lr=1e-2),
        **settings: Any,
    ) -> None:
        self.watch = under_watch(out, **settings)
        self.session = self.watch.__enter__()
        self.ring = self.session.ring
        self.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        torch.manual_seed(1)
        self.model: Any = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
        self.optimizer = make(self.model.parameters())
        self.clears = True

    def go(self, steps: int) -> None:
        for _ in range(steps):
            if self.clears:
                self.optimizer.zero_grad()
            self.model(torch.randn(5, 4)).square().mean().backward()
            self.optimizer.step()

    def state(self) -> list[Tensor]:
        moments = [v for s in self.optimizer.state.values() for v in s.values()]
        return [t.detach().clone() for t in (*self.model.parameters(), *self.model.buffers(), *moments)]
