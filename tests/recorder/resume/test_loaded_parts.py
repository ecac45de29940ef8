"""Saved parts find the objects they belong to."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.output.last_good import entry
from debugtracer.recorder.resume.loaded_parts import (
    fits,
    living_scalers,
    load_model,
    load_optimizer,
    load_scheduler,
    pairs,
    same_groups,
    scale_rates,
)


def test_a_model_is_known_by_names_and_shapes_under_any_wrapper() -> None:
    saved = entry(nn.Sequential(nn.Linear(2, 3)))
    wrapped = nn.ModuleDict({"module": nn.Sequential(nn.Linear(2, 3))})
    assert fits(wrapped, saved) and not fits(nn.Sequential(nn.Linear(3, 3)), saved)
    load_model(wrapped, saved)
    assert torch.equal(wrapped["module"].state_dict()["0.weight"], saved["state"]["0.weight"])


def trained() -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    schedule.step()
    return optimizer, schedule


def test_rates_are_scaled_and_moments_left_out() -> None:
    optimizer, schedule = trained()
    fresh, plan = trained()
    load_optimizer(fresh, entry(optimizer), 0.5, fresh=True)
    load_scheduler(plan, entry(schedule), 0.5)
    assert fresh.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"] / 2 and not fresh.state
    assert plan.base_lrs == [0.05]  # type: ignore[attr-defined]
    load_optimizer(fresh, entry(optimizer), 1.0, fresh=False)
    assert len(fresh.state) == 2


def test_pairs_are_of_one_class_in_their_order() -> None:
    first, second = trained()[0], trained()[0]
    other = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    saved = [entry(first), entry(other)]
    assert [(a, b["class"]) for a, b in pairs([other, second], saved)] == [(other, "SGD"), (second, "Adam")]
    assert same_groups(second, entry(first)) and not same_groups(other, entry(first))


def test_a_scaler_is_found_before_its_first_use() -> None:
    scaler = torch.amp.GradScaler("cpu")
    assert any(scaler is known for known in living_scalers())


def test_rates_of_schedules_inside_a_schedule_are_scaled_too() -> None:
    inner = {"base_lrs": [0.2, 0.4], "step_size": 1}
    state = {"base_lrs": [0.1], "_schedulers": [inner, "not a state"]}
    scale_rates(state, 0.5)
    assert state == {"base_lrs": [0.05], "_schedulers": [{"base_lrs": [0.1, 0.2], "step_size": 1}, "not a state"]}
    scale_rates(state := {"_schedulers": None}, 0.5)
    assert state == {"_schedulers": None}
