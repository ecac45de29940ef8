"""Masks that are used as row numbers."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.mask_index import MaskIndex
from tests.observers.told import facts, findings
from tests.watching import under_watch

MARKED = (torch.arange(24) % 3 == 0).long()


def of_longs(out, y):
    return F.mse_loss(out[MARKED], y[MARKED])


def of_bools(out, y):
    return F.mse_loss(out[MARKED.bool()], y[MARKED.bool()])


def of_rows(out, y):
    rows = MARKED.nonzero().flatten()
    return F.mse_loss(out[rows], y[rows])


def shuffled(out, y):
    order = torch.randperm(24)
    return F.mse_loss(out[order], y[order])


def by_class(out, y):
    table = torch.randn(2, 4)
    return F.mse_loss(out, table[MARKED])


def columns(out, y):
    return F.mse_loss(out[torch.arange(24), MARKED], y[:, 0])


def run(out, loss_of):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model(torch.randn(24, 4)), torch.randn(24, 4)).backward()
            optimizer.step()
    return facts(out, MaskIndex)


def test_a_mask_of_whole_numbers_is_told_once(tmp_path):
    (found,) = run(tmp_path, of_longs)
    assert (found.dtype, found.rows, found.ones, found.writes) == ("int64", 24, 8, False)
    assert found.frame.function == "of_longs"
    assert [f.severity for f in findings(tmp_path, "mask-as-index")] == ["warning"]


@pytest.mark.parametrize("loss_of", [of_bools, of_rows, shuffled, by_class, columns])
def test_other_indices_are_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []
