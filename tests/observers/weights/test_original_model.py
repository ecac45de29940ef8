"""Which trained model a copy belongs to, and how far they are apart."""

from __future__ import annotations

import copy

import torch
from torch import nn

from debugtracer.observers.weights.original_model import distance, original_of


def test_the_trained_model_of_the_same_parameters_is_found():
    model, other = nn.Linear(3, 2), nn.Linear(3, 4)
    held = copy.deepcopy(model)
    trained = {id(p) for p in (*model.parameters(), *other.parameters())}
    assert original_of(held, trained, [other, model]) is model
    assert original_of(model, trained, [other, model]) is None  # it is trained itself
    assert original_of(nn.Linear(5, 2), trained, [other, model]) is None


def test_the_distance_is_a_share_of_the_norm():
    model = nn.Linear(3, 2)
    held = copy.deepcopy(model)
    assert distance(held, model) == 0
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(2)
    assert distance(held, model) == 0.5
