"""Inner updates whose result is used, and such that are not."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.func import functional_call

from debugtracer.trace.facts.adapted_weights import AdaptedWeights
from tests.observers.told import facts, findings
from tests.watching import under_watch

RATE = 0.1


def made():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))


def error(model, weights, x=None):
    x = torch.randn(6, 3) if x is None else x
    return (functional_call(model, weights, (x,)) - x.sum(1, keepdim=True)).square().mean()


def adapted(model, rounds=2, second=True):
    weights = dict(model.named_parameters())
    for _ in range(rounds):
        slopes = torch.autograd.grad(error(model, weights), list(weights.values()), create_graph=second)
        weights = {name: w - RATE * g for (name, w), g in zip(weights.items(), slopes, strict=True)}
    return weights


def dropped(model):
    adapted(model)
    error(model, dict(model.named_parameters())).backward()


def watched_only(model):
    weights = adapted(model, second=False)
    with torch.no_grad():
        error(model, weights)
    x = torch.randn(6, 3)
    (model(x) - x.sum(1, keepdim=True)).square().mean().backward()


def clones(model):
    weights = {name: w.clone() for name, w in model.named_parameters()}
    slopes = torch.autograd.grad(error(model, weights), list(model.parameters()), allow_unused=True)
    moved = {n: torch.add(w, g, alpha=-RATE) for (n, w), g in zip(weights.items(), slopes, strict=True)}
    assert moved
    error(model, weights).backward()


def maml(model):
    error(model, adapted(model)).backward()


def first_order(model):
    error(model, adapted(model, second=False)).backward()


def cut(model):
    """First order by hand: the gradients of the adapted weights are those of the others."""
    weights = {name: w.detach().requires_grad_() for name, w in adapted(model).items()}
    (error(model, weights) + error(model, dict(model.named_parameters()))).backward()


def beside(model):
    """The loss before and the loss after, in two backwards."""
    weights = adapted(model)
    error(model, dict(model.named_parameters())).backward(retain_graph=True)
    error(model, weights).backward()


def weighted(model):
    """Weights of the rows by a hypergradient through one update."""
    share = torch.zeros(6, 1, requires_grad=True)
    x = torch.randn(6, 3)
    far = (model(x) - x.sum(1, keepdim=True)).square()
    slopes = torch.autograd.grad((far * share).sum(), list(model.parameters()), create_graph=True)
    weights = {n: w - RATE * g for (n, w), g in zip(model.named_parameters(), slopes, strict=True)}
    (gradient,) = torch.autograd.grad(error(model, weights), share)
    (far * (-gradient).clamp(min=0)).sum().backward()


def written(model):
    """The optimizer steps from where the inner update went."""
    for w, a in zip(model.parameters(), adapted(model, second=False).values(), strict=True):
        w.data.copy_(a.detach())
    error(model, dict(model.named_parameters())).backward()


def norms(model):
    """Gradients that are only looked at."""
    loss = error(model, dict(model.named_parameters()))
    slopes = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    assert sum((RATE * g).square().sum() for g in slopes) > 0
    loss.backward()


def run(out, loop):
    with under_watch(out):
        model = made()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loop(model)
            optimizer.step()
    return facts(out, AdaptedWeights), findings(out, "model/adapted-unused")


@pytest.mark.parametrize("loop", [dropped, watched_only, clones])
def test_weights_that_no_loss_leads_to_are_told_with_the_call(tmp_path, loop):
    told, (found,) = run(tmp_path, loop)
    assert [fact.ref.step for fact in told] == [0, 1, 2]
    assert told[0].weights == 4 and told[0].frame.function == loop.__name__
    assert found.place.symptom_frame.function == loop.__name__


@pytest.mark.parametrize("loop", [maml, first_order, cut, beside, weighted, written, norms])
def test_weights_that_are_used_and_gradients_without_an_update_are_no_news(tmp_path, loop):
    assert run(tmp_path, loop) == ([], [])


def test_what_a_step_adapted_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["adapted-weights"]
        model = made()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model(torch.randn(6, 3)).sum().backward()
        adapted(model)
        assert observer.step.gradients or observer.step.adapted
        session.dispatcher.missed()
        assert not observer.step.gradients and not observer.step.adapted
    assert optimizer.param_groups, "it is not collected before"
