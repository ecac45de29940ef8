"""Powers with fractional and negative exponents."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "r = torch.clamp(z, min=0) ** 0.5",
    "r = torch.pow(z.clamp(0, 1), 0.3)",
    "r = (x.var(0)).pow(-0.5)",
    "deg = (adj > 0).sum(1)\nr = deg.pow(-0.5)",
    "deg = (adj > 0).sum(dim=1)\nr = deg ** -1",
    "head = nn.Linear(2, 1)\nr = head(x) ** 1.5",
    "p = torch.sigmoid(z)\nr = (1 - p) ** 0.5",
]
TWINS = [
    "r = (F.relu(z) + 1e-6) ** 0.5",
    "r = torch.pow(F.relu(z).clamp_min(1e-6), 0.3)",
    "r = (x.var(0) + 1e-5).pow(-0.5)",
    "deg = (adj > 0).sum(1).clamp(min=1)\nr = deg.pow(-0.5)",
    "r = F.relu(z) ** 2",
    "r = F.relu(z) ** 1.5",
    "r = F.relu(z) ** 0.5",
    "r = dim ** -0.5",
    "with torch.no_grad():\n    r = F.relu(z) ** 0.5",
    "r = unknown ** 0.5",
    "p = torch.sigmoid(z)\nr = (1 - p) ** gamma",
    "scale = (hidden // heads) ** -0.5\nq = q * scale",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("pow-unguarded", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("pow-unguarded", text) == []


def test_torch_does_so():
    found = executed("""
        z = torch.tensor([0.0], requires_grad=True)
        torch.pow(z.clamp(0, 1), 0.3).sum().backward()
        negative, inverse = torch.tensor(-2.0) ** 1.5, torch.tensor(0.0) ** -0.5
    """)
    assert found["z"].grad.isinf().all() and found["negative"].isnan() and found["inverse"].isinf()
