"""Models that look at one position of their input."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.model.position_trials import other_positions
from debugtracer.observers.model.shadow_model import ShadowModel

CURVES = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(3))


class Reader(nn.Module):
    """A recurrent network whose states are taken in some way."""

    def __init__(self, take):
        super().__init__()
        torch.manual_seed(0)
        self.lstm = nn.LSTM(5, 6, batch_first=True)
        self.take = take

    def forward(self, curve):
        states, _ = self.lstm(curve)
        return self.take(states)


def tried(take, x=CURVES):
    shadow = ShadowModel(Reader(take), [])
    base, _ = shadow.run((x,), {})
    return other_positions(shadow, (x,), {}, base, len(x))


def first(states):
    return states[:, 0]


def test_the_first_state_has_seen_one_position_and_its_line_is_found():
    found = tried(first)
    assert (found["changed"], found["dim"], found["position"], found["length"]) == (True, 1, 0, 7)
    assert found["frame"].code == "return states[:, 0]"


@pytest.mark.parametrize("take", [lambda s: s[:, -1], lambda s: s, lambda s: s.mean(1), lambda s: s.amax(1)])
def test_whoever_sees_all_is_silent(take):
    assert tried(take) is None


def test_a_model_without_any_input_is_another_fault():
    assert tried(lambda s: 0 * s[:, 0]) is None


def test_inputs_that_hardly_differ_say_nothing():
    same = CURVES[:1].expand(4, 7, 5).contiguous()
    assert tried(first, same) is None


def test_outputs_that_are_all_one_number_say_nothing_of_positions():
    model = nn.Sequential(nn.Linear(8, 1), nn.ReLU())
    with torch.no_grad():
        model[0].weight.fill_(1.0)
        model[0].weight[0, 7] = 100.0
        model[0].bias.fill_(-0.1)
    shadow = ShadowModel(model, [])
    x = torch.zeros(2, 8)
    x[0, :4], x[1, 4:] = -1.0, -1.0  # each closes the relu; a larger last value opens it
    base, _ = shadow.run((x,), {})
    assert not base.any()
    assert other_positions(shadow, (x,), {}, base, 2) is None
