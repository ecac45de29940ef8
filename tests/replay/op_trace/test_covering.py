"""Facts about what stands behind a bad element of a result."""

from __future__ import annotations

import torch

from debugtracer.replay.op_trace.calls import OpRead
from debugtracer.replay.op_trace.covering import meets, uncovered

NAN = float("nan")


def read(values: torch.Tensor) -> OpRead:
    return OpRead(name="self", tensor=values, before=values, written=False)


def test_an_input_that_is_bad_elsewhere_does_not_meet() -> None:
    mask = torch.tensor([True, False])
    assert meets(torch.tensor([NAN, 1.0]), mask)
    assert not meets(torch.tensor([1.0, NAN]), mask)


def test_a_shape_that_does_not_broadcast_counts_as_met() -> None:
    assert meets(torch.ones(3), torch.tensor([True, False]))


def test_a_bad_result_with_finite_inputs_behind_it_is_uncovered() -> None:
    bad = read(torch.tensor([[NAN], [1.0]]))
    assert not uncovered([(bad, 2)], torch.tensor([[True, True], [False, False]]))
    assert uncovered([(bad, 2)], torch.tensor([[True, True], [False, True]]))
