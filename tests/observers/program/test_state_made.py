"""Where the state was made that a recurrent layer refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.program.state_made import state_made


class Reader(nn.Module):
    """Makes its state for a fixed number of rows, unless it is told how many."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4)

    def forward(self, x: Tensor, rows: int | None = None) -> Tensor:
        if rows is None:
            h = torch.zeros(1, 8, 4)
            c = torch.zeros(1, 8, 4)
        else:
            h = torch.zeros(1, rows, 4)
            c = torch.zeros(1, rows, 4)
        out, _ = self.lstm(x, (h, c))
        return torch.as_tensor(out)


class Carrier(nn.Module):
    """Goes on from the state that it was left in."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.state = nn.GRU(3, 4), None

    def forward(self, x: Tensor) -> Tensor:
        out, self.state = self.cell(x, self.state)
        return torch.as_tensor(out)


class Handed(nn.Module):
    """Is given its state."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4)

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        held = state
        return torch.as_tensor(self.rnn(x, hx=held)[0])


def of_a_branch() -> None:
    Reader()(torch.zeros(5, 2, 3))


def of_the_other_branch() -> None:
    Reader()(torch.zeros(5, 2, 3), 6)


def carried() -> None:
    model = Carrier()
    model(torch.zeros(5, 8, 3))
    model(torch.zeros(5, 2, 3))


def of_the_caller() -> None:
    begun = torch.randn(1, 9, 4)
    Handed()(torch.zeros(5, 2, 3), begun)


@pytest.mark.parametrize(
    ("program", "code", "kept"),
    [
        (of_a_branch, "h = torch.zeros(1, 8, 4)", False),
        (of_the_other_branch, "h = torch.zeros(1, rows, 4)", False),
        (carried, "out, self.state = self.cell(x, self.state)", True),
        (of_the_caller, "begun = torch.randn(1, 9, 4)", False),
    ],
)
def test_the_line_that_made_or_keeps_it(program: Callable[[], None], code: str, kept: bool) -> None:
    with pytest.raises(RuntimeError) as caught:
        program()
    found = state_made(caught.value)
    assert found is not None
    assert (found.frame.code, found.kept) == (code, kept)


def test_another_exception_or_a_state_that_is_computed_there() -> None:
    assert state_made(RuntimeError("mat1 and mat2 shapes cannot be multiplied")) is None
    layer = nn.GRU(3, 4)
    with pytest.raises(RuntimeError) as caught:
        layer(torch.zeros(5, 2, 3), torch.zeros(1, 7, 4))
    assert state_made(caught.value) is None
