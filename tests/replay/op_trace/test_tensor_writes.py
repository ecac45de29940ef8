"""Who wrote what is in a storage."""

from __future__ import annotations

import torch

from debugtracer.recorder.tape.held_rows import HeldRows, all_rows, unknown_rows
from debugtracer.replay.op_trace.tensor_writes import OpRecord, Writes, extent


def record(order: int) -> OpRecord:
    return OpRecord(None, "op", order)


def orders(memory: Writes, tensor: torch.Tensor) -> tuple[list[int], bool]:
    found, older = memory.writers(tensor)
    return [r.order for r in found], older


def test_a_dense_write_hides_what_was_there():
    memory, x = Writes(), torch.zeros(4)
    memory.write(x[:2], record(1))
    memory.write(x, record(2))
    assert orders(memory, x[:1]) == ([2], False)


def test_a_part_that_was_written_again_shows_both_writers_last_first():
    memory, x = Writes(), torch.zeros(4)
    memory.write(x, record(1))
    memory.write(x[1:3], record(2))
    assert [orders(memory, t) for t in (x, x[1:2], x[3:])] == [([2, 1], False), ([2], False), ([1], False)]


def test_a_strided_write_leaves_gaps_where_older_values_show():
    memory, x = Writes(), torch.zeros(6)
    memory.write(x, record(1))
    memory.write(x[::2], record(2))
    assert orders(memory, x) == ([2, 1], False)


def test_a_storage_nobody_wrote_holds_values_from_before():
    assert orders(Writes(), torch.zeros(2)) == ([], True)


def test_a_view_has_the_name_of_its_narrowest_label():
    memory, x = Writes(), torch.zeros(4, 2)
    memory.label(x, "batch[0]")
    memory.label(x[1], "row")
    memory.label(x, "second name")
    assert [memory.name_of(t) for t in (x[3], x[1, :1], torch.zeros(1))] == ["batch[0]", "row", ""]


def test_the_rows_of_a_batch_are_followed_through_its_slices_and_what_was_written_of_them():
    memory, x, made = Writes(), torch.zeros(8, 2), torch.zeros(3, 5)
    memory.label(x, "batch[0]", all_rows(8))
    assert [memory.part_of(t) for t in (x[4:6], x[1::3], x, x[:, 1], torch.zeros(2))] == [
        HeldRows((4, 5), 8),
        HeldRows((1, 4, 7), 8),
        all_rows(8),
        all_rows(8),
        None,
    ]
    memory.write(made, OpRecord(None, "", 0, part=HeldRows((4, 5, 6), 8)))
    assert [memory.part_of(t) for t in (made, made[1:], made[2, :2])] == [
        HeldRows((4, 5, 6), 8),
        HeldRows((5, 6), 8),
        HeldRows((6,), 8),
    ]
    memory.write(made[0], OpRecord(None, "", 0, part=HeldRows((7,), 8)))
    assert memory.part_of(made) == unknown_rows(8)


def test_the_memory_of_a_dead_tensor_is_not_given_to_another():
    memory = Writes()
    for n in range(50):
        x = torch.zeros(1000)
        assert orders(memory, x) == ([], True)
        memory.write(x, record(n))
        del x


def test_extents_are_bytes_and_sparse_tensors_are_their_values():
    x = torch.zeros(4, 4, dtype=torch.float64)
    assert [extent(t) for t in (x[1], x[:, 0], x[:0])] == [(32, 64, True), (0, 104, False), (0, 0, False)]
    assert extent(torch.sparse_coo_tensor([[1, 2]], [1.0, 2.0], (9,))) == (0, 8, True)
