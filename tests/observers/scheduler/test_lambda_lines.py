"""Which return of a user's function gave the factor."""

from __future__ import annotations

import sys

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, StepLR

from debugtracer.observers.scheduler.lambda_lines import LambdaLines, function_line


def factor(step: int) -> float:
    if step < 2:
        return 0.5
    return 1.0 / step


def heard(wanted: bool = True) -> tuple[LambdaLines, LambdaLR]:
    lines = LambdaLines(lambda: wanted)
    lines.install()
    try:
        optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1.0)
        scheduler = LambdaLR(optimizer, factor)
        optimizer.step()
        scheduler.step()
    finally:
        lines.remove()
    return lines, scheduler


def test_the_return_that_ran_last_is_known_and_nothing_is_left_behind():
    before = LambdaLR.get_lr
    lines, scheduler = heard()
    frame = lines.frame_of(scheduler)
    assert frame is not None
    assert frame.code == "return 0.5"
    assert scheduler.get_last_lr() == [0.5]
    assert LambdaLR.get_lr is before
    assert lines.frame_of(None) is None


def test_it_listens_only_when_asked():
    lines, scheduler = heard(wanted=False)
    assert lines.frame_of(scheduler) is None


def test_a_debugger_keeps_its_trace_function():
    def tracer(*_: object) -> None:
        return None

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        lines, scheduler = heard()
        kept = sys.gettrace()
    finally:
        sys.settrace(old)
    assert kept is tracer
    assert lines.frame_of(scheduler) is None


class Power(LRScheduler):
    def get_lr(self):
        if self.last_epoch == 0:
            return list(self.base_lrs)
        return [rate * (1 - self.last_epoch / 9) ** 0.9 for rate in self.base_lrs]


def test_without_a_call_the_last_return_of_the_only_function_is_known():
    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1.0)
    frame = function_line(LambdaLR(optimizer, factor))
    assert frame is not None
    assert frame.code == "return 1.0 / step"
    own = function_line(Power(optimizer))
    assert own is not None
    assert own.code.startswith("return [rate * (1 -")
    assert function_line(StepLR(optimizer, 3)) is None
    two = torch.optim.SGD([{"params": [p]} for p in nn.Linear(2, 2).parameters()], lr=1.0)
    assert function_line(LambdaLR(two, [factor, lambda step: 1.0])) is None


class WarmPower(LRScheduler):
    """Each branch on lines of its own."""

    def get_lr(self):
        if self.last_epoch < 2:
            return [
                rate * (self.last_epoch + 1)
                for rate in self.base_lrs
            ]  # fmt: skip
        falling = [rate * 0.5 for rate in self.base_lrs]
        return falling


def climbed(steps: int, wanted: bool = True) -> tuple[LambdaLines, LRScheduler]:
    lines = LambdaLines(lambda: wanted)
    lines.install()
    try:
        optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1.0)
        scheduler = WarmPower(optimizer)
        lines.cover(scheduler)
        lines.cover(scheduler)
        for _ in range(steps):
            optimizer.step()
            scheduler.step()
    finally:
        lines.remove()
    return lines, scheduler


def test_the_line_of_a_schedulers_own_get_lr_is_that_of_the_branch_which_ran():
    before = WarmPower.get_lr
    lines, scheduler = climbed(1)
    assert scheduler.get_last_lr() == [2.0]
    rising = lines.computed_at(scheduler)
    assert rising is not None and rising.code == "rate * (self.last_epoch + 1)"
    assert lines.frame_of(scheduler) is None
    lines, scheduler = climbed(2)
    falling = lines.computed_at(scheduler)
    assert falling is not None and falling.code == "falling = [rate * 0.5 for rate in self.base_lrs]"
    assert WarmPower.get_lr is before


def test_a_class_of_torch_and_one_made_of_functions_are_left_as_they_are():
    lines = LambdaLines(lambda: True)
    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1.0)
    for scheduler in (StepLR(optimizer, 3), LambdaLR(optimizer, factor)):
        before = type(scheduler).get_lr
        lines.cover(scheduler)
        assert type(scheduler).get_lr is before
    assert climbed(1, wanted=False)[0].computed_at(None) is None
    quiet, scheduler = climbed(1, wanted=False)
    assert quiet.computed_at(scheduler) is None
    assert lines.computed_at(scheduler) is None
