"""What one answer for all rows costs."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from debugtracer.observers.loss.answer_costs import ClassShares, ColumnMeans, absolute, as_rows, spread


def one_hot(*classes: int) -> torch.Tensor:
    return F.one_hot(torch.tensor(classes), 3).double()


def test_shares_of_classes_are_those_of_all_calls():
    shares = ClassShares()
    shares.cost(one_hot(0, 0, 1, 2))
    cost = shares.cost(one_hot(0, 0, 0, 1))
    wanted = F.cross_entropy(torch.tensor([[5 / 8, 2 / 8, 1 / 8]]).log().expand(4, 3), torch.tensor([0, 0, 0, 1]))
    assert float(cost.constant) == pytest.approx(float(wanted))
    assert (float(cost.floor), float(cost.commonest)) == (0.0, 5 / 8)


def test_label_smoothing_has_a_floor_of_its_own():
    logits = torch.full((4, 3), 1 / 3).log()
    target = torch.tensor([0, 1, 2, 0])
    cost = ClassShares().cost(one_hot(0, 1, 2, 0), 0.3)
    sharp = F.cross_entropy((torch.eye(3)[target] * 0.7 + 0.1).log(), target, label_smoothing=0.3)
    assert float(cost.floor) == pytest.approx(float(sharp))
    assert float(cost.floor) < float(cost.constant) < float(F.cross_entropy(logits, target, label_smoothing=0.3))


def test_means_are_of_each_column_and_all_calls():
    means = ColumnMeans()
    means.squared(torch.tensor([[0.0, 1.0], [2.0, 1.0]]).double())
    cost = means.squared(torch.tensor([[4.0, 1.0], [6.0, 5.0]]).double())
    assert float(cost.constant) == pytest.approx(((4 - 3) ** 2 + (6 - 3) ** 2 + (1 - 2) ** 2 + (5 - 2) ** 2) / 4)


def test_shares_of_ones_cost_their_entropy_and_soft_targets_have_a_floor():
    hard = ColumnMeans().binary(torch.tensor([[1.0], [0.0], [0.0], [0.0]]).double())
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert float(hard.constant) == pytest.approx(entropy)
    assert (float(hard.floor), float(hard.commonest)) == (0.0, 0.25)
    soft = ColumnMeans().binary(torch.full((4, 1), 0.25).double())
    assert float(soft.floor) == pytest.approx(entropy) == float(soft.constant)


def test_medians_cost_the_mean_distance():
    assert float(absolute(torch.tensor([[0.0], [1.0], [9.0]]).double()).constant) == pytest.approx(3.0)


def test_the_spread_of_answers_is_a_share_of_that_of_the_targets():
    targets = torch.tensor([[0.0], [4.0]])
    assert float(spread(torch.tensor([[1.0], [2.0]]), targets)) == pytest.approx(0.25)
    assert float(spread(torch.ones(2, 1), targets)) == 0.0


def test_a_row_with_too_many_numbers_has_one_column():
    assert as_rows(torch.zeros(4, 3, 2)).shape == (4, 6)
    assert as_rows(torch.zeros(4)).shape == (4, 1)
    assert as_rows(torch.zeros(2, 70_000)).shape == (140_000, 1)


def test_a_head_of_other_classes_begins_anew():
    shares = ClassShares()
    shares.cost(torch.eye(3).double())
    cost = shares.cost(torch.eye(4).double())
    assert float(cost.constant) == pytest.approx(math.log(4))
