"""Products of a column with a flat row, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.loss_call import LossCall
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS = 8


def run(out, loss, steps=3):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(steps):
            optimizer.zero_grad()
            first, second = model(torch.randn(ROWS, 3)).unbind(1)
            loss(first, second.unsqueeze(1), torch.rand(ROWS) + 0.5).backward()
            optimizer.step()
    return [(f.loss, f.input_shape, f.target_shape) for f in facts(out, LossCall) if f.broadcast]


FLAT, COLUMN = (ROWS,), (ROWS, 1)


def advantages(first, second, stored):
    return -(first.sigmoid().log() * (stored.unsqueeze(1) - second.detach())).mean()


def weighted(first, second, stored):
    return (stored[:, None] * first.square()).sum() / stored.sum()


def precision(first, second, stored):
    return 0.5 * ((first - stored).square() * torch.exp(-second) + second).mean()


def by_spread(first, second, stored):
    return ((first - stored) / second.exp()).square().mean(1).mean()


def absolute(first, second, stored):
    return 2 * (stored[:, None] * (first - stored)).abs().sum(0).sum()


def clipped(first, second, stored):
    ratio, gain = first.exp(), stored[:, None]
    return -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()


@pytest.mark.parametrize(
    ("loss", "kind"),
    [(advantages, "mul"), (weighted, "mul"), (precision, "mul"), (by_spread, "div"), (absolute, "mul")],
)
def test_a_matrix_that_is_only_added_up(loss, kind, tmp_path):
    assert run(tmp_path, loss) == [(kind, FLAT, COLUMN)]
    (finding,) = findings(tmp_path, "loss-broadcast")
    assert finding.exact and "values of shape (8, 1): broadcasting makes (8, 8)" in finding.message


def test_the_less_of_two_matrices(tmp_path):
    assert run(tmp_path, clipped) == [("mul", FLAT, COLUMN)]


def test_a_squared_difference_with_a_column_of_stored_values(tmp_path):
    assert run(tmp_path, lambda a, b, s: (a - b.detach() * 2).square().mean()) == [("sub", FLAT, COLUMN)]
    assert [f.exact for f in findings(tmp_path, "loss-broadcast")] == [False]


def of_equal_shapes(first, second, stored):
    return (first * stored).mean() + (second.squeeze(1) / (1 + stored)).mean()


def of_one_value(first, second, stored):
    return (first * torch.ones(ROWS, 1)).mean()


def masked(first, second, stored):
    return ((first * second) * (1 - torch.eye(ROWS))).mean()


def softened(first, second, stored):
    return torch.logsumexp(first * second, 1).mean()


def kernel(first, second, stored):
    return (-(first - second.detach()).square()).exp().mean()


def energy(first, second, stored):
    return (first - second.detach()).abs().mean()


def on_purpose(first, second, stored):
    return (first - stored[:, None]).square().mean()


def distances(first, second, stored):
    return (second.square() + first.square() - 2 * second @ first[None]).mean()


def ranked(first, second, stored):
    return torch.relu(1 - first * second).mean()


def summed(first, second, stored):
    return (first + second).mean()


def attended(first, second, stored):
    return ((second * first).softmax(1) @ first).sum()


def one_a_row(first, second, stored):
    return ((first * second).sum(1) ** 2).log1p().mean()


def only_logged(first, second, stored):
    (first * second).mean().item()
    return first.mean()


@pytest.mark.parametrize(
    "loss",
    [
        of_equal_shapes, of_one_value, masked, softened, kernel, energy, on_purpose, distances, ranked, summed,
        attended, one_a_row, only_logged,
    ],
)  # fmt: skip
def test_pairs_with_a_meaning_are_left_alone(loss, tmp_path):
    assert run(tmp_path, loss) == []


def test_two_parameters_are_left_alone(tmp_path):
    left = nn.Parameter(torch.rand(ROWS, 1))
    assert run(tmp_path, lambda a, b, s: a.mean() + (left * s).abs().sum()) == []
