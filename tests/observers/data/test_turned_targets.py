"""Training on pictures with maps, in place and transposed."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.turned_target import TurnedTarget
from tests.observers.data.test_turned_maps import blobs
from tests.observers.told import facts, findings
from tests.watching import under_watch


def in_place(maps):
    return maps


def across(maps):
    return maps.transpose(1, 2).contiguous()


def trained(turn):
    torch.manual_seed(0)
    picture, maps = blobs()
    model = nn.Conv2d(3, 2, 3, padding=1)
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(4):
        wanted = turn(maps)
        loss = F.cross_entropy(model(picture), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, float(torch.rand(()))


@pytest.mark.parametrize("turn", [across, in_place])
def test_transposed_maps_are_told(tmp_path, turn):
    with under_watch(tmp_path):
        trained(turn)
    told = facts(tmp_path, TurnedTarget)
    assert [(f.how, f.height, f.ref.step) for f in told] == ([("transposed", 16, 1)] if turn is across else [])
    assert [f.severity for f in findings(tmp_path, "target-turned")] == ["warning"] * len(told)


def test_watching_changes_no_number(tmp_path):
    with under_watch(tmp_path):
        watched = trained(across)
    assert watched == trained(across)


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["turned-targets"]
        observer.called(F.mse_loss, (torch.zeros(4), torch.ones(4)), {}, torch.ones(()))
        assert observer.wanted
        session.dispatcher.missed()
        assert not observer.wanted
