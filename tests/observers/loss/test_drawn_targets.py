"""Draws that are targets."""

from __future__ import annotations

import numpy as np
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


def a_level_for_each_sample(model, x):
    sigma, noise = torch.rand(6, 1), torch.randn_like(x)
    return F.mse_loss(model(x + noise * sigma), noise)


def a_level_first(model, x):
    sigma, noise = torch.rand(6, 1), torch.randn_like(x)
    return F.mse_loss(model(x * (1 - sigma) + sigma * noise), noise)


def simulated(model, x):
    rate = torch.rand(6, 4)
    return F.mse_loss(model(torch.exp(-rate) + 0.02 * torch.randn(6, 4)), rate)


def simulated_by_numpy(model, x):
    rate = torch.rand(6, 4)
    return F.mse_loss(model(torch.from_numpy(np.exp(rate.numpy()))), rate)


def simulated_row_by_row(model, x):
    rates = torch.rand(6, 4)
    return F.mse_loss(model(torch.stack([torch.exp(rate) for rate in rates])), rates)


def simulated_from_a_list(model, x):
    rate = torch.rand(6, 4)
    return F.mse_loss(model(torch.tensor(rate.tolist())), rate)


def mixed_into_a_view(model, x):
    noise, noisy = torch.randn_like(x), x.clone()
    noisy[:, :2].add_(noise[:, :2])
    return F.mse_loss(model(noisy), noise)


def mixed_by_data(model, x):
    noise = torch.randn_like(x)
    return F.mse_loss(model(x + noise.data), noise)


def a_mean_for_each_sample(model, x):
    return F.mse_loss(model(x), torch.normal(2 * x, 0.1))


def noisy_labels(model, x):
    real, fake = torch.normal(1.0, 0.05, size=(6, 4)), torch.normal(0.0, 0.05, size=(6, 4))
    return F.mse_loss(model(x), real) + F.mse_loss(model(-x), fake)


def smooth_labels_in_place(model, x):
    return F.mse_loss(model(x), torch.rand(6, 4).mul_(0.1).add_(0.9))


def two_draws_for_two_inputs(model, x):
    return F.mse_loss(model(x), torch.rand(6, 4)) + F.mse_loss(model(-x), torch.randn(6, 4))


def a_sampled_bit(model, x):
    p = model(x).sigmoid()
    return torch.relu(torch.sign(p - torch.rand_like(p))).mean() + p.mean()


def a_sampled_bit_alone(model, x):
    p = model(x).sigmoid()
    return torch.relu(torch.sign(p - torch.rand_like(p))).mean()


def a_distance_of_energy(model, x):
    z = model(x)
    return 2 * (z - torch.randn_like(z)).norm(dim=1).mean() - (z - z.roll(1, 0)).norm(dim=1).mean()


def noise_taken_from_the_output(model, x):
    z = model(x)
    return F.mse_loss(z - 0.1 * torch.randn_like(z), x) + ((z - torch.randn_like(z)) - x).square().mean()


def noise_taken_from_the_output_alone(model, x):
    z = model(x)
    return ((z - torch.randn_like(z)) - x).square().mean()


def a_term_among_others(model, x):
    z = model(x)
    return F.mse_loss(z, x) + 0.1 * F.mse_loss(z, torch.randn_like(z))


def with_a_number_and_weights(model, x):
    loss = 0.0
    loss += (torch.arange(4) * (model(x) - torch.randn_like(x)) ** 2).mean() / 2
    return loss


def standard_normal(model, x):
    return F.l1_loss(model(x), torch.normal(0, 1, x.shape))


def run(out, loss_of):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.ones(6, 4)).backward()
            optimizer.step()
    return facts(out, DrawnTarget)


@pytest.mark.parametrize(
    "loss_of", [fresh_noise, by_a_criterion, noisy_input_unused, by_hand, with_a_number_and_weights]
)
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
        a_level_for_each_sample,
        a_level_first,
        simulated,
        simulated_by_numpy,
        simulated_row_by_row,
        simulated_from_a_list,
        mixed_into_a_view,
        mixed_by_data,
        a_mean_for_each_sample,
        noisy_labels,
        smooth_labels_in_place,
        two_draws_for_two_inputs,
        a_sampled_bit,
        a_sampled_bit_alone,
        a_distance_of_energy,
        noise_taken_from_the_output,
        noise_taken_from_the_output_alone,
        a_term_among_others,
    ],
)
def test_a_draw_that_is_used_otherwise_is_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []


def test_normal_of_mean_0_and_deviation_1_is_noise(tmp_path):
    assert {f.draw for f in run(tmp_path, standard_normal)} == {"normal"}


def losses_in_turn(out, losses_of):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            for loss_of in losses_of:
                loss_of(model, torch.ones(6, 4)).backward()
            optimizer.step()
    return facts(out, DrawnTarget)


def test_micro_batches_are_told_once_a_step(tmp_path):
    assert [f.ref.step for f in losses_in_turn(tmp_path, [fresh_noise, fresh_noise])] == [0, 1, 2]


@pytest.mark.parametrize("other", [noisy_target, by_hand])
def test_another_loss_of_the_step_is_something_to_learn(tmp_path, other):
    assert losses_in_turn(tmp_path, [fresh_noise, other]) == []
