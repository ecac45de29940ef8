"""Mixtures with random draws, read or not, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.unread_draw import UnreadDraw
from tests.observers.observing import observed
from tests.watching import under_watch

F = nn.functional


def training(answer, steps=6):
    """A loop whose model is asked by `answer`."""

    def loop():
        torch.manual_seed(0)
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        held, rows = [], torch.linspace(-1, 1, 32 * steps).sin().view(steps, 8, 4)
        for step in range(steps):
            x = rows[step]
            loss = F.mse_loss(answer(model, x, step, held), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return loop


def clean(model, x, step, held):
    noisy = x + 0.1 * torch.randn_like(x)
    assert noisy.shape == x.shape
    return model(x)


def by_name(model, x, step, held):
    augmented(x)
    return model(input=x)


def augmented(x):
    flip = torch.rand(len(x), 1) < 0.5
    return torch.where(flip, x.flip(1), x)


def mixed_up(model, x, step, held):
    mixed = 0.7 * x + 0.3 * x[torch.randperm(len(x))]
    assert mixed.shape == x.shape
    return model(x)


def no_sample(model, x, step, held):
    mean, spread = model(x), 0.1
    latent = mean + spread * torch.randn_like(mean)
    assert latent.shape == mean.shape
    return F.linear(mean, model.weight)


def given(model, x, step, held):
    return model(x + 0.1 * torch.randn_like(x))


def sometimes(model, x, step, held):
    noisy = x + 0.1 * torch.randn_like(x)
    return model(noisy if step == 1 else x)


def printed(model, x, step, held):
    noisy = x + 0.1 * torch.randn_like(x)
    noisy.mean().item()
    return model(x)


def kept(model, x, step, held):
    held.append(x + 0.1 * torch.randn_like(x))
    return model(x)


def kept_and_named(model, x, step, held):
    noisy = x + 0.1 * torch.randn_like(x)
    held.append(noisy)
    return model(x)


def another_shape(model, x, step, held):
    pair = torch.cat([x, x + torch.randn_like(x)])
    assert len(pair) == 16
    return model(x)


def only_drawn(model, x, step, held):
    noise = torch.randn_like(x) * 2
    assert noise.shape == x.shape
    return model(x)


@pytest.mark.parametrize(
    ("answer", "mixes", "gives"),
    [
        (clean, "noisy = x +", "return model(x)"),
        (by_name, "return torch.where(flip", "return model(input=x)"),
        (mixed_up, "mixed = 0.7", "return model(x)"),
        (no_sample, "latent = mean", "return F.linear(mean"),
    ],
)
def test_a_mixture_that_nobody_reads(tmp_path, answer, mixes, gives):
    (fact,) = observed(tmp_path / "runs", training(answer), UnreadDraw)
    assert fact.looks >= 2 and fact.ref.step == 0
    assert fact.frame is not None and fact.frame.code.startswith(mixes)
    assert fact.given is not None and fact.given.code.startswith(gives)


@pytest.mark.parametrize(
    "answer", [given, sometimes, printed, kept, kept_and_named, another_shape, only_drawn], ids=lambda f: f.__name__
)
def test_what_is_read_or_kept_is_left_alone(tmp_path, answer):
    assert observed(tmp_path / "runs", training(answer, 5), UnreadDraw) == []


def test_one_look_is_no_news(tmp_path):
    assert observed(tmp_path / "runs", training(clean, 1), UnreadDraw) == []


def choosing(model, x, step, held):
    noisy = x + 0.1 * torch.randn_like(x)
    return model(noisy if step == 0 else x)


def test_a_line_that_was_read_once_is_silent_for_good(tmp_path):
    assert observed(tmp_path / "runs", training(choosing), UnreadDraw) == []


def test_what_was_followed_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        observer = session.dispatcher.observers["unread-draws"]
        training(clean, 2)()
        torch.rand(8)
        assert observer.known
        observer.missed()
        assert not observer.known
        observer.reset()
        assert not (observer.unread or observer.read)
