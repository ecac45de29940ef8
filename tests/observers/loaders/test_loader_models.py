"""Whose batches trained what, and who was asked about them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from debugtracer.observers.loaders.loader_models import LoaderModels
from debugtracer.trace.facts.epochs import Overlap
from tests.observers.observing import facts, fit, observed


def test_the_networks_of_two_folds_are_apart() -> None:
    models, first, second, copy = LoaderModels(), nn.Linear(1, 1), nn.Linear(1, 1), nn.Linear(1, 1)
    for loader, model in ((0, first), (2, second)):
        models.enter(model)
        models.train(loader)
        models.evaluate(loader + 1, model)
    assert models.apart(2, 1)
    assert models.apart(0, 3)
    assert not models.apart(0, 1)
    assert not models.apart(0, 7)  # nobody was asked about these
    models.evaluate(1, copy)  # an average of weights, perhaps
    assert not models.apart(2, 1)


def folds(step: Callable[[], nn.Module]) -> None:
    made = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(50, 3, generator=made), torch.arange(50) % 2)
    for begin in (0, 17, 34):
        out = list(range(begin, min(begin + 17, 50)))  # the last fold is shorter, so its loaders are others
        model = step()
        fit(DataLoader(Subset(data, [i for i in range(50) if i not in out]), 8, shuffle=True), model, passes=2)
        with torch.no_grad():
            for batch, _ in DataLoader(Subset(data, out), 8):
                model(batch)


def test_a_fold_has_a_network_of_its_own(tmp_path):
    observed(tmp_path, lambda: folds(lambda: nn.Linear(3, 2)), Overlap)
    assert facts(tmp_path, Overlap) == []


def test_one_network_for_all_folds_was_trained_on_what_it_is_asked(tmp_path):
    model = nn.Linear(3, 2)
    observed(tmp_path, lambda: folds(lambda: model), Overlap)
    assert facts(tmp_path, Overlap) != []
