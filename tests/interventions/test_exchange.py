"""The forward of a module exchanged for a while."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.interventions.exchange import instead


def test_the_forward_is_back_also_one_that_was_set_on_the_module_and_after_an_error():
    module, x = nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(KeyError), instead(module, lambda original, args, kwargs: args[0] * 7):
        assert module(x).tolist() == [[7.0, 7.0]]
        raise KeyError
    assert "forward" not in vars(module)
    module.forward = own = lambda x: x * 3  # type: ignore[method-assign]
    with instead(module, lambda original, args, kwargs: original(*args) + 1):
        assert module(x).tolist() == [[4.0, 4.0]]
    assert module.forward is own


def test_hooks_stay():
    module, seen = nn.Identity(), []
    module.register_forward_hook(lambda *_: seen.append(1))
    with instead(module, lambda original, args, kwargs: original(*args)):
        module(torch.ones(1))
    assert seen == [1]
