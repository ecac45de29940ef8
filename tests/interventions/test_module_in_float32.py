"""One module alone in float32."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


class Energy(nn.Module):
    """A square that passes float16 under autocast, and its root, which would not."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.mix(x)
        return (mixed * mixed + 1.0).sqrt() / 100.0


def test_the_module_whose_range_was_passed_is_enough(monkeypatch, tmp_path):
    def loop() -> None:
        model = Chain(Energy())
        model.part.mix.weight.data.fill_(1.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)
        for x in data(value=50.0):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.float16):
                loss = model(x).float().mean()
            loss.backward()
            optimizer.step()

    score = trial(monkeypatch, tmp_path, loop, "module-in-float32")
    assert (score.refused, score.change) == ("", "part alone in float32"), score
    assert score.finite, score


def test_without_half_precision_it_is_refused(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "module-in-float32")
    assert score.refused == "nothing of the step is in half precision"
