"""Small trainings of every kind, each with a fault that is put to trials, and everything that training leaves
behind."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

# a check of the loss is silent for its first 64 values, speaks of a spike 16 steps later and of a level 33
STEPS, AT = 116, 74
ROWS, WIDTH = 32, 6

Fault = str
FAULTS: tuple[Fault, ...] = ("spike", "level", "rate", "stale", "nan")


@dataclass
class Trained:
    """What a training leaves behind."""

    losses: list[float] = field(default_factory=list)
    modules: list[nn.Module] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    """Schedulers and scalers."""

    def bits(self) -> dict[str, Any]:
        """Everything of it that can be compared, the generators as they stand now included."""
        return {
            "losses": self.losses,
            "weights and buffers": [m.state_dict() for m in self.modules],
            "gradients": [p.grad for m in self.modules for p in m.parameters()],
            "moments and settings": [o.state_dict() for o in self.optimizers],
            "schedule and scale": [o.state_dict() for o in self.others],
            "python attributes": [plain(m) for root in self.modules for m in root.modules()],
            "torch generator": torch.get_rng_state(),
            "numpy generator": numpy.random.get_state()[1].tolist(),
            "python generator": random.getstate(),
        }


def plain(module: nn.Module) -> dict[str, Any]:
    """Attributes of a module that are numbers, texts, lists or tensors."""
    return {k: v for k, v in vars(module).items() if isinstance(v, (int, float, str, list, Tensor))}


def seeded(seed: int = 1) -> None:
    """All three generators."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


@functools.cache
def batches(fault: Fault) -> tuple[tuple[Tensor, Tensor], ...]:
    """Batches of a linear task, made before training; the one at step AT is scaled or holds a NaN."""
    made = torch.Generator().manual_seed(7)
    truth = torch.randn(WIDTH, 1, generator=made)
    x = [torch.randn(ROWS, WIDTH, generator=made) for _ in range(STEPS)]
    y = [part @ truth for part in x]
    if fault == "spike":
        y[AT] = y[AT] * -40
    if fault == "level":
        y[AT:] = [part + 20 for part in y[AT:]]
    if fault == "nan":
        x[AT][3, 1] = float("nan")
    return tuple(zip(x, y, strict=True))


def disturbed(fault: Fault, step: int, optimizer: torch.optim.Optimizer) -> None:
    """The learning rate some times as high from step AT on."""
    if fault == "rate" and step == AT:
        for group in optimizer.param_groups:
            group["lr"] *= 30


class Net(nn.Module):
    """Dropout, running statistics, a Python counter, and random numbers of Python and numpy in its forward."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.norm, self.drop, self.head = (
            nn.Linear(WIDTH, 12),
            nn.BatchNorm1d(12),
            nn.Dropout(0.1),
            nn.Linear(12, 1),
        )
        self.calls, self.scale = 0, 1.0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.scale = 1.0 + 1e-3 * random.random() + 1e-3 * float(numpy.random.rand())
        return self.head(self.drop(torch.tanh(self.norm(self.body(x)))) * self.scale)


Make = Callable[[Any], torch.optim.Optimizer]


def plainly(
    make: Make, fault: Fault, *, every: int = 1, net: Callable[[], nn.Module] = Net, schedule: bool = True
) -> Trained:
    """The usual loop, with accumulation where `every` is more than one."""
    seeded()
    model = net()
    optimizer = make(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 40, 0.9)
    done = Trained(modules=[model], optimizers=[optimizer], others=[scheduler])
    for step, (x, y) in enumerate(batches(fault)):
        disturbed(fault, step, optimizer)
        if fault != "stale":
            optimizer.zero_grad()
        for part in range(every):
            given, wanted = (x, y) if every == 1 else (x[part::every], y[part::every])
            loss = F.mse_loss(model(given), wanted) / every
            loss.backward()
            done.losses.append(loss.item())
        optimizer.step()
        if schedule:
            scheduler.step()
    return done
