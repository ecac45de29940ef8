"""Updates that clear what they found first, and those that add to it."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.state.cleared_gradients import cleared_first
from debugtracer.recorder.tape.entry import Entry, Kind
from debugtracer.recorder.tape.step_tape import Segment

MODEL = nn.Linear(2, 1)
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)


def segment(*calls: tuple[Kind, object]) -> Segment:
    """A closed segment with these calls."""
    closed = Segment(0)
    closed.entries = [Entry(kind, None, (held,), {}, ()) for kind, held in calls]
    return closed


def test_an_update_that_clears_first_uses_its_own_gradients() -> None:
    assert cleared_first([segment(("zero_grad", OPTIMIZER), ("step", OPTIMIZER))])
    assert cleared_first([segment(("zero_grad", MODEL), ("step", OPTIMIZER))])


def test_an_update_before_any_clearing_may_add_to_older_ones() -> None:
    assert not cleared_first([segment(("step", OPTIMIZER), ("zero_grad", OPTIMIZER))])
    assert not cleared_first([segment(("zero_grad", nn.Linear(2, 1)), ("step", OPTIMIZER))])


def test_only_the_first_update_counts() -> None:
    first = segment(("zero_grad", OPTIMIZER), ("step", OPTIMIZER))
    assert cleared_first([first, segment(("step", OPTIMIZER))])
