"""The epsilons of one function."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.interventions.raised_eps import Raised
from debugtracer.trace.birth import Frame


def hand(x: Tensor) -> Tensor:
    size = (x.pow(2).mean() + 1e-12).sqrt()
    floor = x.abs().clamp(min=1e-10)
    return x / size + floor + F.layer_norm(x, (2,), eps=1e-9) + F.normalize(x, dim=-1, eps=1e-13) + 0.5 + 1e-20 * x


def elsewhere(x: Tensor) -> Tensor:
    return x + 1e-12


def test_small_numbers_of_that_function_become_larger_and_no_others():
    x = torch.zeros(3, 2)
    with Raised(Frame(__file__, 1, "hand"), 1e-4) as mode:
        made, other = hand(x), elsewhere(x)
    assert sorted(old for old, _ in mode.seen) == [1e-13, 1e-12, 1e-10, 1e-9]
    assert torch.allclose(made, torch.full((3, 2), 0.5 + 1e-4))
    assert float(other.max()) == float(torch.tensor(1e-12))
    line = hand.__code__.co_firstlineno
    assert mode.words()[0] == f"eps 1e-12 at test_raised_eps.py:{line + 1}"


def test_a_larger_one_is_left_alone():
    x = torch.zeros(2)
    with Raised(Frame(__file__, 1, "elsewhere"), 1e-13) as mode:
        elsewhere(x)
    assert mode.seen == []


def without(x: Tensor) -> Tensor:
    return F.layer_norm(x, (2,), None, None, 0.0) + (x + 0.0)


def test_an_argument_that_is_called_eps_may_be_zero():
    with Raised(Frame(__file__, 1, "without"), 1e-4) as mode:
        assert bool(torch.isfinite(without(torch.ones(3, 2))).all())
    assert [old for old, _ in mode.seen] == [0.0]
