"""Labels of losses whose classes have weights, in real loops."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.class_weights import ClassWeights
from tests.observers.told import facts, findings
from tests.watching import under_watch

SHARES = torch.tensor([0.05, 0.6, 0.1, 0.25])


def inverse(order):
    shares = SHARES.sort(descending=True).values if order else SHARES
    return 0.317 / shares


def run(out, loss, steps=4):
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(steps):
            optimizer.zero_grad()
            loss(model(torch.randn(100, 3)), torch.multinomial(SHARES, 100, replacement=True)).backward()
            optimizer.step()
    return facts(out, ClassWeights)


@pytest.mark.parametrize(("order", "told"), [(True, 1), (False, 0)])
def test_a_module_with_weights_and_the_line_that_made_them(order, told, tmp_path):
    weight = inverse(order)
    criterion = nn.CrossEntropyLoss(weight=weight)
    found = run(tmp_path, lambda scores, target: criterion(scores, target))
    assert [(f.looks, sum(f.counts), f.loss) for f in found] == [
        (1, 100, "cross_entropy"), (2, 200, "cross_entropy"), (3, 300, "cross_entropy"),
    ]  # fmt: skip
    assert found[0].weights == pytest.approx(weight.tolist(), rel=1e-5)
    assert len(findings(tmp_path, "class-weights-order")) == told


def test_a_function_with_weights_says_where_they_were_made(tmp_path):
    weight = inverse(order=True)
    found = run(tmp_path, lambda scores, target: F.nll_loss(scores.log_softmax(1), target, weight=weight))
    assert found[-1].loss == "nll_loss" and "F.nll_loss" in found[-1].frame.code
    assert len(findings(tmp_path, "class-weights-order")) == 1


def test_labels_that_are_ignored_are_not_counted(tmp_path):
    def masked(scores, target):
        return F.cross_entropy(scores, target.masked_fill(target == 1, -100), weight=inverse(order=False))

    assert {f.counts[1] for f in run(tmp_path, masked)} == {0}


@pytest.mark.parametrize("weight", [None, torch.ones(4)])
def test_no_weights_and_equal_ones_are_left_alone(weight, tmp_path):
    assert run(tmp_path, lambda scores, target: F.cross_entropy(scores, target, weight=weight)) == []


def test_shares_as_targets_and_evaluations_are_left_alone(tmp_path):
    def soft(scores, target):
        with torch.no_grad():
            F.cross_entropy(scores, target, weight=inverse(order=True))
        return F.cross_entropy(scores, F.one_hot(target, 4).float(), weight=inverse(order=True))

    assert run(tmp_path, soft) == []
