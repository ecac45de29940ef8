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


def multiplied(slow, fast):
    fast.data.mul_(0.99)
    fast.data.add_(0.01 * slow.data)


def added(slow, fast):
    fast.data.mul_(0.99).add_(slow.data, alpha=0.01)


def mixed(slow, fast):
    fast.data.lerp_(slow.data, 0.01)


def set_anew(slow, fast):
    fast.data.copy_(fast.data * 0.99 + slow.data * 0.01)


def trained_with(out, update, runs):
    model = nn.Linear(4, 4)
    target = copy.deepcopy(model)
    with under_watch(out):
        optimizer, _ = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (model, target))
        for _ in range(6):
            x = torch.randn(6, 4)
            optimizer.zero_grad()
            with torch.no_grad():
                wanted = target(x) if runs else torch.randn(6, 4)
            (model(x) - 0.9 * wanted - 1).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                follow(update, target, model)
    return facts(out, BlendedCopy)


def follow(update, target, model):
    for slow, fast in zip(target.parameters(), model.parameters(), strict=True):
        update(slow, fast)


@pytest.mark.parametrize("update", [multiplied, added, mixed, set_anew])
def test_a_parameter_that_is_written_from_its_target_is_told_with_the_line_that_calls(tmp_path, update):
    (fact,) = trained_with(tmp_path, update, runs=True)  # the target has an optimizer, too, that never steps
    written = update is not set_anew
    assert (fact.written, fact.frame.function, fact.called.function) == (written, update.__name__, "follow")
    (finding,) = findings(tmp_path, "copy-unmoved")
    assert finding.place.frame == fact.called


@pytest.mark.parametrize("update", [multiplied, added, mixed, set_anew])
def test_weights_that_are_held_near_to_others_are_left_alone(tmp_path, update):
    assert trained_with(tmp_path, update, runs=False) == []


def by_sum(slow, fast):
    slow.copy_(0.005 * slow + 0.995 * fast)


def by_lerp(slow, fast):
    slow.data.lerp_(fast.data, 0.995)


def by_parts(slow, fast):
    slow.data.mul_(0.01).add_(fast.data, alpha=0.99)


@pytest.mark.parametrize("update", [by_sum, by_lerp, by_parts])
def test_a_target_that_takes_over_nearly_all_each_time_is_told(tmp_path, update):
    (fact,) = trained_with(tmp_path, update, runs=True)
    assert (fact.forgets, fact.looks, fact.frame.function) == (True, 2, update.__name__)
    (finding,) = findings(tmp_path, "copy-unmoved")
    assert (finding.severity, finding.kind) == ("warning", "average_forgets")


def warming_up():
    steps = iter(range(1, 1000))

    def update(slow, fast):
        slow.lerp_(fast, 1 / (1 + next(steps) / 100))

    return update


def copied(slow, fast):
    slow.lerp_(fast, 1.0)


def half(slow, fast):
    slow.lerp_(fast, 0.5)


@pytest.mark.parametrize("update", [warming_up(), copied, half, written])
def test_one_that_keeps_its_share_or_begins_with_the_parameter_is_silent(tmp_path, update):
    assert trained_with(tmp_path, update, runs=True) == []


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
