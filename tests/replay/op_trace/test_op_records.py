"""What was bad before the step has a record of its own, one for each place in memory."""

from __future__ import annotations

import torch

from debugtracer.replay.op_trace.calls import OpRead
from debugtracer.replay.op_trace.op_records import OpRecords
from debugtracer.replay.op_trace.tensor_writes import SOURCE


def test_a_bad_tensor_from_before_the_step_has_one_record_with_its_name_and_counts() -> None:
    records, weight = OpRecords(), torch.tensor([1.0, float("nan"), float("inf")])
    records.label(weight, "parameter fc.weight")
    first = records.source(weight, weight)
    assert (first.status, first.name, first.counts, first.arithmetic, first.masks) == (
        SOURCE,
        "parameter fc.weight",
        (1, 1, 3),
        True,
        False,
    )
    assert records.source(weight, weight) is first
    assert records.source(weight[1:], weight[1:]) is not first


def test_only_minus_infinity_is_taken_for_a_mask() -> None:
    records, mask = OpRecords(), torch.tensor([0.0, -float("inf")])
    records.label(mask, "batch[1]")
    assert records.source(mask, mask).masks and not records.source(mask, mask).arithmetic


def test_what_an_op_reads_leads_to_the_tensor_as_it_was() -> None:
    records, batch = OpRecords(), torch.tensor([float("nan")])
    records.label(batch, "batch[0]")
    (found,) = records.sources(OpRead("self", batch, batch))
    assert found.name == "batch[0]" and found.status == SOURCE


def test_shapes_of_parameters_are_known_both_ways_round() -> None:
    records = OpRecords()
    records.label(torch.ones(2, 3), "parameter fc.weight")
    records.label(torch.ones(5), "batch[0]")
    assert records.parameter_shapes == {(2, 3), (3, 2)}


def test_the_flushed_share_is_none_until_half_gradients_are_seen() -> None:
    records = OpRecords()
    assert records.flushed_share is None
    records.flushed, records.halves = 1, 4
    assert records.flushed_share == 0.25
