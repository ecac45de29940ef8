"""Loaders that run side by side."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.paired_loaders import PairBroken
from tests.observers.observing import observed
from tests.observers.told import findings


def loaders(seeds=(1, 1), sizes=(40, 40), shuffle=True):
    return [
        DataLoader(
            TensorDataset(torch.randn(size, 3)), batch_size=8, shuffle=shuffle,
            generator=torch.Generator().manual_seed(seed),
        )
        for seed, size in zip(seeds, sizes, strict=True)
    ]  # fmt: skip


def fit(first, second, reseed=False, after=False):
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        if reseed:
            first.generator.manual_seed(epoch)
            second.generator.manual_seed(epoch)
        pairs = zip(first, second, strict=False) if not after else ((a, a) for a in first)
        for (x,), (y,) in pairs:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        for _ in second if after else ():
            pass


def test_zip_parts_two_generators_after_the_first_pass(tmp_path):
    first, second = loaders()
    (fact,) = observed(tmp_path, lambda: fit(first, second), PairBroken)
    assert (fact.equal, fact.number, fact.passes, fact.ref.step) == (5, 0, 1, 5)
    assert fact.rows != fact.other_rows
    assert [f.severity for f in findings(tmp_path, "pairs-broken")] == ["warning"]


def test_loaders_that_stay_together_or_never_were_are_silent(tmp_path):
    assert not observed(tmp_path / "a", lambda: fit(*loaders(), reseed=True), PairBroken)
    assert not observed(tmp_path / "b", lambda: fit(*loaders((1, 2))), PairBroken)
    assert not observed(tmp_path / "c", lambda: fit(*loaders(shuffle=False)), PairBroken)
    assert not observed(tmp_path / "d", lambda: fit(*loaders(sizes=(40, 48))), PairBroken)


def test_one_after_the_other_is_not_side_by_side(tmp_path):
    assert not observed(tmp_path, lambda: fit(*loaders(), after=True), PairBroken)
