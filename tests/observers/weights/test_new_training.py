"""Where another training begins, under a real session."""

from __future__ import annotations

import copy

import torch
from torch import nn

from debugtracer.trace.facts.new_training import NewTraining
from tests.observers.observing import observed


def fit(model, optimizer, steps=10):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(3, 4)).mean().backward()
        optimizer.step()


def sgd(model):
    return torch.optim.SGD(model.parameters(), 0.1)


def test_a_second_model_is_another_training_and_a_rebuilt_optimizer_is_not(tmp_path):
    def loop():
        first, second = nn.Linear(4, 1), nn.Linear(4, 1)
        fit(first, sgd(first))
        fit(first, sgd(first))
        fit(second, sgd(second))

    (fact,) = observed(tmp_path / "runs", loop, NewTraining)
    assert (fact.why, fact.before, fact.ref.step) == ("parameters", 20, 20)


def test_models_that_take_turns_are_one_training(tmp_path):
    def loop():
        models = [nn.Linear(4, 1), nn.Linear(4, 1)]
        optimizers = [sgd(m) for m in models]
        for _ in range(12):
            for model, optimizer in zip(models, optimizers, strict=True):
                fit(model, optimizer, 1)

    assert observed(tmp_path / "runs", loop, NewTraining) == []


def test_weights_loaded_into_what_is_trained_begin_another_one_and_those_of_a_target_network_do_not(tmp_path):
    def loop():
        model = nn.Linear(4, 1)
        start, target = copy.deepcopy(model.state_dict()), copy.deepcopy(model)
        optimizer = sgd(model)
        fit(model, optimizer)
        target.load_state_dict(model.state_dict())
        fit(model, optimizer)
        model.load_state_dict(start)
        fit(model, optimizer)

    (fact,) = observed(tmp_path / "runs", loop, NewTraining)
    assert (fact.why, fact.ref.step) == ("load", 20)
