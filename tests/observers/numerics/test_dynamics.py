"""What one step of a real optimizer did to a parameter."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from debugtracer.observers.numerics.dynamics import dynamics_of
from debugtracer.observers.numerics.weights_before import WeightsBefore


def stepped(kind, dtype=torch.float32, grad=0.5, steps=1, **options):
    p = nn.Parameter(torch.full((8,), 2.0, dtype=dtype))
    optimizer = kind([p], **options)
    for _ in range(steps):
        p.grad = torch.full((8,), grad, dtype=dtype)
        before = WeightsBefore([p])
        optimizer.step()
    with torch.no_grad():
        return one(p, optimizer, before)


def one(p, optimizer, before):
    (row,) = dynamics_of([("w", p)], optimizer, before)
    return row


def test_the_update_of_sgd_is_lr_times_gradient():
    row = stepped(torch.optim.SGD, lr=0.1)
    assert row.update_l2 == pytest.approx(0.1 * 0.5 * 8**0.5, rel=1e-5)
    assert row.weight_l2 == pytest.approx(2.0 * 8**0.5)
    assert (row.rms, row.moment_l2, row.optimizer, row.lr) == (None, None, "SGD", 0.1)
    assert (row.beta2, row.log_v, row.lag) == (None, None, None)


def test_adam_has_its_moments_and_rms_is_one_for_a_constant_gradient():
    row = stepped(torch.optim.Adam, lr=1e-3, steps=5)
    assert row.rms == pytest.approx(1.0, rel=1e-4)
    assert row.least_v == pytest.approx(0.25, rel=1e-4)
    assert row.under_eps == 0.0
    assert row.moment_l2 > 0


def test_the_second_moment_beside_the_gradient():
    row = stepped(torch.optim.Adam, lr=1e-3, steps=5, betas=(0.9, 0.99))
    assert (row.beta2, row.lag) == (0.99, pytest.approx(1.0, rel=1e-4))
    assert row.log_v == pytest.approx(math.log(0.25 * (1 - 0.99**5)), rel=1e-4)
    assert stepped(torch.optim.Adam, grad=0.0, lr=1e-3).lag is None


def test_a_gradient_below_eps_is_seen():
    assert stepped(torch.optim.Adam, grad=1e-10, lr=1e-3).under_eps == 1.0


def test_an_update_that_bfloat16_swallows_is_stalled():
    assert stepped(torch.optim.SGD, dtype=torch.bfloat16, lr=1e-4).stalled == 1.0
    assert stepped(torch.optim.SGD, dtype=torch.bfloat16, lr=1.0).stalled == 0.0
    assert stepped(torch.optim.SGD, lr=1e-12).stalled is None


def test_without_a_copy_there_is_no_update_and_a_stranger_has_no_row():
    p = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], 0.1)
    assert one(p, optimizer, None).update_l2 is None
    assert dynamics_of([("w", nn.Parameter(torch.ones(2)))], optimizer, None) == []
