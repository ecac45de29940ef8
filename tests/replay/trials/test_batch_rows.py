"""The rows of a recorded batch, and the loss of each."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn import functional as F

from debugtracer.replay.trials.batch_rows import inputs_of, rows_of, rows_of_batch
from tests.replay.pasts import Loop, trained


def test_the_rows_and_inputs_of_the_last_step_are_those_of_its_batch(tmp_path: Path) -> None:
    with trained(tmp_path, Loop()) as (_, history, context):
        last = history.segments[-1]
        rows = rows_of_batch(last, context)
        assert rows is not None and rows > 1
        assert any(leaf.tensor.dim() and leaf.tensor.shape[0] == rows for leaf in inputs_of(last))


def test_each_row_has_the_loss_that_the_function_gave_it() -> None:
    logits, targets = torch.randn(5, 3, requires_grad=True), torch.tensor([0, 1, 2, 0, 1])
    found = rows_of(F.cross_entropy(logits, targets), 5)
    assert found is not None
    assert torch.allclose(found.float(), F.cross_entropy(logits, targets, reduction="none").detach())


def test_a_sum_that_is_no_loss_function_has_no_rows() -> None:
    assert rows_of(torch.randn(4, requires_grad=True).sum(), 4) is None
