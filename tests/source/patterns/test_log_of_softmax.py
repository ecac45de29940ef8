"""log(softmax(x)) as two functions."""

from __future__ import annotations

import math

import pytest

from tests.source.reading import executed, lines

HITS = [
    "loss = -torch.log(F.softmax(z, dim=1))",
    "p = z.softmax(-1)\nentropy = -(p * p.log()).sum(-1)",
    "act = nn.Softmax(dim=1)\nloss = torch.log(act(z))",
    "class Net(nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, -1)\nloss = Net()(x).log()",
    "p = torch.softmax(z, 1)\nloss = torch.log(p[range(3), y])",
    "p = torch.softmax(z, 1)\nloss = torch.log(p.gather(1, y))",
]
TWINS = [
    "loss = -F.log_softmax(z, dim=1)",
    "loss = -torch.log(F.softmax(z, dim=1) + 1e-9)",
    "p = z.softmax(-1).clamp_min(1e-9)\nentropy = -(p * p.log()).sum(-1)",
    "p = z.softmax(-1)\nentropy = torch.special.entr(p)",
    "loss = torch.logsumexp(z, 1)",
    "p = z.softmax(-1).mean(0)\nloss = p.log()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("log-of-softmax", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("log-of-softmax", text) == []


def test_torch_does_so():
    found = executed("""
        z = torch.tensor([0.0, -105.0])
        two, one = torch.log(torch.softmax(z, 0)), torch.log_softmax(z, 0)
    """)
    assert float(found["two"][1]) == -math.inf and float(found["one"][1]) == -105.0
