"""Labels of losses whose classes have weights, in real loops."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.observers.loss.class_weights import columns, is_fitting
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


def run_binary(out, loss, shape, share=0.1):
    torch.manual_seed(0)
    model = nn.Linear(3, shape[-1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss(model(torch.randn(200, 3)), (torch.rand(200, *shape) < share).float()).backward()
            optimizer.step()
    return facts(out, ClassWeights)


def test_a_pos_weight_of_a_module_counts_both_labels(tmp_path):
    weight = torch.tensor(0.1133)
    criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
    found = run_binary(tmp_path, lambda scores, target: criterion(scores, target), (1,))
    assert [(f.loss, f.looks, f.counts[0] + f.negatives[0]) for f in found] == [
        ("binary_cross_entropy_with_logits", looks, 200 * looks) for looks in (1, 2, 3)
    ]
    assert found[-1].weights == (0.1133,) and 30 <= found[-1].counts[0] <= 90
    (told,) = findings(tmp_path, "class-weights-inverted")
    assert "weight = torch.tensor(0.1133)" in told.place.frame.code


def test_a_pos_weight_of_each_column_of_a_function(tmp_path):
    weight = torch.tensor([8.77, 9.31])
    given = torch.tensor([0.02, 0.3])

    def loss(scores, target):
        return F.binary_cross_entropy_with_logits(scores, target, pos_weight=weight)

    (last,) = run_binary(tmp_path, loss, (2,), share=given)[-1:]
    assert 2 <= last.counts[0] <= 30 and 140 <= last.counts[1] <= 220
    assert [a + b for a, b in zip(last.counts, last.negatives, strict=True)] == [600, 600]
    assert "weight = torch.tensor([8.77" in last.made[0].code
    assert findings(tmp_path, "class-weights-inverted") == []


@pytest.mark.parametrize("weight", [None, torch.ones(1), torch.ones(2)])
def test_no_pos_weight_and_one_of_1_are_left_alone(weight, tmp_path):
    def loss(scores, target):
        return F.binary_cross_entropy_with_logits(scores, target, pos_weight=weight)

    assert run_binary(tmp_path, loss, (2,)) == []


def test_which_weights_can_be_stretched():
    size = torch.Size
    assert is_fitting(size([]), size([5])) and is_fitting(size([1]), size([])) and is_fitting(size([3]), size([5, 3]))
    assert is_fitting(size([3, 1, 1]), size([2, 3, 4, 4]))
    assert not is_fitting(size([3]), size([5, 1])) and not is_fitting(size([2, 3]), size([3]))


def test_columns_are_counted_each():
    target = torch.tensor([[1.0, 0.0], [1.0, 0.9], [0.1, 0.0]])
    assert [part.tolist() for part in columns(target, torch.Size([2]))] == [[2, 1], [1, 2]]
    assert [part.tolist() for part in columns(target, torch.Size([]))] == [[3], [3]]
