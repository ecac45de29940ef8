"""Training loops of a test's own, watched in this process, and what the run folder says of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import debugtracer
from debugtracer.session import Session
from debugtracer.trace.events import AnyEvent, Incident
from debugtracer.trace.store.reader import open_trace


@contextmanager
def under_watch(out: Path, mode: str = "observe", **settings: Any) -> Iterator[Session]:
    """A session for the with block; `out` becomes a folder of runs."""
    gc.collect()  # an optimizer that an earlier test left in a cycle would be found as one of this loop's
    with debugtracer.watch(out=out, mode=mode, **settings) as watch:
        yield watch.session


def events(out: Path) -> list[AnyEvent]:
    """All events of the only run; none when no backward came."""
    return open_trace(out).events() if out.exists() else []


def incidents(out: Path) -> list[Incident]:
    """The incidents of the run."""
    return [e for e in events(out) if isinstance(e, Incident)]


def only(out: Path) -> Incident:
    """The incident of a run that had exactly one."""
    (found,) = incidents(out)
    return found


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Same bytes, NaN included."""
    return a.dtype == b.dtype and torch.equal(
        a.detach().reshape(-1).view(torch.uint8), b.detach().reshape(-1).view(torch.uint8)
    )


class LogHead(nn.Module):
    """A network whose last op is a log of its input's scale: 0 in the batch gives -inf."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) + torch.log(x)


def batches(steps: int, bad: int | None = None, rows: int = 6) -> list[Tensor]:
    """Positive batches; row 2 of batch `bad` holds a negative number, whose log is NaN."""
    made = torch.Generator().manual_seed(5)
    given = [torch.rand(rows, 4, generator=made) + 0.5 for _ in range(steps)]
    if bad is not None:
        given[bad][2, 1] = -1.0
    return given


def train(
    model: nn.Module, data: list[Tensor], optimizer: Callable[..., Any] = torch.optim.SGD, lr: float = 0.1
) -> list[Tensor]:
    """A plain loop; the loss of each step."""
    steps = optimizer(model.parameters(), lr=lr)
    losses = []
    for x in data:
        steps.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        steps.step()
        losses.append(loss.detach())
    return losses


def seeded(make: Callable[[], nn.Module], seed: int = 3) -> nn.Module:
    """A module with the weights of a seed."""
    torch.manual_seed(seed)
    return make()
