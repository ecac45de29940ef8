"""What a part of a model is called with, and by which name the loop holds a tensor."""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn

from debugtracer.callsites.origins.handed_over import handed_to, written_of


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(3, 3)

    def forward(self, given: Tensor) -> Tensor:
        return self.last(given * 2)


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.inner = Inner()
        self.rows = nn.Sequential(nn.Linear(3, 3))

    def forward(self, given: Tensor) -> Tensor:
        hidden = self.first(given)
        hidden = hidden.to("cpu")
        return self.rows(self.inner(hidden))


def test_the_last_write_of_an_argument():
    frame = handed_to([Outer()], "inner")
    assert frame is not None and frame.code == 'hidden = hidden.to("cpu")'


def test_the_call_where_the_argument_is_written_there():
    frame = handed_to([Outer()], "inner.last")
    assert frame is not None and frame.code == "return self.last(given * 2)"


def test_a_part_that_no_line_calls():
    assert handed_to([Outer()], "rows.0") is None
    assert handed_to([Outer()], "away.0") is None


def test_the_name_of_a_tensor():
    batch = torch.ones(4)
    moved = batch.to("cpu")
    link = written_of(moved.detach(), sys._getframe())
    assert link is not None and link.frame.code in ('moved = batch.to("cpu")', "batch = torch.ones(4)")
    assert written_of(torch.ones(4), sys._getframe()) is None
    assert written_of(moved, None) is None
