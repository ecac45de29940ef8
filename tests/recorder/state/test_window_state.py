"""What a forward has changed is put back, by the tape or, while it rests, by a copy of what moves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.governor import Part
from debugtracer.recorder.state.window_state import clear_gradients
from tests.responses.loops import Loop, given
from tests.watching import same_bits, under_watch


class Counts(nn.Module):
    """Carries a tensor and a count from call to call."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.carried: Tensor = torch.zeros(4)
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.layer(x) + self.carried)
        self.carried, self.calls = y.detach().mean(0), self.calls + 1
        return y.square().mean()


@pytest.mark.parametrize("rests", [False, True])
def test_buffers_carried_tensors_and_counts_are_as_before_the_window(tmp_path: Path, rests: bool) -> None:
    with under_watch(tmp_path, "prod") as session:
        torch.manual_seed(0)
        model = Counts()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for number, x in enumerate(given(8, ())):
            if number == 5 and rests:
                session.governor.working[Part.TAPE] = False
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
        before = [b.clone() for b in model.buffers()], model.carried, model.calls
        assert session.tape.current.rested is rests
        model(torch.full((6, 4), float("nan")))
        assert session.responder is not None
        assert session.responder.training.window.put_back() == ["buffers"]
    assert all(same_bits(a, b) for a, b in zip(model.buffers(), before[0], strict=True))
    assert same_bits(model.carried, before[1]) and model.calls == before[2]


def test_gradients_become_zero_in_place() -> None:
    loop = Loop()
    loop.go(given(1, ()))
    (first, *_) = loop.model.parameters()
    held = first.grad
    first.grad.fill_(float("nan"))  # type: ignore[union-attr]
    clear_gradients([*loop.model.parameters(), nn.Parameter(torch.ones(1))])
    assert first.grad is held and not bool(first.grad.any())  # type: ignore[union-attr]
