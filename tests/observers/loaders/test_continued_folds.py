"""Folds of one network."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, SubsetRandomSampler, TensorDataset

from debugtracer.trace.facts.continued_folds import ContinuedFolds
from tests.observers.observing import observed
from tests.observers.told import findings

ROWS = 160


class Rows(Dataset):
    def __init__(self):
        self.x, self.y = torch.randn(ROWS, 3), torch.randint(2, (ROWS,))

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def by_subset(data, train, test):
    return DataLoader(Subset(data, train), batch_size=20, shuffle=True), DataLoader(Subset(data, test), batch_size=40)


def by_sampler(data, train, test):
    return tuple(DataLoader(data, batch_size=20, sampler=SubsetRandomSampler(part)) for part in (train, test))


def by_tensors(data, train, test):
    return tuple(DataLoader(TensorDataset(data.x[part], data.y[part]), batch_size=20) for part in (train, test))


class Fold(Dataset):
    def __init__(self, data, rows):
        self.rows = rows
        self.items = [data[row] for row in rows]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def by_own_class(data, train, test):
    return tuple(DataLoader(Fold(data, part), batch_size=20) for part in (train, test))


def folds(loaders=by_subset, renew=None, parts=4, forward=False, graph=False):
    torch.manual_seed(0)
    data, order = Rows(), torch.randperm(ROWS).tolist()
    size = ROWS // parts
    model = nn.Linear(3, 2)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for fold in range(1 if forward else 0, parts):
        test = order[fold * size : (fold + 1) * size]
        train = order[: fold * size] if forward else [row for row in order if row not in test]
        if renew == "model":
            model = nn.Linear(3, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        elif renew == "load":
            model.load_state_dict(start)
        elif renew == "reset":
            model.reset_parameters()
        elif renew == "optimizer":
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        training, evaluation = loaders(data, train, test)
        for _ in range(2):
            for x, y in training:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
            model.eval()
            with torch.set_grad_enabled(graph):
                for x, _ in evaluation:
                    model(x)
            model.train()


@pytest.mark.parametrize("loaders", [by_subset, by_sampler, by_tensors, by_own_class])
def test_a_network_that_goes_on_is_told_in_the_second_fold(tmp_path, loaders):
    (fact,) = observed(tmp_path, lambda: folds(loaders), ContinuedFolds)
    assert (fact.fold, fact.shared, fact.rows, fact.current, fact.model) == (2, 40, 40, 0, "Linear")
    assert fact.built.function == "folds"
    assert fact.made is not None and fact.made.code == "model = nn.Linear(3, 2)"
    assert [f.severity for f in findings(tmp_path, "folds-continue")] == ["warning"]


def test_a_new_optimizer_alone_does_not_help(tmp_path):
    assert observed(tmp_path, lambda: folds(renew="optimizer"), ContinuedFolds)


@pytest.mark.parametrize("renew", ["model", "load", "reset"])
def test_new_weights_in_each_fold_are_silent(tmp_path, renew):
    assert observed(tmp_path, lambda: folds(renew=renew), ContinuedFolds) == []


def test_folds_that_move_on_in_time_are_evaluated_on_new_rows(tmp_path):
    assert observed(tmp_path, lambda: folds(forward=True), ContinuedFolds) == []


def test_an_evaluation_that_keeps_a_graph_is_one(tmp_path):
    (fact,) = observed(tmp_path, lambda: folds(graph=True), ContinuedFolds)
    assert (fact.fold, fact.shared) == (2, 40)
