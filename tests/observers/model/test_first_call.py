"""The first call of a Function."""

from __future__ import annotations

import torch

from debugtracer.observers.model.first_call import FirstCall


def test_the_places_of_plain_zeros_are_known():
    args = (torch.zeros(2), 0, 0.0, False, 1.5, None, "0")
    assert FirstCall((), args).zeros == (1, 2)
