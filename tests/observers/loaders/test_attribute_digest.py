"""Contents of attributes as a number."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.observers.loaders.attribute_digest import attribute_digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2), ("a", "b"), ([1, 2], [2, 1]), ({"a": [1]}, {"a": [2]}), (torch.ones(3), torch.zeros(3)),
        (np.ones(3), np.zeros(3)), (torch.arange(90_000).view(-1, 3), torch.arange(90_000).view(-1, 3) + 1),
    ],
)  # fmt: skip
def test_other_contents_are_another_number(one, other):
    assert attribute_digest(one) != attribute_digest(other)
    assert attribute_digest(one) is not None


def test_a_copy_is_the_same():
    assert attribute_digest(torch.ones(4)) == attribute_digest(torch.ones(4))
    assert attribute_digest([np.ones(4)]) == attribute_digest([np.ones(4)])


def test_memory_that_is_shared_and_objects_are_not_read():
    assert attribute_digest(torch.ones(3).share_memory_()) is None
    assert attribute_digest(torch.ones(3).share_memory_().numpy()) is None
    assert attribute_digest(object()) is None
    assert attribute_digest([object()]) is None
