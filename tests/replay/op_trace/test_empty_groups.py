"""The group of the program's own lists that a division by 0 is of."""

from __future__ import annotations

import numpy as np
import torch

from debugtracer.replay.op_trace.empty_groups import empty_group, entry_of, is_empty_at


def mean(neighbours, nodes, op="aten::div", row=2):
    return empty_group(op, (len(nodes), 5), ((row, 0), (row, 1)))


def test_the_empty_entry_and_what_its_row_is_called():
    found = mean([{1, 2}, {3}, set(), {0}], [7, 9, 839, 4])
    assert (found.name, found.row, found.kind, found.others) == ("neighbours", 2, "set", 3)
    assert found.called == (("nodes", "839"),)


def test_rows_that_have_something_and_other_ops():
    assert mean([{1, 2}, {3}, {5}, {0}], [7, 9, 839, 4]) is None
    assert mean([{1, 2}, {3}, set(), {0}], [7, 9, 839, 4], op="aten::log") is None
    assert mean([{1, 2}, {3}, set(), {0}], [7, 9, 839, 4], row=1) is None


def test_lists_of_which_most_are_empty_or_that_are_no_groups():
    assert not is_empty_at([set(), set(), set(), {0}], 2, 4)
    assert not is_empty_at([1, 2, 0, 4], 2, 4)
    assert not is_empty_at([{1}, {2}, set()], 2, 4)
    assert is_empty_at(([1], [2], [], [3]), 2, 4)


def test_what_a_row_is_called():
    assert entry_of(torch.tensor([4, 5]), 1, 2) == "5"
    assert entry_of(np.array([4, 5]), 1, 2) == "5"
    assert entry_of([np.int64(4), np.int64(5)], 1, 2) == "5"
    assert entry_of(["oak", "elm"], 1, 2) == "'elm'"
    assert [entry_of(one, 1, 2) for one in (torch.rand(2), [0.5, 0.1], 3, torch.tensor([True, False]))] == [None] * 4
