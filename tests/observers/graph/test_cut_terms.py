"""Terms of a loss that were computed past the end of a graph, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.cut_term import CutTerm
from tests.observers.loops import data, net
from tests.observers.observing import observed
from tests.watching import under_watch

F = nn.functional
JUDGE = nn.Linear(1, 3)


def training(term, steps=3):
    """A loop whose loss is made by `term` of a plain loss, what the model said, and the model."""

    def loop():
        JUDGE.requires_grad_(False)
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(steps):
            out = model(x)
            loss = term(F.mse_loss(out, y), out, model)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return loop


def seen_without(loss, out, model):
    with torch.no_grad():
        seen = JUDGE(out)
    return loss + 0.1 * seen.square().mean()


@torch.no_grad()
def judged(out):
    return F.l1_loss(JUDGE(out), torch.ones(len(out), 3))


def decorated(loss, out, model):
    return 2 * (loss + judged(out))


def weights_as_data(loss, out, model):
    penalty = sum(p.data.pow(2).sum() for p in model.parameters())
    return loss + 1e-3 * penalty


def cut_mean(loss, out, model):
    return loss - out.detach().mean()


@pytest.mark.parametrize(
    ("term", "function", "reduced", "code"),
    [
        (seen_without, "no_grad", "mean", "with torch.no_grad():"),
        (decorated, "no_grad", "l1_loss", "@torch.no_grad()"),
        (weights_as_data, "data", "sum", "penalty = sum("),
        (cut_mean, "detach", "mean", "return loss - out.detach()"),
    ],
)
def test_a_term_without_a_graph(tmp_path, term, function, reduced, code):
    facts = observed(tmp_path / "runs", training(term), CutTerm)
    assert [fact.ref.step for fact in facts] == [0, 1, 2]
    assert {(fact.function, fact.reduced) for fact in facts} == {(function, reduced)}
    assert facts[0].frame is not None and facts[0].frame.code.startswith(code)


def with_a_graph(loss, out, model):
    return loss + JUDGE(out).square().mean()


def a_target(loss, out, model):
    return loss + (out.mean() - out.detach().mean()) ** 2


def a_weight(loss, out, model):
    return loss + out.detach().mean() * out.square().mean()


def shifted(loss, out, model):
    most = out.detach().sum()
    return loss + (most + (out - most).exp().mean().log())


def passed_straight(loss, out, model):
    total = out.mean()
    return loss + total + (total.round() - total).detach()


def of_data(loss, out, model):
    with torch.no_grad():
        known = JUDGE(torch.ones(4, 1)).mean()
    return loss + known


def printed(loss, out, model):
    total = loss + out.detach().mean()
    assert total.requires_grad
    return loss


@pytest.mark.parametrize(
    "term", [with_a_graph, a_target, a_weight, shifted, passed_straight, of_data, printed], ids=lambda f: f.__name__
)
def test_what_has_a_graph_or_is_no_term(tmp_path, term):
    assert observed(tmp_path / "runs", training(term), CutTerm) == []


def test_what_was_followed_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        observer = session.dispatcher.observers["cut-terms"]
        training(cut_mean, 1)()
        assert net()(torch.ones(2, 4)).detach().mean() is not None
        assert observer.now.past
        observer.missed()
        assert not observer.now.past
