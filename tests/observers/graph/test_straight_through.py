"""Sums that take a tensor and give it back."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.graph.straight_through import is_same
from debugtracer.trace.facts.straight_through import StraightThrough
from tests.observers.told import facts
from tests.watching import under_watch


class Coder(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.encoder, self.decoder, self.form = nn.Linear(4, 4), nn.Linear(4, 4), form

    def forward(self, x):
        z = self.encoder(x)
        q = z.round().detach()
        return self.decoder(self.form(z, q)), (z - q).square().mean()


def run(out, form):
    torch.manual_seed(0)
    model = Coder(form)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            x = torch.randn(8, 4)
            optimizer.zero_grad()
            heard, apart = model(x)
            (nn.functional.mse_loss(heard, x) + apart).backward()
            optimizer.step()
    return [(fact.how, fact.ref.step, fact.module, fact.shape) for fact in facts(out, StraightThrough)]


@pytest.mark.parametrize(
    ("form", "how"),
    [
        (lambda z, q: (z + q - z).detach(), "detached"),
        (lambda z, q: (z + (q - z)).detach(), "detached"),
        (lambda z, q: (q - (z - z.square() - z.square())).detach(), ""),
        (lambda z, q: z + q - z, "cancels"),
        (lambda z, q: q - z + z, "cancels"),
    ],
)
def test_a_sum_that_passes_nothing_is_told_in_each_step(tmp_path, form, how):
    assert run(tmp_path, form) == [(how, step, "Coder", (8, 4)) for step in range(2) if how]


@pytest.mark.parametrize(
    "form",
    [
        lambda z, q: z + (q - z).detach(),
        lambda z, q: z - z.detach() + q,
        lambda z, q: (z + q).detach() + z,
        lambda z, q: (z + (q - z.detach())).detach() + z,
        lambda z, q: z + q - z.tanh(),
    ],
)
def test_one_side_with_a_graph_is_what_it_should_be(tmp_path, form):
    assert run(tmp_path, form) == []


def test_a_copy_for_a_log_of_a_sum_that_is_used_is_no_cut(tmp_path):
    def form(z, q):
        through = z + (q - z.detach())
        through.detach()
        return through

    assert run(tmp_path, form) == []


def test_a_transposed_square_is_another_tensor():
    square = torch.arange(9.0).view(3, 3)
    assert is_same(square, square.detach())
    assert not is_same(square, square.T)


def test_the_density_of_what_was_drawn_around_a_mean_is_silent(tmp_path):
    torch.manual_seed(0)
    policy = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(3):
            around = torch.distributions.Normal(policy(torch.randn(8, 4)), torch.ones(8, 2))
            action = around.rsample()
            loss = action.square().mean() + around.log_prob(action).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert facts(tmp_path, StraightThrough) == []
