"""Losses without a graph whose two arguments are the same, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.self_comparison import SelfComparison
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, term):
    torch.manual_seed(0)
    student, teacher = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            x = torch.randn(6, 4)
            hard = F.cross_entropy(student(x), torch.randint(3, (6,)))
            loss = hard + 0.5 * term(student(x), teacher(x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, SelfComparison)


def divergence(ours, theirs):
    return F.kl_div(F.log_softmax(theirs / 2, -1), F.softmax(theirs / 2, -1), reduction="batchmean")


def logged(ours, theirs):
    return F.kl_div(F.log_softmax(theirs, -1), F.log_softmax(theirs, -1), log_target=True)


def squared(ours, theirs):
    return F.mse_loss(theirs, theirs.clone())


@pytest.mark.parametrize("term", [divergence, logged, squared])
def test_the_teacher_beside_itself(term, tmp_path):
    found = run(tmp_path, term)
    assert [f.ref.step for f in found] == [0, 1, 2]
    assert found[0].shape == (6, 3) and found[0].frame.function == term.__name__
    assert "loss = hard" in found[0].sum_frame.code
    assert len(findings(tmp_path, "self-compared")) == 1


def healthy(ours, theirs):
    return F.kl_div(F.log_softmax(ours, -1), F.softmax(theirs, -1), reduction="batchmean")


def with_graph(ours, theirs):
    return F.mse_loss(ours, ours.detach())


def other_values(ours, theirs):
    return F.mse_loss(theirs, theirs.flip(0))


def one_value(ours, theirs):
    return F.mse_loss(torch.zeros(4), torch.zeros(4))


@pytest.mark.parametrize("term", [healthy, with_graph, other_values, one_value])
def test_other_terms_are_silent(term, tmp_path):
    assert run(tmp_path, term) == []


def test_what_is_not_added_to_the_loss_is_silent(tmp_path):
    def only_logged(ours, theirs):
        squared(ours, theirs).item()
        return healthy(ours, theirs)

    assert run(tmp_path, only_logged) == []
