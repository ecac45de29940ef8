"""Similarities of a real session: along which dimension were their factors normalised?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.observers.loss.crossed_lengths import crossed, in_letters
from debugtracer.trace.facts.crossed_lengths import CrossedLengths
from tests.observers.told import facts, findings
from tests.watching import under_watch


def ranked(scores):
    return F.cross_entropy(scores, torch.arange(len(scores)))


def joined(a, b):
    return torch.cat([F.normalize(a, dim=0), F.normalize(b, dim=0)])


WRONG = {
    "normalize": lambda a, b: ranked(F.normalize(a, dim=0) @ F.normalize(b, dim=0).T / 0.1),
    "by hand": lambda a, b: ranked((a / a.norm(dim=0)) @ b.T),
    "exp": lambda a, b: -torch.log(torch.exp(torch.mm(F.normalize(a, dim=0), b.t())).softmax(1).diag()).mean(),
    "einsum": lambda a, b: ranked(torch.einsum("nd,md->nm", F.normalize(a, dim=0), b) * 5),
    "linear": lambda a, b: ranked(F.linear(F.normalize(a, dim=0), b)),
    "joined": lambda a, b: torch.logsumexp((joined(a, b) @ joined(a, b).T / 0.1).fill_diagonal_(-9.0), 1).mean(),
    "default dim": lambda a, b: torch.softmax(F.normalize(a.view(1, -1, 6)) @ b.view(1, -1, 6).mT, -1).square().mean(),
}
RIGHT = {
    "rows": lambda a, b: ranked(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / 0.1),
    "columns of a weight": lambda a, b: ranked(F.normalize(a, dim=1) @ F.normalize(b.T, dim=0) * 9),
    "cross-covariance": lambda a, b: torch.softmax(F.normalize(a.T, dim=1) @ F.normalize(b, dim=0), 1).square().sum(),
    "a kernel": lambda a, b: (F.normalize(a, dim=0) @ F.normalize(b, dim=0).T).square().mean(),
    "standardised": lambda a, b: ranked((a - a.mean(0)) / a.std(0) @ b.T),
    "a gate": lambda a, b: ranked((a * torch.sigmoid(b)) @ b.T),
    "no normalising": lambda a, b: ranked(a @ b.T),
}


def told(out, loss):
    torch.manual_seed(1)
    left, right = nn.Linear(5, 6), nn.Linear(5, 6)
    optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.01)
    with under_watch(out):
        for _ in range(3):
            x = torch.randn(16, 5)
            optimizer.zero_grad()
            loss(left(x), right(x)).backward()
            optimizer.step()
    return facts(out, CrossedLengths), findings(out, "normalised-across")


@pytest.mark.parametrize("name", WRONG)
def test_lengths_across_the_sum_are_told(tmp_path, name):
    found, said = told(tmp_path, WRONG[name])
    assert {(f.unit, f.summed) for f in found} == {(1, 2) if name == "default dim" else (0, 1)}
    assert all(f.made is not None and f.frame is not None for f in found)
    assert [f.severity for f in said] == ["warning"]


@pytest.mark.parametrize("name", RIGHT)
def test_other_products_are_left_alone(tmp_path, name):
    assert told(tmp_path, RIGHT[name]) == ([], [])


def test_a_matrix_with_both_lengths_is_left_alone():
    square = torch.linalg.qr(torch.randn(12, 12))[0]
    assert crossed(square, 1) is None
    unit, low, high = crossed(F.normalize(torch.randn(12, 5), dim=0), 1)
    assert unit == 0 and low < high < 1.5


def test_the_sum_of_an_einsum():
    a = torch.randn(3, 4, 5, requires_grad=True) * 1
    b = torch.randn(3, 6, 5, requires_grad=True) * 1
    assert [dim for _, dim in in_letters(("bnd,bmd->bnm", a, b))] == [2, 2]
    assert in_letters(("bnd,bmd", a, b)) == []
    assert in_letters(("bnd->bn", a)) == []


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["crossed-lengths"]
        made = F.normalize(torch.randn(9, 4, requires_grad=True), dim=0)
        observer.called(F.normalize, (), {}, made)
        assert observer.divided
        session.dispatcher.missed()
        assert not observer.divided
