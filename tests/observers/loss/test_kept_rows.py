"""Where tensors without a graph come from."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from debugtracer.observers.loss.kept_rows import KeptRows, base_of, probabilities, tensors
from debugtracer.recorder.tape.batches import BatchLog


def test_a_tensor_is_followed_through_conversions():
    rows, kept = KeptRows(BatchLog()), torch.randn(6, 3)
    soft = kept.softmax(1)
    rows.follow("softmax", (kept,), soft)
    source = rows.source(soft)
    assert source is not None and source.tensor() is kept and source.raw == ()


def test_the_line_of_an_index_is_kept():
    rows, kept = KeptRows(BatchLog()), torch.randn(6, 3)
    part = kept[:4]
    rows.follow("__getitem__", (kept, slice(4)), part)
    source = rows.source(part)
    assert source is not None and source.tensor() is part and source.raw


def test_what_is_computed_stays_so():
    rows, given = KeptRows(BatchLog()), torch.randn(6, 3)
    made = given @ torch.ones(3, 3)
    rows.follow("matmul", (given,), made)
    both, soft = torch.stack([made, given]), made.softmax(1)
    rows.follow("stack", ([made, given],), both)
    rows.follow("softmax", (made,), soft)
    assert rows.source(made) is None and rows.source(both) is None and rows.source(soft) is None
    assert rows.source(torch.ones(2, requires_grad=True)) is None
    rows.clear()
    assert rows.source(made) is not None


def test_scores_are_known_behind_a_softmax_with_temperature():
    scores = torch.randn(4, 3, requires_grad=True) @ torch.ones(3, 3)
    assert base_of(scores) == base_of(F.log_softmax(scores / 3, 1)) == base_of(scores.view(4, 3))
    assert base_of(scores[:, :2]) != base_of(scores) and base_of(torch.ones(2)) is None


def test_rows_that_are_no_distribution():
    soft = torch.randn(4, 3).softmax(1)
    assert probabilities("kl_div", torch.randn(4, 3), False) is None
    found = probabilities("kl_div", soft.log(), True)
    assert found is not None and torch.allclose(found, soft)
    assert probabilities("mse_loss", torch.randn(4, 3), False) is not None


def test_tensors_of_an_argument():
    one = torch.ones(1)
    assert tensors([one, 3]) == [one] and tensors(one) == [one] and tensors(None) == []
