"""torch.where around an undefined branch."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "r = torch.where(z > 0, torch.log(z), torch.zeros_like(z))",
    "r = torch.where(z > 0, torch.sqrt(z.clamp_min(0.0)), 0.0)",
    "r = torch.where(d != 0, torch.abs(x) / torch.abs(d), 0.0)",
    "r = torch.where(c < 1, torch.acos(c), 0.0)",
    "ok = z > 0\nr = torch.where(ok, z.log(), 0)",
    "r = torch.where(z <= 0, 0, z.log())",
    "r = torch.where(z < 1, 0, z.log())",
    "r = torch.where(0 < z, z.log(), 0)",
    "r = torch.where(d == 0, 0.0, torch.abs(x) / torch.abs(d))",
    "d = torch.abs(u - v)\nr = torch.where(d != 0, x / d, 0.0)",
]
TWINS = [
    "safe = torch.where(z > 0, z, torch.ones_like(z))\nr = torch.where(z > 0, torch.log(safe), 0)",
    "r = torch.where(z > 0, torch.log(z.clamp_min(1e-8)), 0)",
    "r = torch.where(z > 0, torch.log(z + 1e-6), 0)",
    "r = torch.where(z > 0, z, torch.exp(z) - 1)",
    "with torch.no_grad():\n    r = torch.where(z > 0, torch.log(z), 0)",
    "i = torch.where(z > 0)",
    "r = torch.where(quality < 50, 5000.0 / torch.abs(quality), 200 - 2 * quality)",
    "r = torch.where(mask, torch.log(other), 0)",
    "r = np.where(z > 0, np.log(z), 0)",
    "r = torch.where(z > 0, torch.log(z.detach()), 0)",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("where-unsafe-branch", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("where-unsafe-branch", text) == []


def test_torch_does_so():
    found = executed("""
        z = torch.tensor([0.0, 2.0], requires_grad=True)
        torch.where(z > 0, torch.sqrt(z.clamp_min(0.0)), 0.0).sum().backward()
        y = torch.tensor([0.0, 2.0], requires_grad=True)
        torch.where(y > 0, torch.sqrt(torch.where(y > 0, y, 1.0)), 0.0).sum().backward()
    """)
    assert found["z"].grad.isnan().tolist() == [True, False] and found["y"].grad.isfinite().all()


def test_the_functions_inside_are_not_hit_twice():
    assert lines("log-unguarded", "p = torch.sigmoid(z)\nr = torch.where(p > 0, torch.log(p), 0)") == []
