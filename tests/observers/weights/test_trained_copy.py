"""Copies of trained weights."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.observers.weights.trained_copy import copies_trained
from tests.observers.told import findings
from tests.watching import under_watch


@pytest.mark.parametrize(("moved", "copied"), [(0.0, True), (0.1, True), (1.0, False)])
def test_a_copy_is_one_until_it_has_moved_far(moved: float, copied: bool):
    torch.manual_seed(0)
    trained, other = nn.Linear(16, 16), nn.Linear(16, 16)
    trained(torch.randn(4, 16)).sum().backward()
    target = copy.deepcopy(trained)
    with torch.no_grad():
        target.weight.lerp_(other.weight, moved)
    assert copies_trained([target.weight], trained.parameters()) is copied


def test_a_copy_of_what_gets_no_gradient_is_none():
    trained = nn.Linear(16, 16)
    assert not copies_trained([copy.deepcopy(trained).weight], trained.parameters())


@pytest.mark.parametrize(("synced", "severity"), [(True, "note"), (False, "warning")])
def test_a_target_network_that_receives_gradients_is_a_note_with_what_to_do(tmp_path, synced: bool, severity: str):
    torch.manual_seed(0)
    online, target = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
    if synced:
        target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    with under_watch(tmp_path):
        for _ in range(4):
            state, after = torch.randn(8, 4), torch.randn(8, 4)
            wanted = 0.1 + 0.9 * target(after).max(1)[0]
            loss = nn.functional.smooth_l1_loss(online(state)[:, 0], wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    found = findings(tmp_path, "missing-params")
    assert found[-1].severity == severity
    assert ("under torch.no_grad()" in found[-1].message) is synced
