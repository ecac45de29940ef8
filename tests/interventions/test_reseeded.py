"""Other random numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial


class Unlucky(nn.Module):
    """Divides by a noise that one draw in many makes 0."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x / (torch.rand(()) - (UNLUCKY if self.calls == 3 else 2.0))


UNLUCKY = torch.zeros(())


def test_a_draw_that_was_unlucky_is_not_drawn_again(monkeypatch, tmp_path):
    def loop() -> None:
        model = Chain(Unlucky())
        torch.manual_seed(4)
        torch.rand(2)
        UNLUCKY.copy_(torch.rand(()))
        torch.manual_seed(4)
        fit(model, data(bad=None))

    score = trial(monkeypatch, tmp_path, loop, "reseeded")
    assert (score.finite, score.change) == (True, "random calls of the step drawn from seed 1")
    assert trial(monkeypatch, tmp_path / "2", loop, "unchanged").finite is False
