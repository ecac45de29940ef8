"""What a module was called with, from the traceback of its failing call."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.callsites.module_call import keywords_of


class Refusing(nn.Module):
    def forward(self, x: Any, *, weight: Any = None) -> Any:
        raise ValueError("no")


def test_keywords_are_those_of_the_module_that_was_asked_for() -> None:
    inner, other, weight = Refusing(), Refusing(), torch.ones(2)
    outer = nn.Sequential()
    outer.forward = lambda x, **kwargs: inner(x, weight=kwargs["w"])
    with pytest.raises(ValueError, match="no") as raised:
        outer(1, w=weight)
    assert keywords_of(raised.value, inner) == {"weight": weight}
    assert list(keywords_of(raised.value, outer)) == ["w"]
    assert keywords_of(raised.value, other) == {}
