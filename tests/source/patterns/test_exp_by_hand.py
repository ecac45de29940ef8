"""softmax, sigmoid and logsumexp written out."""

from __future__ import annotations

import pytest
import torch

from tests.source.reading import executed, lines

HITS = [
    "p = torch.exp(z) / torch.exp(z).sum(1, keepdim=True)",
    "e = z.exp()\np = e / e.sum(-1, keepdim=True)",
    "p = torch.exp(z) / (1 + torch.exp(z))",
    "loss = torch.log(torch.exp(z).sum(1))",
    "loss = torch.log(1 + torch.exp(z))",
    "loss = torch.log1p(torch.exp(-y * z))",
]
TWINS = [
    "p = torch.softmax(z, 1)",
    "e = torch.exp(z - z.max(1, keepdim=True).values)\np = e / e.sum(-1, keepdim=True)",
    "m, _ = z.max(dim=1, keepdim=True)\nz = z - m.detach()\ne = torch.exp(z)\np = e / e.sum(1)",
    "s = F.cosine_similarity(a, b) / 0.1\nloss = torch.log(torch.exp(s).sum(1))",
    "z = z.clamp(-50, 50)\nloss = torch.log(1 + torch.exp(z))",
    "loss = torch.logsumexp(z, 1)",
    "w = torch.exp(-(x ** 2))\nmean = w / w.sum()",
    "x = torch.arange(9) - 4\nw = torch.exp(-(x ** 2) / (2 * sigma ** 2))\nw /= w.sum()",
    "p = 1 / (1 + torch.exp(-z))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("exp-by-hand", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("exp-by-hand", text) == []


def test_torch_does_so():
    found = executed(
        "z = torch.tensor([90.0, 0.0])\np = torch.exp(z) / torch.exp(z).sum()\ns = torch.log(1 + torch.exp(z))"
    )
    assert found["p"][0].isnan() and found["s"][0].isinf()
    assert torch.softmax(found["z"], 0)[0] == 1 and torch.nn.functional.softplus(found["z"])[0] == 90
