"""Weights that nobody has changed since they were drawn."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.weights.default_init import DefaultInit, is_small_normal, is_uniform


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "made",
    [lambda: nn.Linear(16, 32), lambda: nn.Conv2d(3, 8, 3), lambda: nn.Conv1d(4, 8, 5), lambda: nn.Linear(512, 10)],
    ids=["linear", "2d", "1d", "wide"],
)
def test_what_torch_draws_is_recognised(made, seed):
    torch.manual_seed(seed)
    weight = made().weight
    assert is_uniform(weight.detach())
    assert not is_uniform(weight.detach() * 1.06)
    assert not is_uniform(weight.detach().clamp_min(0))


def test_the_hidden_weights_of_cells_are_recognised():
    torch.manual_seed(0)
    assert is_uniform(nn.GRUCell(12, 16).weight_hh.detach())
    assert is_uniform(nn.LSTM(12, 16).weight_hh_l0.detach())


def test_what_people_draw_by_hand_is_recognised_and_inputs_are_not():
    torch.manual_seed(0)
    drawn = torch.randn(17, 32)
    assert is_small_normal(0.02 * drawn)
    assert not is_small_normal(drawn)
    assert not is_small_normal(torch.linspace(-0.1, 0.1, 512).reshape(16, 32))
    assert not is_small_normal(0.02 * drawn + 0.05)
    assert not is_small_normal(torch.zeros(16, 32))


def test_only_what_has_not_changed_over_steps_is_untouched():
    torch.manual_seed(0)
    drawn, weight = DefaultInit(), nn.Linear(16, 32).weight
    assert [drawn.untouched([weight], step) for step in range(4)] == [False, False, True, True]
    with torch.no_grad():
        weight[0, 0] *= 0.99
    assert [drawn.untouched([weight], step) for step in range(4, 7)] == [False, False, True]


def test_every_weight_is_remembered_though_one_is_enough():
    torch.manual_seed(0)
    drawn, first, second = DefaultInit(), nn.Linear(16, 32).weight, nn.Linear(16, 32).weight
    assert [drawn.untouched([first, second], step) for step in range(3)] == [False, False, True]
    assert drawn.untouched([second], 3)


def test_small_and_integer_tensors_are_never_asked():
    drawn = DefaultInit()
    assert not any(
        drawn.untouched([nn.Linear(2, 2).weight, torch.arange(100).reshape(10, 10)], step) for step in range(5)
    )
    assert not drawn.first
