"""Counters of one scheduler."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler as S

from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan, horizon_of, is_round, plain, rates


def an_optimizer(lr: float = 0.1) -> torch.optim.Optimizer:
    return torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=lr)


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (lambda o: S.OneCycleLR(o, 0.1, epochs=3, steps_per_epoch=10), (30, "total_steps")),
        (lambda o: S.CosineAnnealingLR(o, 7), (7, "T_max")),
        (lambda o: S.StepLR(o, 9), (9, "step_size")),
        (lambda o: S.MultiStepLR(o, [4, 8]), (8, "milestones")),
        (lambda o: S.LinearLR(o, total_iters=5), (5, "total_iters")),
        (lambda o: S.ExponentialLR(o, 0.9), (None, "")),
    ],
)
def test_the_horizon_of_torchs_schedulers(make, known):
    assert horizon_of(make(an_optimizer())) == known


def test_lines_and_backwards_between_updates():
    scheduler = S.StepLR(an_optimizer(), 9)
    plan = SchedulerPlan(scheduler, 0, None)
    a, b = [((sys._getframe().f_code, n),) for n in (1, 2)]
    plan.stepped(scheduler, a)
    plan.updated(True)
    for _ in range(2):
        plan.stepped(scheduler, a)
        plan.stepped(scheduler, b)
        plan.updated(True)
    assert (plan.early, plan.again, plan.doubled, plan.calls, plan.updates) == (1, 2, 2, 5, 3)
    plan.backwards = 2
    plan.stepped(scheduler, a)
    plan.stepped(scheduler, a)
    plan.updated(True)
    assert (plan.micro, plan.per_update) == (1, 2)


def test_a_fall_is_news_once():
    plan = SchedulerPlan(S.StepLR(an_optimizer(), 9), 0, None)
    assert [plan.rated([v]) for v in (0.1, 0.01, 1e-6, 1e-7)] == [False, False, True, False]


def test_rates_wrappers_and_round_numbers():
    assert rates(an_optimizer(0.25)) == [0.25]
    assert rates(torch.optim.Adam(nn.Linear(2, 2).parameters(), lr=torch.tensor(0.5))) == [0.5]
    optimizer = an_optimizer()
    wrapper = type("Wrapper", (), {"optimizer": optimizer})()
    assert plain(wrapper) is plain(optimizer) is optimizer
    assert [n for n in range(1, 300) if is_round(n)] == [1, 2, 3, 5, 10, 20, 50, 100, 200]
