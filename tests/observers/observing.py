"""A loop of a test's own under watch, and the facts that takers told of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import Fact, from_plain
from tests.watching import events, under_watch

F = TypeVar("F", bound=Fact)


def observed(out: Path, loop: Callable[[], Any], kind: type[F], **settings: Any) -> list[F]:
    """The facts of a kind that a run of this loop wrote down."""
    with under_watch(out, **settings):
        loop()
    return facts(out, kind)


def facts(out: Path, kind: type[F]) -> list[F]:
    """The facts of a kind in the only run of a folder."""
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == kind.word()]  # type: ignore[misc]


def fit(loader: Any, model: nn.Module | None = None, passes: int = 1) -> None:
    """A plain training loop over batches (x, y); x has three columns."""
    model = nn.Linear(3, 2) if model is None else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(passes):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
