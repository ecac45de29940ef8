"""Samplers with weights, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, TensorDataset, WeightedRandomSampler

from debugtracer import session
from debugtracer.trace.facts.draw_weights import DrawWeights
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


KINDS = torch.tensor([0] * 240 + [1] * 60 + [2] * 20)[torch.randperm(320, generator=torch.Generator().manual_seed(0))]
COUNTS = torch.bincount(KINDS)


def train(out, weights, batches=False, epochs=2):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = TensorDataset(torch.randn(320, 4), KINDS)
    with under_watch(out):
        sampler = WeightedRandomSampler(weights, 320)
        way = {"batch_sampler": BatchSampler(sampler, 20, False)} if batches else {"batch_size": 20, "sampler": sampler}
        for _ in range(epochs):
            for x, y in DataLoader(data, **way):
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
    return facts(out, DrawWeights), findings(out, "draws-unbalanced")


@pytest.mark.parametrize("batches", [False, True])
def test_weights_that_grow_with_the_classes_are_told(tmp_path, batches):
    found, said = train(tmp_path, (COUNTS / 320)[KINDS], batches)
    assert {f.sizes for f in found} == {(20, 60, 240)}
    assert [f.severity for f in said] == ["warning"]
    assert "the weight follows the frequency" in said[0].message


def test_weights_of_samples_in_another_order_are_told(tmp_path):
    found, said = train(tmp_path, (1 / COUNTS)[KINDS.sort().values], epochs=4)
    assert {f.labels for f in found} == {(0, 1, 2)}
    assert [f.severity for f in said] == ["warning"]
    assert "they are the weights of other samples" in said[0].message


@pytest.mark.parametrize(
    "weights",
    [(1 / COUNTS)[KINDS], COUNTS.sqrt().reciprocal()[KINDS], torch.tensor([1.0, 2.0, 4.0])[KINDS], torch.rand(320)],
)
def test_weights_that_make_up_for_the_classes_or_are_chosen_are_silent(tmp_path, weights):
    assert train(tmp_path, weights)[1] == []


def test_a_loader_without_weights_is_left_alone(tmp_path):
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["weighed-draws"]
        for _ in DataLoader(TensorDataset(torch.randn(60, 6)), 10, shuffle=True):
            pass
        assert observer.fetched in observer.run.unwanted
