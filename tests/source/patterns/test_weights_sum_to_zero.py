"""Weighted means of nothing."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "loss = (each * weight).sum() / weight.sum()",
    "pooled = (h * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)",
    "h = h * mask[..., None]\npooled = h.sum(1) / mask.sum(1)[:, None]",
    "m = mask.float()\nloss = torch.sum(loss * m) / torch.sum(m)",
    "total = (loss * mask).sum()\ncount = mask.sum()\nmean = total / count",
]
TWINS = [
    "loss = (each * weight).sum() / weight.sum().clamp_min(1)",
    "loss = (each * weight).sum() / (weight.sum() + 1e-8)",
    "loss = (each * weight).sum() / max(weight.sum(), 1)",
    "p = x / x.sum()",
    "if mask.any():\n    loss = (loss * mask).sum() / mask.sum()",
    "w = torch.softmax(s, -1)\nmean = (x * w).sum() / w.sum()",
    "w = torch.exp(s)\nmean = (x * w).sum() / w.sum()",
    "w = space * torch.exp(-d)\nmean = (x * w).sum() / w.sum()",
    "loss = (each * weight).sum() / other.sum()",
    "loss = (each * weight).sum() / weight.numel()",
    "count = mask.sum()\nif count == 0:\n    raise ValueError\nloss = (loss * mask).sum() / count",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("weights-sum-to-zero", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("weights-sum-to-zero", text) == []


def test_torch_does_so():
    found = executed(
        "h, mask = torch.ones(2, 3), torch.tensor([[1.0, 0, 1], [0, 0, 0]])\nmean = (h * mask).sum(1) / mask.sum(1)"
    )
    assert found["mean"].isnan().tolist() == [False, True]
