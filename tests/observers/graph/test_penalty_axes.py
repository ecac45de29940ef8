"""The axes of gradient penalties, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.trace.facts.penalty_axes import PenaltyAxes
from tests.observers.told import facts, findings
from tests.watching import under_watch

PICTURE = (6, 2, 3, 3)


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(18, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x)


class OfPoints(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x)


def run(folder, penalty, critic=Critic, graph=True, summed=False):
    torch.manual_seed(0)
    net = critic()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(4):
            x = torch.randn(PICTURE).requires_grad_()
            scores = net(x)
            scores = scores.sum() if summed else scores
            slope = torch.autograd.grad(scores, x, torch.ones_like(scores), create_graph=graph, retain_graph=True)[0]
            optimizer.zero_grad()
            (scores.mean() + penalty(slope)).backward()
            optimizer.step()
    return facts(folder, PenaltyAxes)


@pytest.mark.parametrize(
    ("penalty", "folded"),
    [
        (lambda g: (g.view(6, -1).norm(2, dim=0) - 1).square().mean(), (0,)),
        (lambda g: ((g.norm(2, dim=1) - 1) ** 2).mean(), (1,)),
        (lambda g: ((g.norm(2) - 1) ** 2).mean(), (0, 1, 2, 3)),
        (lambda g: (((g**2).sum(0) + 1e-12).sqrt() - 1.0).clamp(min=0).mean(), (0,)),
        (lambda g: (1 - torch.linalg.vector_norm(g.flatten(1), dim=0)).square().mean(), (0,)),
    ],
)
def test_a_norm_of_something_else_than_each_sample(tmp_path, penalty, folded):
    found = run(tmp_path, penalty)
    assert {fact.folded for fact in found} == {folded}
    assert len(findings(tmp_path, "model/penalty-axis")) == 1


@pytest.mark.parametrize(
    "penalty",
    [
        lambda g: (g.view(6, -1).norm(2, dim=1) - 1).square().mean(),
        lambda g: (g.norm(2, dim=(1, 2, 3)) - 1).square().mean(),
        lambda g: ((g.flatten(1).square().sum(1) + 1e-12).sqrt() - 1).square().mean(),
        lambda g: g.square().sum(0).mean(),  # pulled to 0
        lambda g: g.norm(),  # the same
    ],
)
def test_norms_of_each_sample_and_of_everything_are_quiet(tmp_path, penalty):
    assert run(tmp_path, penalty) == []


@pytest.mark.parametrize(("critic", "told"), [(Critic, True), (OfPoints, False)])
def test_the_sum_of_all_scores(tmp_path, critic, told):
    assert bool(run(tmp_path, lambda g: ((g.norm(2, dim=1) - 1) ** 2).mean(), critic, summed=True)) == told


def test_scores_of_several_points_are_quiet(tmp_path):
    assert run(tmp_path, lambda g: (g.norm(2, dim=-1) - 1).square().mean(), OfPoints) == []


def test_a_gradient_without_a_graph_is_quiet(tmp_path):
    assert run(tmp_path, lambda g: ((g.norm(2, dim=1) - 1) ** 2).mean(), graph=False) == []


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    net = Critic()
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["penalty-axes"]
        x = torch.randn(PICTURE).requires_grad_()
        scores = net(x)
        slope = torch.autograd.grad(scores, x, torch.ones_like(scores), create_graph=True)[0]
        assert slope.shape == x.shape and observer.known
        session.dispatcher.missed()
        assert not observer.known
