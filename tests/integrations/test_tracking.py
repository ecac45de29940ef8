"""track() outside a watch, and what it refuses."""

from __future__ import annotations

import pytest
import torch

from debugtracer import DebugTracerError, track


def test_without_a_watch_the_tensor_comes_back_as_it_is():
    x = torch.ones(2, requires_grad=True)
    assert track(x, "x") is x
    assert x._backward_hooks is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1.0, "x"), r"track\(\) was given a float; expected a tensor"),
        ((torch.ones(1), ""), r"track\(\) was given no name; expected a word such as 'scores'"),
    ],
)
def test_bad_input_is_one_sentence(given, message):
    with pytest.raises(DebugTracerError, match=message):
        track(*given)
