"""Norms written out."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "d = torch.sqrt((x * x).sum(-1))",
    "d = torch.sum((a - b) ** 2, dim=1).sqrt()",
    "d = (a - b).pow(2).sum(1).pow(0.5)",
    "d = ((a - b) ** 2).sum(dim=1) ** 0.5",
    "d = torch.sqrt(dx * dx + dy * dy)",
    "d = torch.sqrt(torch.square(a - b).sum())",
    "diff = a - b\nsq = diff ** 2\nd = torch.sqrt(sq.sum(-1))",
]
TWINS = [
    "d = torch.sqrt((x * x).sum(-1) + 1e-12)",
    "d = torch.linalg.vector_norm(x, dim=-1)",
    "d = (x * x).sum(-1).clamp_min(1e-12).sqrt()",
    "with torch.no_grad():\n    d = torch.sqrt((x * x).sum(-1))",
    "d = torch.sqrt((x.detach() ** 2).sum(-1))",
    "d = np.sqrt((x * x).sum(-1))",
    "w = torch.sqrt((self.weight ** 2).sum(0))",
    "sq = (x * x).sum(-1)\nd = torch.sqrt(sq[sq > 0])",
    "d = torch.sqrt(torch.max((x * x).sum(-1), eps))",
    "class N(nn.Module):\n    def forward(self, x):\n        return x / torch.sqrt(x.size(-1))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("norm-by-sqrt", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("norm-by-sqrt", text) == []


def test_torch_does_so():
    found = executed("""
        x = torch.zeros(2, 3, requires_grad=True)
        torch.sqrt((x * x).sum(-1)).sum().backward()
        y = torch.zeros(2, 3, requires_grad=True)
        torch.linalg.vector_norm(y, dim=-1).sum().backward()
    """)
    assert found["x"].grad.isnan().all() and (found["y"].grad == 0).all()
