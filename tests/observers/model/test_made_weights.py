"""Weights that torch's hooks make before each call."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import prune, spectral_norm, weight_norm

from debugtracer.observers.model.made_weights import made_weights, makes_weight, without_graph
from debugtracer.observers.model.shadow_model import ShadowModel
from debugtracer.observers.model.side_effects import side_effect

WAYS: tuple[Callable[[nn.Module], Any], ...] = (
    weight_norm,
    spectral_norm,
    lambda layer: prune.random_unstructured(layer, "weight", amount=0.5),
)


@pytest.fixture(params=WAYS, ids=("weight norm", "spectral norm", "pruning"))
def model(request: Any) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = nn.Sequential(request.param(nn.Linear(3, 3)), nn.ReLU())
    made(torch.randn(2, 3)).sum().backward()
    return made


def test_they_are_found_and_copied_without_their_graph(model):
    (weight,) = made_weights(model)
    assert weight is model[0].weight
    copied = without_graph(model)
    assert torch.equal(copied[id(weight)], weight)
    assert not copied[id(weight)].requires_grad
    copy.deepcopy(model, copied)


def test_a_copy_of_the_model_makes_its_own(model):
    assert side_effect(model) is None
    kept, model_weight = model.eval()(torch.ones(2, 3)), model[0].weight
    shadow = ShadowModel(model, [])
    output, _ = shadow.run((torch.ones(2, 3),), {})
    assert output is not None
    assert torch.allclose(output, kept)
    assert model[0].weight is model_weight
    assert shadow.model[0].weight is not model_weight


def test_no_other_hook_makes_weights():
    assert not makes_weight(lambda *_: None)
    layer = nn.Linear(2, 2)
    layer.register_forward_pre_hook(lambda *_: None)
    assert not list(made_weights(layer))
    assert side_effect(layer) == "hooks on Linear"
