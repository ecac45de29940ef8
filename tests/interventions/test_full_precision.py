"""Half precision taken away."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import Half, HandNorm


def test_a_cast_in_the_forward_is_undone(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Half()), data(value=3e3)), "full-precision")
    assert (score.finite, score.change) == (True, "the whole step in float32, autocast off")


def test_autocast_of_the_loop_and_of_a_module_is_off(monkeypatch, tmp_path):
    class Inside(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            with torch.autocast("cpu", torch.float16):
                return ((x @ x.T).float() @ x).float()

    for number, part in enumerate((Inside(), nn.Linear(4, 4))):

        def loop(part: nn.Module = part, number: int = number) -> None:
            model = Chain(part)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
            for x in data(value=1e3):
                optimizer.zero_grad()
                with torch.autocast("cpu", torch.float16, enabled=number == 1):
                    loss = model(x).mean() * 1.0
                loss.backward()
                optimizer.step()

        assert trial(monkeypatch, tmp_path / str(number), loop, "full-precision").finite


def test_a_half_model_with_its_optimizer_is_upcast(monkeypatch, tmp_path):
    def loop() -> None:
        model = Chain(nn.Linear(4, 4)).half()
        fit(
            model,
            [x.half() for x in data(value=1e3)],
            optimizer=torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9),
        )

    score = trial(monkeypatch, tmp_path, loop, "full-precision")
    assert (score.finite, score.refused) == (True, "")


def test_a_step_without_half_precision_is_refused(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "full-precision").refused
        == "nothing of the step is in half precision"
    )
