"""Samples of weights: do they stand?"""

from __future__ import annotations

import math

import torch

from debugtracer.observers.weights.weight_samples import MOST, SAMPLE, WeightSamples, is_readable, sample


def test_weights_stand_until_one_of_them_changes() -> None:
    weights = [torch.ones(10), torch.zeros(3, 3)]
    kept = WeightSamples(weights)
    assert kept.stand()
    weights[1][1, 1] = 2.0
    assert not kept.stand()


def test_what_is_not_a_number_stands_too() -> None:
    weight = torch.tensor([1.0, math.nan])
    kept = WeightSamples([weight])
    assert kept.stand()
    weight[0] = math.nan
    assert not kept.stand()


def test_a_weight_of_another_shape_does_not_stand() -> None:
    weight = torch.ones(4)
    kept = WeightSamples([weight])
    weight.resize_(2)
    assert not kept.stand()


def test_of_weights_that_are_gone_the_asker_decides() -> None:
    kept = WeightSamples([torch.ones(4)])
    assert kept.stand(gone=True)
    assert not kept.stand()


def test_of_what_cannot_be_read_nothing_is_said() -> None:
    assert not is_readable(torch.ones(2, device="meta"))
    assert not is_readable(torch.ones(0))
    assert not is_readable(torch.ones(2, dtype=torch.long))
    assert not WeightSamples([]).stand(gone=True)


def test_samples_are_few_and_spread() -> None:
    assert len(WeightSamples([torch.ones(2) for _ in range(5 * MOST)]).kept) <= MOST
    assert SAMPLE <= sample(torch.ones(1000)).numel() < 2 * SAMPLE
