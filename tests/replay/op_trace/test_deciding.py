"""The tensors of the batch that alone decide a bad value."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from tests.replay.tracing import trace

IDS = torch.tensor([[3, 4, 0], [0, 0, 0], [2, 0, 0]])
INF = float("-inf")


@pytest.mark.parametrize(
    ("run", "given"),
    [
        (lambda x, ids, w: ((x @ w) / (ids != 0).sum(1, keepdim=True)).sum(), ("batch[1]",)),
        (lambda x, ids, w: (x @ w).masked_fill(ids == 0, INF).softmax(1).sum(), ("batch[1]",)),
        (lambda x, ids, w: torch.where(ids == 0, INF, x @ w).softmax(1).sum(), ("batch[1]",)),
        (lambda x, ids, w: (torch.sqrt(x[:, :1] - x[:, 1:2] - 0.5) * w).sum(), ("batch[0]",)),
        (lambda x, ids, w: (torch.sqrt(x[:, :1] * ids.sum(1, keepdim=True) - 1e4) * w).sum(), ("batch[0]", "batch[1]")),
        (lambda x, ids, w: torch.sqrt((x @ w)[:, :1] - 1e4).sum(), ()),
        (lambda x, ids, w: ((x @ w) / ((x @ w).relu() * 0.0)).sum(), ()),
    ],
)
def test_what_decides_a_bad_value(run: Any, given: tuple[str, ...]) -> None:
    torch.manual_seed(0)
    x, model = torch.rand(3, 3), nn.Linear(3, 3, bias=False)
    birth = trace(lambda: run(x, IDS, model.weight), model, 3, **{"batch[0]": x, "batch[1]": IDS})
    assert birth.given == given
