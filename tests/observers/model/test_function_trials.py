"""The trials of one copy, one after the other."""

from __future__ import annotations

import random

import numpy as np
import torch
from torch import nn

from debugtracer.observers.model.function_trials import draw_on, tried
from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.shadow_model import ShadowModel


def found(model, *args):
    steps = [*tried(RecordedCall(model, args, {}), None, None, ShadowModel(model, []))]
    assert steps[:-1] == [None] * (len(steps) - 1)
    return steps[-1], len(steps)


def test_nothing_is_told_before_the_last_trial():
    torch.manual_seed(0)
    told, steps = found(nn.Linear(3, 2), torch.randn(5, 3))
    assert steps > 3
    assert not told["other_samples"]["changed"]
    assert not told["any_input"]["changed"]


def test_what_a_copy_raises_ends_them_and_is_the_reason():
    (told,) = tried(RecordedCall(nn.Linear(3, 2), (), {}), None, None, TypeError("no copy"))
    assert told == {"skipped": {"why": "TypeError: no copy"}}
    told, _ = found(nn.Linear(3, 2), torch.randn(5, 4))
    assert told["skipped"]["why"].startswith("RuntimeError")


def test_noise_is_other_noise_in_the_second_run():
    state = torch.get_rng_state(), random.getstate(), np.random.get_state()[2]
    draw_on(torch.device("cpu"))
    assert not torch.equal(torch.get_rng_state(), state[0])
    assert (random.getstate(), np.random.get_state()[2]) != state[1:]


class Neighbours(nn.Module):
    """The nearest points of each cloud, taken from the joined points of all."""

    def __init__(self, moved):
        super().__init__()
        self.moved, self.head = moved, nn.Linear(6, 2)

    def forward(self, x):
        batch, points, _ = x.shape
        near = torch.cdist(x, x).topk(2, largest=False).indices[..., 1]
        if self.moved:
            near = near + torch.arange(batch).view(-1, 1) * points
        beside = x.reshape(batch * points, -1)[near.reshape(-1)]
        return self.head(torch.cat([x, beside.view(batch, points, -1)], -1)).amax(1)


def test_neighbours_of_the_first_sample_are_told_at_the_line_that_takes_them():
    torch.manual_seed(0)
    told = found(Neighbours(False), torch.randn(6, 5, 3))[0]["other_samples"]
    assert (told["changed"], told["function"], told["position"]) == (True, "first", 3)
    assert told["frame"].code.startswith("beside = x.reshape")
    told = found(Neighbours(True), torch.randn(6, 5, 3))[0]["other_samples"]
    assert not told["changed"] and "function" not in told


def test_a_recurrent_layer_over_the_batch_and_a_mean_over_it_are_no_first_sample():
    class Along(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(3, 3)

        def forward(self, x):
            return self.rnn(x)[0]

    class Centred(nn.Linear):
        def forward(self, x):
            return super().forward(x - x.mean(0))

    torch.manual_seed(0)
    for model in (Along(), Centred(3, 2)):
        told = found(model, torch.randn(6, 3))[0]["other_samples"]
        assert told["changed"] and told.get("function", "") != "first"
