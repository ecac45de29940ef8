"""What the program averages itself is known and copied; what stands still is not."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from debugtracer.recorder.state.averages import Averages


def test_an_averaged_model_is_known_from_its_making() -> None:
    model = nn.Linear(2, 2)
    averages = Averages(list)
    averages.install()
    try:
        average = AveragedModel(model, use_buffers=True)
    finally:
        averages.remove()
    AveragedModel(model)
    kept = averages.copies(model.parameters())
    assert [id(one.tensor) for one in kept] == [id(t) for t in (*average.parameters(), *average.buffers())]


def test_a_copy_that_the_loop_moves_is_copied_and_a_frozen_one_is_not() -> None:
    model, frozen = nn.Linear(2, 2), nn.Linear(3, 3).requires_grad_(False)
    ema, written = copy.deepcopy(model).requires_grad_(False), copy.deepcopy(model).requires_grad_(False)
    averages = Averages(lambda: [model, frozen, ema, written])
    assert averages.copies(model.parameters()) == []
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters(), strict=True):
            a.lerp_(b + 1, 0.1)
        for a in written.parameters():
            a.data.mul_(0.9)
    kept = averages.copies(model.parameters())
    assert {id(one.tensor) for one in kept} == {id(p) for m in (ema, written) for p in m.parameters()}
    assert all(one.value is not one.tensor and torch.equal(one.value, one.tensor) for one in kept)


def test_what_stands_still_in_a_dict_is_copied_once() -> None:
    model = nn.Linear(2, 2)
    shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
    averages = Averages(lambda: [model])
    first, second = averages.copies(model.parameters()), averages.copies(model.parameters())
    assert [one.key for one in first] == ["weight", "bias"] and all(one.holder is shadow for one in first)
    assert all(a.value is b.value for a, b in zip(first, second, strict=True))
    shadow["bias"] = shadow["bias"] + 1
    moved = {one.key: one.value for one in averages.copies(model.parameters())}
    assert moved["weight"] is first[0].value and torch.equal(moved["bias"], first[1].value + 1)
