"""Training loops with a bad batch in them, and their twins that pass over that batch before the model sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.trace.events import Acted
from tests.watching import events, under_watch

Make = Callable[[Any], torch.optim.Optimizer]


def sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.01)


def adamw(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1)


def rmsprop(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.RMSprop(parameters, lr=0.01, momentum=0.9, centered=True)


def adagrad(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adagrad(parameters, lr=0.05, lr_decay=0.01)


def nadam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.NAdam(parameters, lr=0.01)


def amsgrad(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.01, amsgrad=True)


OPTIMIZERS: dict[str, Make] = {
    "sgd": sgd, "adam": adam, "adamw": adamw, "rmsprop": rmsprop, "adagrad": adagrad, "nadam": nadam, "amsgrad": amsgrad
}  # fmt: skip


def a_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))


def given(steps: int, bad: tuple[int, ...]) -> list[Tensor]:
    """Batches; row 2 of a bad one holds a NaN."""
    made = torch.Generator().manual_seed(5)
    batches = [torch.randn(6, 4, generator=made) for _ in range(steps)]
    for at in bad:
        batches[at][2, 1] = float("nan")
    return batches


class Loop:
    """A plain loop over batches; where it `passes`, batches with a NaN are passed over."""

    def __init__(self, make: Make = adam, passes: bool = False, accumulate: int = 1) -> None:
        self.model = a_model()
        self.optimizer = make(self.model.parameters())
        self.passes, self.accumulate = passes, accumulate
        self.losses: list[float] = []

    def go(self, batches: list[Tensor]) -> None:
        for first in range(0, len(batches), self.accumulate):
            window = batches[first : first + self.accumulate]
            if self.passes and any(bool(x.isnan().any()) for x in window):
                continue
            self.optimizer.zero_grad()
            for x in window:
                loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
                loss.backward()
                self.losses.append(float(loss.detach()))
            self.optimizer.step()

    def state(self) -> list[Tensor]:
        moments = [v for s in self.optimizer.state.values() for v in s.values() if isinstance(v, Tensor)]
        return [t.detach().clone() for t in (*self.model.parameters(), *self.model.buffers(), *moments)]


def twins(out: Path, batches: list[Tensor], mode: str = "prod", **words: Any) -> tuple[Loop, Loop]:
    """The watched loop over all batches, and one without us that passes over the bad ones."""
    settings = {name: words.pop(name) for name in ("cost",) if name in words}
    with under_watch(out, mode, **settings):
        watched = Loop(**words)
        watched.go(batches)
    bare = Loop(passes=True, **words)
    bare.go(batches)
    return watched, bare


def actions(out: Path) -> list[Acted]:
    """What was done, in order."""
    return [event for event in events(out) if isinstance(event, Acted)]
