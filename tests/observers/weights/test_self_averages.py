"""Averages of a copy with itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.observers.weights.self_averages import has_two_sides
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.own_average import OwnAverage
from tests.observers.told import facts, findings
from tests.watching import under_watch


def in_place(slow, fast):
    slow.mul_(0.9).add_(fast, alpha=0.1)


def by_lerp(slow, fast):
    slow.lerp_(fast, 0.1)


def by_data(slow, fast):
    slow.data.copy_(0.9 * slow.data + 0.1 * fast.data)


def decayed(slow, fast):
    slow.mul_(0.9).add_(fast, alpha=0.5)


def run(out, update, itself):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    average = copy.deepcopy(model).requires_grad_(False)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), (average if itself else model).parameters(), strict=True):
                    update(slow, fast)
    return facts(out, OwnAverage)


@pytest.mark.parametrize("update", [in_place, by_lerp, by_data])
def test_one_tensor_on_both_sides_is_told_once_a_step(tmp_path, update):
    found = run(tmp_path, update, itself=True)
    assert [f.ref.step for f in found] == [1, 2] or [f.ref.step for f in found] == [0, 1, 2]
    assert {(f.shape, f.frame.function, f.caller.function) for f in found} == {((4, 4), update.__name__, "run")}
    assert [f.severity for f in findings(tmp_path, "self-average")] == ["warning"]


@pytest.mark.parametrize("update", [in_place, by_lerp, by_data])
def test_an_average_of_two_networks_is_silent(tmp_path, update):
    assert run(tmp_path, update, itself=False) == []


def test_weights_that_do_not_add_up_to_one_are_no_average(tmp_path):
    assert run(tmp_path, decayed, itself=True) == []


def test_two_products_of_one_tensor_that_are_not_added_up_are_no_average(tmp_path):
    def scalings(slow, fast):
        half = slow.data * 0.5
        return half / ((slow.data * 0.5) ** 2 + 1)

    assert run(tmp_path, scalings, itself=True) == []


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_rows_of_lengths_of_their_own_are_passed_over(tmp_path):
    def both(slow, fast):
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]) * 0.9
        in_place(slow, fast)

    assert run(tmp_path, both, itself=False) == []


@pytest.mark.parametrize(
    ("code", "two"),
    [
        ("slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)", True),
        ("t.data.copy_(self.tau * t.data + (1 - self.tau) * t.data)", False),
        ("slow.lerp_(fast, 0.1)", True),
    ],
)
def test_a_line_with_two_names_is_the_fault_of_its_caller(code, two):
    assert has_two_sides(Frame(file="train.py", line=3, function="update", code=code)) is two
