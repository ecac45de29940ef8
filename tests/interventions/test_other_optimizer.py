"""SGD takes the step."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.interventions.other_optimizer import descend
from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def poisoned(optimizer: type[torch.optim.Optimizer] = torch.optim.Adam) -> None:
    """A second moment that is negative before step 3."""
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    steps = optimizer(model.parameters(), lr=0.01)
    for number, x in enumerate(data(5, bad=None)):
        if number == 3:
            steps.state[model.weight]["exp_avg_sq"].fill_(-1.0)
        steps.zero_grad()
        model(x).pow(2).mean().backward()
        steps.step()


def test_an_update_made_bad_by_the_state_is_finite_with_sgd(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, poisoned, "other-optimizer")
    assert (score.finite, score.change) == (True, "SGD with momentum 0.9 in place of Adam, the same learning rate")
    assert trial(monkeypatch, tmp_path / "2", poisoned, "unchanged").finite is False


def test_sgd_is_refused(monkeypatch, tmp_path):
    model = Chain(HandNorm())
    loop = lambda: fit(model, data(), optimizer=torch.optim.SGD(model.parameters(), lr=0.1))  # noqa: E731
    assert trial(monkeypatch, tmp_path, loop, "other-optimizer").refused == "the optimizer is SGD already"


def test_two_steps_are_those_of_torchs_sgd():
    ours, theirs = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    reference, speeds = torch.optim.SGD([theirs], lr=0.1, momentum=0.9), {}
    for grad in (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 2.0, 1.0])):
        ours.grad, theirs.grad = grad.clone(), grad.clone()
        with torch.no_grad():
            descend(ours, {"lr": 0.1}, speeds, 0.9)
        reference.step()
    torch.testing.assert_close(ours, theirs)
