"""Which module runs, and its path."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.model.running_module import path_of, running_module


class Asks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.answer = running_module()
        return x


def test_the_innermost_module_of_the_stack_and_its_path():
    model = nn.Sequential(nn.Identity(), nn.Sequential(Asks()))
    model(torch.zeros(1))
    inner = model[1][0]
    assert inner.answer is inner
    assert path_of(inner, [nn.Identity(), model]) == "1.0"
    assert path_of(nn.Identity(), [model]) is None


def test_outside_of_modules_there_is_none():
    assert running_module() is None
