"""One copy of a model for all who want it of the same moment."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import nn

from debugtracer.observers.model.shadow_copies import ShadowCopies


def test_one_moment_has_one_copy_and_another_has_its_own():
    copies, model = ShadowCopies(), nn.Linear(2, 2)
    first = copies.of(model, [], 0)
    assert copies.of(model, [], 0) is first
    assert copies.of(model, [], 1) is not first
    assert copies.of(model, [("cpu", torch.bfloat16)], 0) is not first
    assert first.model is not model


def test_a_copy_lives_as_long_as_somebody_keeps_it():
    copies = ShadowCopies()
    copies.of(nn.Linear(2, 2), [], 0)
    gc.collect()
    assert not copies.made


def test_what_cannot_be_copied_raises():
    model = nn.Linear(2, 2)
    model.held = (n for n in ())
    with pytest.raises(TypeError):
        ShadowCopies().of(model, [], 0)
