"""Averages of weights made by hand."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.blended_copy import BlendedCopy
from tests.observers.told import facts, findings
from tests.watching import under_watch


def nothing(slow, fast):
    slow = 0.9 * slow + 0.1 * fast


def exchanged(slow, fast):
    slow.data.copy_(1.0 * slow.data + 0.0 * fast.data)


def lost_lerp(slow, fast):
    torch.lerp(slow, fast, 0.1)


def written(slow, fast):
    slow.copy_(0.9 * slow + 0.1 * fast)


def in_place(slow, fast):
    slow.mul_(0.9).add_(fast, alpha=0.1)


def by_data(slow, fast):
    slow.data = 0.9 * slow.data + 0.1 * fast.data


def too_slow(slow, fast):
    slow.copy_((1 - 2.0**-24) * slow + 2.0**-24 * fast)


def distance(slow, fast):
    (slow - fast).norm()


def run(out, update, steps=4, lr=0.1):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    average = copy.deepcopy(model).requires_grad_(False)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                    update(slow, fast)
    return facts(out, BlendedCopy)


@pytest.mark.parametrize("update", [nothing, exchanged, lost_lerp])
def test_a_copy_that_does_not_follow_is_told(tmp_path, update):
    (fact,) = run(tmp_path, update, 5)
    assert (fact.param, fact.looks, fact.frame.function) == ("weight", 2, update.__name__)
    assert float(fact.kept) + float(fact.taken) == 1
    assert float(fact.moved) > 0
    assert [f.severity for f in findings(tmp_path, "copy-unmoved")] == ["warning"]


@pytest.mark.parametrize("update", [written, in_place, by_data, distance, too_slow])
def test_one_that_follows_is_silent(tmp_path, update):
    assert run(tmp_path, update, 6) == []


def test_a_parameter_that_does_not_move_says_nothing(tmp_path):
    assert run(tmp_path, nothing, 6, lr=0.0) == []


def test_a_list_of_averages_is_not_a_copy(tmp_path):
    kept = {}

    def listed(slow, fast):
        kept[id(slow)] = 0.9 * kept.get(id(slow), slow.clone()) + 0.1 * fast

    assert run(tmp_path, listed, 6) == []
