"""The critical learning rate beside what is known in closed form, and the line search on plain functions."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.replay.trials.critical_lr import CriticalLr, critical_lr, furthest
from debugtracer.replay.trials.history_trials import HistoryTrials
from tests.watching import under_watch

A = 3.0  # curvature: 0.5 * A * w^2 does not rise along the gradient up to a rate of 2 / A


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Bowl(nn.Module):
    """0.5 * A * |w|^2, the batch plays no part."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([1.0, -2.0, 0.5]))

    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * A * self.w.pow(2).sum() + 0.0 * x.sum()


def found(tmp_path: Any, lr: float, net: type[nn.Module] = Bowl, gradient: float = 1.0) -> CriticalLr | None:
    with under_watch(tmp_path) as watching:
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(14):
            optimizer.zero_grad()
            loss = model(torch.zeros(4, 2))
            loss.backward()
            for parameter in model.parameters():
                parameter.grad.mul_(gradient)
            optimizer.step()
        past, context = watching.ring.past(13), watching.incidents.context
        assert past is not None
        assert context is not None
        with watching.stack.paused(), HistoryTrials(past, context, None) as trials:
            trials.following = True
            weights = [p.detach().clone() for p in model.parameters()]
            answer = critical_lr(trials)
        assert all(map(torch.equal, model.parameters(), weights))
    return answer


@pytest.mark.parametrize("lr", [0.7, 0.4, 0.05], ids=["too high", "near", "small"])
def test_a_quadratic_has_the_rate_of_the_textbook(tmp_path, lr):
    answer = found(tmp_path, lr)
    assert answer is not None
    assert answer.lr == lr
    assert answer.critical == pytest.approx(2 / A, rel=0.1)
    assert (answer.ratio < 1) == (lr > 2 / A)


def test_a_step_uphill_is_wrong_at_any_length(tmp_path):
    answer = found(tmp_path, 0.001, gradient=-1.0)
    assert answer is not None
    assert answer.critical == 0.0


def test_a_line_without_an_end_has_no_critical_rate(tmp_path):
    class Slope(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x: Tensor) -> Tensor:
            return self.w.sum() + 0.0 * x.sum()

    answer = found(tmp_path, 0.1, Slope)
    assert answer is not None
    assert math.isinf(answer.critical)


@pytest.mark.parametrize("end", [0.003, 0.3, 1.0, 7.0, 60.0])
def test_the_search_is_within_a_tenth_below(end):
    calls: list[float] = []

    def loss_at(times: float) -> float:
        calls.append(times)
        return 1.0 if times <= end else 2.0

    assert end / 1.1 <= furthest(loss_at) <= end
    assert len(calls) <= 12


def test_a_loss_that_is_not_a_number_counts_as_risen():
    assert furthest(lambda times: 1.0 if times < 0.5 else math.nan) <= 0.5


def test_the_words_name_the_rates():
    told = [CriticalLr(0.1, c).description for c in (0.05, 0.5, 0.0, math.inf)]
    assert told == [
        "the update of the step lowers the loss of its own batch up to lr = 0.05; the rate is 0.1, too high",
        "the update of the step lowers the loss of its own batch up to lr = 0.5; the rate is 0.1, within it",
        "the update of the step raises the loss of its own batch at any length down to lr = 9.77e-05",
        (
            "the update of the step lowers the loss of its own batch even 64 times as long: lr = 0.1 is not too high "
            "for it"
        ),
    ]
