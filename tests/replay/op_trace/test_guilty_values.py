"""A bad result is shown at its first bad coordinates, beside what an elementwise op read there."""

from __future__ import annotations

import math

import torch

from debugtracer.replay.op_trace.guilty_values import STRETCH, first_places
from debugtracer.replay.op_trace.op_tracer import OpTracer
from tests.replay.op_trace.test_op_table import named, traced


def test_an_elementwise_op_shows_what_it_read_at_the_bad_places() -> None:
    batch = torch.tensor([[1.0, 4.0], [0.0, 2.0]])

    def step(tracer: OpTracer) -> None:
        tracer.label(batch, "batch[0]")
        (batch * 1.0).log()

    rows = traced(step)
    row, made = named(rows, "log"), named(rows, "mul")
    assert (row.at, row.values) == (((1, 0),), (-math.inf,))
    assert (row.reads, row.read) == ((str(made.index),), ((0.0,),))
    assert (made.at, made.values, made.reads) == ((), (), ())  # what is finite needs no witness


def test_of_an_op_that_mixes_its_inputs_only_the_result_is_shown() -> None:
    rows = traced(lambda _: torch.full((2, 2), math.inf) @ torch.zeros(2, 2))
    row = named(rows, "mm")
    assert row.at == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert all(map(math.isnan, row.values))
    assert row.reads == ()


def test_a_softmax_shows_what_stood_at_the_same_place() -> None:
    rows = traced(lambda _: torch.softmax(torch.zeros(1, 2) - math.inf, -1))
    row, made = named(rows, "_softmax"), named(rows, "sub")
    assert (row.reads, row.read) == ((str(made.index),), ((-math.inf, -math.inf),))
    assert all(map(math.isnan, row.values))


def test_a_value_that_is_written_over_cannot_be_read_any_more() -> None:
    rows = traced(lambda _: torch.zeros(3).log_())
    row = named(rows, "log_")
    assert (row.values, row.reads) == ((-math.inf,) * 3, ())


def test_of_a_large_mask_the_first_places_are_found_in_order() -> None:
    mask = torch.zeros(4, STRETCH, dtype=torch.bool)
    mask[0, 5] = mask[2, 7] = mask[3, 1] = True
    assert first_places(mask) == ((0, 5), (2, 7), (3, 1))
    assert first_places(torch.tensor(True)) == ((),)
    assert first_places(torch.zeros(0, dtype=torch.bool)) == ()
