"""Clips of loops that write their weights themselves."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.own_clip import OwnClip
from tests.observers.told import facts, findings
from tests.watching import under_watch


def write(model):
    for weight in model.parameters():
        weight.data.add_(weight.grad, alpha=-0.01)


def before_backward(model, loss):
    clip(model)
    loss.backward()
    write(model)
    model.zero_grad()


def behind_the_update(model, loss):
    loss.backward()
    write(model)
    clip(model)
    model.zero_grad()


def zeros_kept(model, loss):
    model.zero_grad(set_to_none=False)
    clip(model)
    loss.backward()
    write(model)


def between(model, loss):
    loss.backward()
    clip(model)
    write(model)
    model.zero_grad()


def measured_too(model, loss):
    loss.backward()
    clip(model)
    write(model)
    clip(model)
    model.zero_grad()


def over_two_batches(model, loss):
    loss.backward()
    if torch.rand(()) < 2:
        clip(model)
        write(model)
    clip(model)
    for weight in model.parameters():
        weight.grad = None


def clip(model, limit=1.0):
    nn.utils.clip_grad_norm_(model.parameters(), limit)


def run(out, update, make=None):
    torch.manual_seed(0)
    with under_watch(out):
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = make(model.parameters()) if make else None
        for _ in range(8):
            update(model, model(torch.randn(16, 4)).square().mean())
            if optimizer is not None:
                optimizer.step()
    return facts(out, OwnClip), findings(out, "optimizer/clip-after-step")


@pytest.mark.parametrize(
    ("update", "why"), [(before_backward, "none"), (behind_the_update, "used"), (zeros_kept, "none")]
)
def test_a_clip_that_meets_nothing_of_use_is_told(tmp_path, update, why):
    told, found = run(tmp_path, update)
    assert [(fact.number, fact.why, fact.limit) for fact in told] == [(n, why, 1.0) for n in range(1, len(told) + 1)]
    assert len(told) > 1 and len(found) == 1 and found[0].place.frame.function == "clip"


@pytest.mark.parametrize("update", [between, measured_too, over_two_batches])
def test_one_that_meets_a_fresh_gradient_ends_it(tmp_path, update):
    assert run(tmp_path, update) == ([], [])


def test_silent_where_an_optimizer_steps(tmp_path):
    told, _ = run(tmp_path, before_backward, lambda held: torch.optim.SGD(held, lr=0.1))
    assert len(told) < 2


def test_a_measuring_clip_is_no_clip(tmp_path):
    _, found = run(tmp_path, lambda model, loss: (clip(model, 1e9), loss.backward(), write(model), model.zero_grad()))
    assert found == []
