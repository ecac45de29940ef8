"""Loads that give back what is there."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from debugtracer.observers.weights.unchanged_loads import KeptState, UnchangedLoads, same
from debugtracer.recorder.state.weak import WeakRef

LINE = (((lambda: None).__code__, 1),)


def asked(loads: UnchangedLoads, module: nn.Module, value: Tensor, kept: list[KeptState], step: int) -> bool:
    weight = next(module.parameters())
    return loads.given([(weight, value)], module, kept, step, LINE) is not None


def a_state(module: nn.Module, step: int, number: int) -> tuple[Tensor, KeptState]:
    tensor = next(module.parameters()).detach()
    return tensor, KeptState(WeakRef(tensor), step, LINE, number)


def test_the_third_in_a_row_is_told_once():
    loads, module, said, alive = UnchangedLoads(), nn.Linear(3, 2, bias=False), [], []
    for number in range(5):
        tensor, kept = a_state(module, number, number)
        alive.append(tensor)
        said.append(asked(loads, module, module.weight.detach().clone(), [kept], number + 1))
    assert said == [False, False, True, False, False]


def test_a_line_that_has_changed_something_is_left_alone():
    loads, module = UnchangedLoads(), nn.Linear(3, 2, bias=False)
    tensor, kept = a_state(module, 0, 0)
    assert not asked(loads, module, tensor + 1, [kept], 1)
    assert loads.left == {LINE}
    loads.reset()
    assert not loads.left


def test_a_state_of_before_the_last_load_or_without_an_update_says_nothing():
    loads, module = UnchangedLoads(), nn.Linear(3, 2, bias=False)
    tensor, kept = a_state(module, 0, 0)
    assert not asked(loads, module, tensor.clone(), [kept], 0)
    loads.reset()
    for _ in range(4):
        assert not asked(loads, module, tensor.clone(), [kept], 1)
    assert loads.since(module, kept) == LINE


def test_values_are_the_same_but_for_rounding():
    weight = nn.Parameter(torch.randn(100))
    assert same(weight, 0.9 * weight.detach() + 0.1 * weight.detach())
    assert not same(weight, weight.detach() * (1 + 1e-4))
    assert not same(weight, weight.detach().double())
    assert not same(nn.Parameter(torch.empty(2, device="meta")), torch.empty(2, device="meta"))
