"""What evaluations freeze, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.frozen_evaluation import FrozenEvaluation
from tests.observers.loops import data, mse
from tests.observers.observing import observed


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


def training(
    when: str, unfreezes: bool = False, clears: str = "before", make: type[torch.optim.Optimizer] = torch.optim.SGD
) -> Callable[[], None]:
    """Three phases of ten updates with an evaluation after each."""

    def loop() -> None:
        torch.manual_seed(0)
        model = Parts()
        optimizer = make(model.parameters(), lr=0.01)  # type: ignore[call-arg]
        for phase in range(3):
            model.train()
            if when == "training" and phase == 1:
                model.body.requires_grad_(False)
            for x, y in data(10):
                if clears == "before":
                    optimizer.zero_grad()
                mse(model(x), y).backward()
                optimizer.step()
                if clears == "after":
                    optimizer.zero_grad()
            model.eval()
            if when == "evaluation":
                model.body.requires_grad_(False)
            with torch.no_grad():
                model(x)
            if unfreezes:
                model.body.requires_grad_(True)

    return loop


def test_a_part_that_an_evaluation_froze_is_seen_at_the_next_one(tmp_path: Path):
    facts = observed(tmp_path / "runs", training("evaluation"), FrozenEvaluation)
    assert [(f.params, f.count, f.held, f.steps) for f in facts] == [(("body.0.weight", "body.0.bias"), 2, 4, 10)]
    assert facts[0].share == pytest.approx(40 / 49)
    assert facts[0].frame is not None and facts[0].frame.code == "model(x)"


def test_where_gradients_are_cleared_the_count_of_updates_tells(tmp_path: Path):
    loop = training("evaluation", clears="after", make=torch.optim.Adam)
    assert [f.count for f in observed(tmp_path / "runs", loop, FrozenEvaluation)] == [2]


@pytest.mark.parametrize(
    "loop",
    [
        training("training", clears="after", make=torch.optim.Adam),
        training("never"),
        training("training"),
        training("evaluation", unfreezes=True),
        training("training", clears="after"),
        training("evaluation", clears="after"),  # without gradients nothing tells when it was frozen
    ],
    ids=["counted", "never", "on purpose", "unfrozen", "on purpose, cleared", "cleared"],
)
def test_parts_that_are_frozen_on_purpose_and_unfrozen_ones_say_nothing(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, FrozenEvaluation) == []
