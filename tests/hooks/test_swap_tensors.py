"""torch.utils.swap_tensors under watch."""

from __future__ import annotations

import weakref

import pytest
import torch
import torch.utils
from torch import nn

from tests.watching import under_watch


def step_once(model, optimizer):
    optimizer.zero_grad()
    model(torch.randn(4, 3)).square().mean().backward()
    optimizer.step()


def test_weights_that_we_refer_to_are_swapped_and_training_goes_on(tmp_path):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(4):
            step_once(model, optimizer)
        optimizer.zero_grad()
        torch.utils.swap_tensors(model.weight, nn.Parameter(torch.ones(2, 3)))
        assert torch.equal(model.weight, torch.ones(2, 3))
        step_once(model, optimizer)
    assert not torch.equal(model.weight, torch.ones(2, 3))


def test_a_reference_of_the_programs_own_is_still_refused(tmp_path):
    kept = nn.Parameter(torch.ones(2))
    reference = weakref.ref(kept)
    with under_watch(tmp_path), pytest.raises(RuntimeError, match="weakref associated"):
        torch.utils.swap_tensors(kept, nn.Parameter(torch.zeros(2)))
    assert reference() is kept


def test_the_name_is_put_back(tmp_path):
    with under_watch(tmp_path):
        assert torch.utils.weakref.ref is weakref.ref
    assert torch.utils.weakref is weakref
