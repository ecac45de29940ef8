"""Models of which nothing can learn."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.model.frozen_models import FrozenModels, frozen_models


def test_all_of_several_models_are_counted_with_the_line_of_this_file() -> None:
    models = [nn.Linear(3, 2), nn.Linear(2, 1, bias=False)]
    for model in models:
        for parameter in model.parameters():
            parameter.requires_grad = False
    found = frozen_models(models, None)
    assert (found.parameters, found.model, found.by) == (3, "Linear", None)


def test_one_that_learns_is_enough() -> None:
    model = nn.Linear(3, 2)
    model.weight.requires_grad_(False)
    assert frozen_models([model], None) == FrozenModels()


def test_models_without_parameters_are_not_frozen() -> None:
    assert frozen_models([nn.ReLU()], None) == FrozenModels()
    assert frozen_models([], None) == FrozenModels()


def test_models_stand_still_on_purpose_where_a_tensor_outside_of_them_is_learnt() -> None:
    """A prompt, a picture or a low-rank factor in the optimizer: it is that tensor which has no gradient."""
    model = nn.Linear(3, 2).requires_grad_(False)
    assert frozen_models([model], None, 0, [torch.randn(4)]) == FrozenModels()
    assert frozen_models([model], None, 0, model.parameters()).parameters == 2
