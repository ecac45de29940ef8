"""Inputs that are 0 everywhere, and what can be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.graph.zero_inputs import ZeroInput, cannot_vanish, layer_of, zero_inputs

FIRST, LAST = nn.Linear(8, 16), nn.Linear(16, 3)
PARTS = {"first": FIRST, "last": LAST}
NAMES = {id(p): f"{name}.{kind}" for name, part in PARTS.items() for kind, p in part.named_parameters()}


def lost(between: Callable[[Tensor], Tensor]) -> list[ZeroInput]:
    return zero_inputs(LAST(between(FIRST(torch.ones(4, 8)))).sum())


def emptied(hidden: Tensor) -> Tensor:
    hidden.data.zero_()
    return hidden


def test_an_input_that_is_0_and_its_layer():
    (one,) = lost(emptied)
    assert (one.key, layer_of(one.node, NAMES)) == (("AddmmBackward0", 0), "last")
    assert tuple(one.tensor.shape) == (4, 16)
    assert lost(lambda hidden: hidden) == []


@pytest.mark.parametrize(
    "made",
    [
        emptied,
        lambda h: emptied(h.tanh()),
        lambda h: emptied(torch.sigmoid(h)).clone(),
        lambda h: emptied(torch.cat([h, h])),
        lambda h: emptied(h + torch.relu(h)),
        lambda h: emptied(nn.functional.layer_norm(h, (16,))),
    ],
)
def test_what_cannot_be_0(made: Callable[[Tensor], Tensor]):
    (one,) = lost(made)
    assert cannot_vanish(one.made_by)


@pytest.mark.parametrize(
    "made",
    [
        lambda h: torch.relu(h - 1e9),
        lambda h: h * 0,
        lambda h: nn.functional.dropout(h, 1.0),
        lambda h: h.masked_fill(torch.ones(4, 16, dtype=torch.bool), 0.0),
        lambda h: torch.cat([h * 0, torch.relu(h - 1e9)]),
        lambda h: (h - h).clone(),
        torch.zeros_like,
    ],
)
def test_what_may_be_0_by_right(made: Callable[[Tensor], Tensor]):
    (one,) = lost(made)
    assert not cannot_vanish(one.made_by)


def test_targets_and_checkpointed_layers():
    target = torch.zeros(32, dtype=torch.long)
    (one,) = zero_inputs(nn.functional.cross_entropy(FIRST(torch.ones(32, 8)), target))
    assert one.key[0] == "NllLossBackward0" and one.made_by is None
    with torch.autograd.graph.save_on_cpu():
        assert lost(emptied) == []
