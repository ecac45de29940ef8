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
