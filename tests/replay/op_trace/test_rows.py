"""Rows of the batch, from the places of bad elements."""

from __future__ import annotations

from debugtracer.recorder.tape.held_rows import OTHER, HeldRows, all_rows, unknown_rows
from debugtracer.replay.op_trace.rows import rows_of
from debugtracer.replay.op_trace.tensor_writes import OpRecord
from debugtracer.trace.op import OpMeta


def born(shape=(), dims=(), direction="forward", op="aten::log", **more) -> OpRecord:
    return OpRecord(OpMeta(index=0, op=op, direction=direction), op, 0, shape=shape, by_dim=dims, **more)


def test_the_first_dimension_is_the_batch_also_when_rows_were_unfolded():
    assert rows_of([born((4, 3), ((1, 2), (0,)))], 4) == (1, 2)
    assert rows_of([born((12, 3), ((3, 4, 11), (0,)))], 4) == (1, 3)


def test_a_batch_in_a_later_dimension_is_found_by_its_size():
    assert rows_of([born((7, 4), ((0, 6), (2,)))], 4) == (2,)


def test_the_births_of_one_line_are_taken_together():
    assert rows_of([born((4,), ((3,),)), born((4,), ((0,),))], 4) == (0, 3)


def test_a_scalar_takes_the_rows_of_its_bad_inputs_then_of_its_parents():
    assert rows_of([born(input_dims=(((4, 2), ((2,), (0,))),))], 4) == (2,)
    assert rows_of([born(parents=[born(parents=[born((4,), ((1,),))])])], 4) == (1,)


def test_a_zero_summed_over_the_batch_is_of_every_row():
    assert rows_of([born(kind="0/0", of_batch=True, counts=(1, 0, 1))], 3) == (0, 1, 2)
    assert rows_of([born(kind="0/0", of_batch=False, counts=(1, 0, 1))], 3) is None


def test_a_slice_of_the_batch_counts_from_where_it_starts():
    assert rows_of([born((2,), ((1,),), part=HeldRows((4, 5), 8))], 8) == (5,)
    assert rows_of([born((4, 3), ((1, 2), (0,)), part=HeldRows((7, 5), 8))], 8) == (5, 7)
    assert rows_of([born(input_dims=(((2,), ((1,),)),), part=HeldRows((4, 5), 8))], 8) == (5,)


def test_an_order_that_is_not_known_and_rows_of_another_batch_name_none():
    assert rows_of([born((8,), ((1,),), part=unknown_rows(8))], 8) is None
    assert rows_of([born((8,), ((1,),), part=all_rows(8))], 4) is None
    assert rows_of([born((2,), ((1,),), part=HeldRows((4, OTHER), 8))], 8) is None


def test_gradients_of_parameters_and_updates_have_no_rows():
    gradient = born((4, 4), ((1,), (2,)), direction="backward", op="aten::mm")
    assert rows_of([gradient], 4, frozenset({(4, 4)})) is None
    assert rows_of([gradient], 4) == (1,)
    assert rows_of([born((4,), ((1,),), direction="update")], 4) is None


def test_without_a_batch_size_nothing_can_be_told():
    assert rows_of([born((4,), ((1,),))], None) is None
    assert rows_of([born((5,), ((1,),))], 4) is None
