"""Averages of weights that are evaluated with statistics of other weights."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

from debugtracer.trace.facts.unfit_statistics import UnfitStatistics
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Net(nn.Sequential):
    def __init__(self, norm=True):
        super().__init__(nn.Linear(4, 32), nn.BatchNorm1d(32) if norm else nn.ReLU(), nn.ReLU(), nn.Linear(32, 2))


def batch(rows=64):
    x = 3 * torch.randn(rows, 4) + 2
    return x, (x.sum(1) > 8).long()


def fit(model, steps, rate=0.1, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=rate)
    model.train()
    for _ in range(steps):
        x, y = batch()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return optimizer


def evaluate(model, x=None):
    model.eval()
    with torch.no_grad():
        model(batch()[0] if x is None else x)


def told(out, program):
    torch.manual_seed(0)
    with under_watch(out):
        program()
    return facts(out, UnfitStatistics)


def averaged(updated, norm=True):
    model = Net(norm)
    average = AveragedModel(model)
    optimizer = fit(model, 30)
    average.update_parameters(model)
    with torch.no_grad():
        model[0].weight.mul_(6)  # the mean of both is no half of either
    fit(model, 30, optimizer=optimizer)
    average.update_parameters(model)
    if updated:
        update_bn((batch() for _ in range(20)), average)
    evaluate(average)
    evaluate(model)


def test_an_averaged_model_without_its_update_is_told(tmp_path):
    (fact,) = told(tmp_path, lambda: averaged(updated=False))
    assert (fact.how, fact.kind, fact.norms) == ("averaged", "Net", 1)
    assert float(fact.off) >= 0.25 > 0.1 >= float(fact.trained)
    assert [f.severity for f in findings(tmp_path, "statistics-unfit")] == ["warning"]


@pytest.mark.parametrize(("updated", "norm"), [(True, True), (False, False)])
def test_an_average_with_its_update_and_one_without_norms_are_silent(tmp_path, updated, norm):
    assert told(tmp_path, lambda: averaged(updated, norm)) == []


def in_place(everything):
    model = Net()
    fit(model, 10)
    other = copy.deepcopy(model)
    optimizer = fit(model, 60, rate=0.5)
    with torch.no_grad():
        for old, new in zip(other.parameters(), model.parameters(), strict=True):
            old.lerp_(new, 0.9)
        for old, new in zip(other.buffers(), model.buffers(), strict=True) if everything else ():
            old.copy_(new)
        for old in other.parameters():
            old.mul_(3 if old.dim() > 1 else 1)  # far from the statistics of the copy
    evaluate(other)
    assert optimizer


def test_a_copy_that_was_written_in_place_is_told(tmp_path):
    (fact,) = told(tmp_path, lambda: in_place(everything=False))
    assert (fact.how, fact.frame.function) == ("written", "evaluate")


def loaded(plain):
    model, other = Net(), Net()
    states = []
    optimizer = None
    for _ in range(3):
        optimizer = fit(model, 20, rate=0.5, optimizer=optimizer)
        states.append({name: value.clone() for name, value in model.state_dict().items()})
        for group in optimizer.param_groups:
            group["lr"] = 0.5
    mean = {name: sum(state[name] for state in states) / len(states) for name in states[0]}
    mean["1.running_var"] = mean["1.running_var"] / 8  # of weights that do not stand for these
    other.load_state_dict(model.state_dict() if plain else mean)
    evaluate(other)


def test_a_state_that_was_averaged_by_hand_is_told_with_the_line_that_loads_it(tmp_path):
    (fact,) = told(tmp_path, lambda: loaded(plain=False))
    assert (fact.how, fact.loaded.function) == ("loaded", "loaded")


def test_a_plain_copy_of_the_trained_network_is_silent_on_other_data(tmp_path):
    assert told(tmp_path, lambda: loaded(plain=True)) == []


def old_task():
    """What learning without forgetting does: the network of the task before is asked on the data of the next one."""
    model = Net()
    fit(model, 30)
    old = copy.deepcopy(model).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(40):
        x = 9 * torch.randn(64, 4)
        with torch.no_grad():
            old(x)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long()).backward()
        optimizer.step()


def test_an_old_network_on_new_data_is_silent(tmp_path):
    assert told(tmp_path, old_task) == []


def exchanged(scale):
    model = Net()
    optimizer = fit(model, 40)
    evaluate(model)
    kept = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(scale if p.dim() > 1 else 1)
    evaluate(model)
    with torch.no_grad():
        for p, old in zip(model.parameters(), kept, strict=True):
            p.copy_(old)
    fit(model, 5, optimizer=optimizer)


def test_weights_that_are_put_in_for_an_evaluation_are_measured(tmp_path):
    (fact,) = told(tmp_path / "far", lambda: exchanged(4.0))
    assert fact.how == "exchanged"
    assert told(tmp_path / "near", lambda: exchanged(1.02)) == []
