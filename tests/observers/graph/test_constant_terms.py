"""Penalties made of gradients without a graph."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.constant_term import ConstantTerm
from tests.observers.told import facts, findings
from tests.watching import under_watch


def gradient(model, x, graph):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(model(x).sum(), x, create_graph=graph)[0]


def constant(model, x):
    return model(x).square().mean() + 10 * (gradient(model, x, False).norm(2, dim=1) - 1).square().mean()


def penalty(model, x):
    return model(x).square().mean() + 10 * (gradient(model, x, True).norm(2, dim=1) - 1).square().mean()


def weight(model, x):
    return model(x).square().mean() + model(x).abs().mean() * gradient(model, x, False).norm()


def adversarial(model, x):
    return model(x).square().mean() + model(x + gradient(model, x, False).sign()).square().mean()


def run(out, loss_of):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.randn(6, 4)).backward()
            optimizer.step()
    return facts(out, ConstantTerm)


def test_a_term_without_a_graph_is_told_with_both_lines(tmp_path):
    found = run(tmp_path, constant)
    assert [(f.ref.step, f.frame.function, f.sum_frame.function) for f in found] == [
        (step, "gradient", "constant") for step in range(3)
    ]
    assert len(findings(tmp_path, "penalty-constant")) == 1


@pytest.mark.parametrize("loss_of", [penalty, weight, adversarial])
def test_a_penalty_with_a_graph_and_other_uses_are_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []


def test_a_step_written_with_gradients_is_silent(tmp_path):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(4):
            loss = F.mse_loss(model(torch.randn(6, 4)), torch.randn(6, 1))
            model.weight.grad = torch.autograd.grad(loss, model.weight, retain_graph=True)[0]
            loss.backward()
            optimizer.step()
    assert facts(tmp_path, ConstantTerm) == []
