"""Loops over parameters: what they go through, and which of their conditions hold."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.replay.lines_again import LinesAgain
from debugtracer.replay.loop_items import items_of, reached


def seen(layer: nn.Module, many: list[Any], flag: bool) -> LinesAgain:
    kept = []
    for name, p in layer.named_parameters():
        if name.endswith("weight"):
            kept.append(p)
    for p in many:
        if p.grad is None:
            continue
        if p.data.norm() > 0 and not flag:
            kept.append(p)
        else:
            kept.append(name)
    for p in map(id, many):
        kept.insert(0, p)
    for p in many:
        if p.grad.norm() > 0:
            kept.insert(0, p)
    return LinesAgain(sys._getframe())


def weight(value: float, graded: bool = True) -> nn.Parameter:
    made = nn.Parameter(torch.full((2,), value))
    made.grad = torch.ones(2) if graded else None
    return made


FIRST = seen.__code__.co_firstlineno + 2  # the line of the first loop


@pytest.fixture
def lines() -> LinesAgain:
    return seen(nn.Linear(2, 3), [weight(0.0), weight(1.0)], False)


def loop(lines: LinesAgain, below: int) -> Any:
    return next(one for one in lines.loops if one.lineno == FIRST + below)


def test_parameters_of_a_module_and_lists_are_gone_through_and_calls_are_not_made_again(lines):
    assert [one["name"] for one in items_of(lines, loop(lines, 0))] == ["weight", "bias"]
    assert [float(one["p"].sum()) for one in items_of(lines, loop(lines, 3))] == [0.0, 2.0]
    assert items_of(lines, loop(lines, 10)) is None


def test_a_class_with_parameters_of_its_own_making_is_not_asked():
    class Own(nn.Linear):
        def named_parameters(self, *args, **more):
            return super().named_parameters(*args, **more)

    found = seen(Own(2, 3), [], False)
    assert items_of(found, loop(found, 0)) is None


def test_the_conditions_around_a_line_are_asked_of_each_item(lines):
    assert reached(lines, FIRST + 2, {"name": "0.weight"})
    assert not reached(lines, FIRST + 2, {"name": "0.bias"})


def test_guards_before_it_and_other_branches_count_as_well(lines):
    zero, one = weight(0.0), weight(1.0)
    assert not reached(lines, FIRST + 7, {"p": weight(1.0, graded=False)})
    assert reached(lines, FIRST + 7, {"p": one}) and not reached(lines, FIRST + 7, {"p": zero})
    assert reached(lines, FIRST + 9, {"p": zero}) and not reached(lines, FIRST + 9, {"p": one})


def test_what_a_gradient_held_then_is_not_known_now(lines):
    assert not reached(lines, FIRST + 14, {"p": weight(1.0)})


def test_a_condition_that_fails_for_all_is_heeded():
    assert not reached(seen(nn.Linear(2, 3), [weight(1.0)], True), FIRST + 7, {"p": weight(1.0)})
