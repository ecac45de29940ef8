"""The rows of a recorded batch, and the loss of each."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional as F

from debugtracer.recorder.tape.entry import Leaf
from debugtracer.replay.trials.batch_rows import inputs_of, rows_of, rows_of_batch
from tests.recorder.tape.test_batches import a_batch
from tests.replay.pasts import Loop, trained


def test_the_rows_and_inputs_of_the_last_step_are_those_of_its_batch(tmp_path: Path) -> None:
    with trained(tmp_path, Loop()) as (_, history, context):
        last = history.segments[-1]
        rows = rows_of_batch(last, context)
        assert rows is not None and rows > 1
        assert any(leaf.tensor.dim() and leaf.tensor.shape[0] == rows for leaf in inputs_of(last))


def test_each_row_has_the_loss_that_the_function_gave_it(tmp_path: Path) -> None:
    logits, targets = torch.randn(5, 3, requires_grad=True), torch.tensor([0, 1, 2, 0, 1])
    with trained(tmp_path, Loop()) as (_, history, context):
        found = rows_of(F.cross_entropy(logits, targets), 5, history.segments[-1], context)
        assert found is not None
        assert torch.allclose(found.float(), F.cross_entropy(logits, targets, reduction="none").detach())


def test_a_sum_that_is_no_loss_function_has_no_rows(tmp_path: Path) -> None:
    with trained(tmp_path, Loop()) as (_, history, context):
        assert rows_of(torch.randn(4, requires_grad=True).sum(), 4, history.segments[-1], context) is None


def test_rows_that_the_program_has_put_in_another_order_are_told_in_that_of_the_batch(tmp_path: Path) -> None:
    x, y = torch.randn(6, 2), torch.randn(6, 1)
    with trained(tmp_path, Loop()) as (_, _history, context):
        context.batches.add(a_batch([x, y]))
        order = torch.tensor([5, 3, 0, 1, 4, 2])
        given = (x[order].sum(1, keepdim=True) * 2.0).requires_grad_()
        usual = (x.sum(1, keepdim=True) * 2.0 - y).square().flatten()
        failed: Any = SimpleNamespace(entries=[SimpleNamespace(references=lambda: [Leaf(x)])])
        found = rows_of(F.mse_loss(given, y[order]), 6, failed, context)
        assert found is not None
        assert torch.allclose(found.float(), usual)
        assert rows_of(F.mse_loss(given[:3], y[order[:3]]), 3, failed, context) is None
