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
