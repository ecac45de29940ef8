"""Steps that go wrong in a real watched loop, with the real trials of their incident in hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.diagnosis.proof import prove
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.replay.trials.score import Score
from debugtracer.replay.trials.step_trials import StepTrials
from tests.watching import under_watch

Look = Callable[[StepTrials], None]


def at_the_incident(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    loop: Callable[[], Any],
    look: Look,
    mode: str = "observe",
    **settings: Any,
) -> int:
    """Run a loop under watch; `look` gets the open trials of each incident. How many there were."""
    seen: list[int] = []
    original = prove.prove

    def proved(
        facts: Any, alarm: Any, context: Any, result: Any, built: Any, state_bytes: int, *rest: Any, **named: Any
    ) -> Any:
        with StepTrials(
            alarm, context, result.guilty, facts.birth, state_bytes, list(built), grad_l2_usual=prove.usual(facts)
        ) as trials:
            look(trials)
        seen.append(1)
        return original(facts, alarm, context, result, built, state_bytes, *rest, **named)

    monkeypatch.setattr(prove, "prove", proved)  # imported by the incident
    with under_watch(tmp_path, mode=mode, **settings):
        loop()
    return len(seen)


def trial(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    loop: Callable[[], Any],
    slug: str,
    value: float | None = None,
    **settings: Any,
) -> Score:
    """The score of one intervention at the first incident of a loop."""
    scores: list[Score] = []
    at_the_incident(
        monkeypatch, tmp_path, loop, lambda trials: scores.append(trials.run(made(slug, value))), **settings
    )
    return scores[0]


def made(slug: str, value: float | None = None) -> Intervention:
    """An intervention by its name."""
    return type(interventions()[slug])(value)


def fit(
    model: nn.Module,
    data: list[Tensor],
    loss: Callable[[Tensor], Tensor] = lambda out: out.pow(2).mean(),
    optimizer: Any = None,
    steps: Any = None,
) -> None:
    """A plain loop."""
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=1e-2)
    for x in data:
        optimizer.zero_grad()
        loss(model(x)).backward()
        optimizer.step()


def data(steps: int = 4, bad: int | None = 2, value: float = 0.0, rows: int = 6, width: int = 4) -> list[Tensor]:
    """Positive batches; row 2 of batch `bad` is filled with a value."""
    made = torch.Generator().manual_seed(5)
    given = [torch.rand(rows, width, generator=made) + 0.5 for _ in range(steps)]
    if bad is not None:
        given[bad][2] = value
    return given


class Chain(nn.Module):
    """A linear layer, a part that goes wrong, a linear layer."""

    def __init__(self, part: nn.Module, width: int = 4) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first, self.part, self.last = nn.Linear(width, width), part, nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.part(torch.relu(self.first(x)) * x))


def poisoned(value: float = -1.0, lr: float = 0.01) -> None:
    """A second moment that is negative before step 3: the update is NaN."""
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for number, x in enumerate(data(5, bad=None)):
        if number == 3:
            optimizer.state[model.weight]["exp_avg_sq"].fill_(value)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()


def too_fast() -> None:
    """A learning rate whose product with the gradient passes float32 in step 2."""
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for number, x in enumerate(data(4, bad=None)):
        optimizer.param_groups[0]["lr"] = 1e-3 if number < 2 else 3e38
        optimizer.zero_grad()
        (model(x).mean() * 10).backward()
        optimizer.step()
