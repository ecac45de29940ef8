"""Another input than for the backward before."""

from __future__ import annotations

import torch

from debugtracer.observers.optimizer.fresh_input import FreshInput


def test_a_new_tensor_is_fresh_and_the_same_one_again_is_not():
    seen, first, second = FreshInput(), torch.ones(2), torch.ones(2)
    told = []
    for given in (first, first, second, first):
        seen.came((given,))
        told.append(seen.is_fresh)
    assert told == [True, False, True, True]


def test_what_has_a_graph_or_is_no_tensor_is_not_fresh():
    seen = FreshInput()
    for given in ((torch.ones(2, requires_grad=True) * 2,), (3,), ()):
        seen.came(given)
        assert not seen.is_fresh
