"""Draws that are targets."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.drawn_target import DrawnTarget
from tests.observers.told import facts, findings
from tests.watching import under_watch


def fresh_noise(model, x):
    return F.mse_loss(model(x + torch.randn_like(x)), torch.randn_like(x))


def by_a_criterion(model, x):
    return torch.nn.MSELoss()(torch.randn_like(x), model(x + torch.randn_like(x)))


def noisy_input_unused(model, x):
    noise = torch.randn_like(x)
    noisy = 0.5 * x + 0.5 * noise
    assert noisy.shape == x.shape
    return F.mse_loss(model(x), noise)


def by_hand(model, x):
    return ((model(x) - torch.randn_like(x)) ** 2).mean()


def the_same_noise(model, x):
    noise = torch.randn_like(x)
    return F.mse_loss(model(x + noise), noise)


def the_same_noise_by_a_criterion(model, x):
    noise = torch.randn_like(x)
    return torch.nn.MSELoss()(model(x + noise), noise)


def noise_in_two_steps(model, x):
    noise = torch.randn_like(x)
    noisy = torch.cat([0.5 * noise[:3], noise[3:]]) + x
    return F.mse_loss(model(noisy), noise)


def noise_as_input(model, x):
    noise = torch.randn_like(x)
    return F.mse_loss(model(noise), noise)


def noisy_output(model, x):
    return (model(x) + 0.1 * torch.randn_like(x)).square().mean()


def noisy_target(model, x):
    return F.mse_loss(model(x), x + torch.randn_like(x))


def smooth_labels(model, x):
    return F.binary_cross_entropy_with_logits(model(x), torch.rand(x.shape) * 0.1 + 0.9)


def a_policy(model, x):
    mean = model(x)
    action = (mean + torch.randn_like(mean)).detach()
    return (mean - action).square().mean()


def run(out, loss_of):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.ones(6, 4)).backward()
            optimizer.step()
    return facts(out, DrawnTarget)


@pytest.mark.parametrize("loss_of", [fresh_noise, by_a_criterion, noisy_input_unused, by_hand])
def test_a_fresh_draw_is_told_with_both_lines(tmp_path, loss_of):
    found = run(tmp_path, loss_of)
    assert [f.ref.step for f in found] == [0, 1, 2]
    assert {(f.draw, f.frame.function, f.loss_frame.function) for f in found} == {
        ("randn_like", loss_of.__name__, loss_of.__name__)
    }
    assert [f.severity for f in findings(tmp_path, "target-drawn")] == ["warning"]


@pytest.mark.parametrize(
    "loss_of",
    [
        the_same_noise,
        the_same_noise_by_a_criterion,
        noise_in_two_steps,
        noise_as_input,
        noisy_output,
        noisy_target,
        smooth_labels,
        a_policy,
    ],
)
def test_a_draw_that_is_used_otherwise_is_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []
