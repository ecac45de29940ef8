"""Facts about the tensors found inside a batch."""

from __future__ import annotations

from collections import UserDict, namedtuple
from dataclasses import dataclass

import pytest
import torch

from debugtracer.recorder.state.leaves import leaves_of, rows_of

Pair = namedtuple("Pair", "x y")


@dataclass
class Graph:
    nodes: torch.Tensor
    name: str = "g"


class Plain:
    def __init__(self, x):
        self.x = x
        self.note = "n"


ONE = torch.zeros(4, 2)


@pytest.mark.parametrize(
    ("batch", "paths"),
    [
        (ONE, ["batch"]),
        ([ONE, "text", None, 3], ["batch[0]"]),
        ({"a": {"b": [ONE, ONE]}}, ["batch['a']['b'][0]", "batch['a']['b'][1]"]),
        (UserDict({"input_ids": ONE}), ["batch['input_ids']"]),
        (Pair(ONE, (ONE,)), ["batch.x", "batch.y[0]"]),
        (Graph(ONE), ["batch.nodes"]),
        ([Plain(ONE)], ["batch[0].x"]),
        ("nothing", []),
    ],
)
def test_leaves_of_any_structure_have_paths(batch, paths):
    assert [path for path, _ in leaves_of(batch)] == paths


def test_a_batch_that_holds_itself_ends():
    batch = {"x": ONE}
    batch["self"] = batch
    assert len(leaves_of(batch)) == 5


def test_a_batch_of_thousands_of_tensors_is_cut_at_256():
    assert len(leaves_of([[ONE] * 100] * 100)) == 256


def test_rows_are_the_commonest_first_dimension_the_first_on_a_tie():
    x, y, edges = torch.zeros(6, 2), torch.zeros(6), torch.zeros(2, 9)
    assert rows_of(None, leaves_of([edges, x, y])) == 6
    assert rows_of(None, leaves_of([torch.zeros(8, 2), torch.zeros(4)])) == 8
    assert rows_of(None, leaves_of([torch.tensor(1.0)])) is None


def test_a_list_of_samples_has_its_length_in_rows_and_a_pair_of_stacked_leaves_has_not():
    samples = [(torch.zeros(3, 5), torch.tensor(1)) for _ in range(4)]
    assert rows_of(samples, leaves_of(samples), expected=4) == 4
    stacked = [torch.zeros(1, 8), torch.zeros(1, dtype=torch.int64)]
    assert rows_of(stacked, leaves_of(stacked), expected=2) == 1


@pytest.mark.parametrize(
    ("shapes", "rows"),
    [
        ([(9, 8), (11, 8)], 8),
        ([(9, 8, 3), (8,)], 8),
        ([(6, 8), (6,)], 6),  # the vector says that two were left out
        ([(6, 8), (6, 4)], 6),
        ([(8, 9)], 8),
        ([(6,)], 6),
    ],
)
def test_with_time_first_the_rows_are_the_samples_that_were_drawn(shapes, rows):
    batch = [torch.zeros(shape) for shape in shapes]
    assert rows_of(batch, leaves_of(batch), 8) == rows


@pytest.mark.parametrize(
    ("batch", "rows"),
    [
        ([[1, 2, 3, 4], (5, 6, 7, 8)], 4),  # tuple(zip(*samples))
        ([[1, 2, 3, 4]], 4),
        ([[1, 2, 3, 4], [5, 6, 7]], None),
        (["four", "more"], None),
        ([1, 2], None),
        ([], None),
        ({"x": [1, 2, 3, 4], "y": (5, 6, 7, 8)}, 4),
        ({"x": [1, 2, 3, 4]}, 4),
        ({"x": [1, 2, 3, 4], "y": [5]}, None),
        ({"x": "four"}, None),
        ({"x": 4}, None),
        ({}, None),
        (3, None),
        ([1, 2, 3, 4], 4),  # collate_fn=list
        ([1, 2, 3, "4"], None),
        ([(1, 2), (3, 4), (5, 6), (7, 8)], 4),
        ([(1, 2), (3, 4), (5, 6), (7,)], None),
        ([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}], 4),
        ([{"a": 1}, {"a": 2}, {"a": 3}, {"b": 4}], None),
    ],
)
def test_lists_of_as_many_as_were_drawn_are_samples(batch, rows):
    assert rows_of(batch, [], 4) == rows
    assert rows_of(batch, []) is None


@pytest.mark.parametrize(
    ("last", "rows"),
    [(torch.zeros(9), 3), (torch.zeros(9, 1), 9), (torch.zeros(9, dtype=torch.int64), 9), (torch.zeros(9).tolist(), 9)],
)
def test_tensors_of_one_kind_are_samples_where_there_are_as_many_as_drawn(last, rows):
    samples = [torch.zeros(9), torch.ones(9), last]
    assert rows_of(samples, leaves_of(samples), 3) == rows


@pytest.mark.parametrize(
    ("leaves", "drawn", "rows"),
    [
        ([torch.zeros(9, 1)], 1, 9),
        ([torch.zeros(9, 2)], 2, 2),
        ([torch.zeros(9, 8), torch.tensor(1.0)], 8, 8),
        ([torch.tensor(1.0)], 8, None),
        ([torch.zeros(9, 8).to_sparse()], 8, 9),
        ([torch.zeros(9, 8), torch.zeros(9, 8).to_sparse()], 8, 9),
        ([torch.zeros(9, 8), torch.zeros(9, 8), torch.zeros(8, 8)], 8, 9),
    ],
)
def test_samples_lie_in_the_second_dimension_only_where_all_dense_leaves_say_so(leaves, drawn, rows):
    found = [("x", leaf) for leaf in leaves]
    assert rows_of(None, found, drawn) == rows
    assert rows_of(None, found) == (leaves[0].shape[0] if leaves[0].dim() else None)


def test_a_nested_leaf_has_rows_but_no_second_dimension():
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)], layout=torch.jagged)
    assert rows_of(None, [("x", nested), ("y", torch.zeros(2))], 3) == 2


def test_what_is_named_like_a_named_tuple_and_is_none_has_its_attributes():
    class Named:
        _fields = ("y",)

        def __init__(self):
            self.x = ONE

    assert [path for path, _ in leaves_of(Named())] == ["batch.x"]


def test_five_levels_are_looked_into_and_no_sixth():
    assert [path for path, _ in leaves_of([[[[[ONE]]]]])] == ["batch[0][0][0][0][0]"]
    assert leaves_of([[[[[[ONE]]]]]]) == []
    assert len(leaves_of([ONE] * 256 + [ONE])) == 256
