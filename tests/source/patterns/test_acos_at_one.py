"""acos at its edges."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "a = torch.acos(c.clamp(-1.0, 1.0))",
    "c = F.cosine_similarity(u, v)\na = torch.arccos(c)",
    "a = torch.asin(torch.tanh(z))",
    "a = torch.acos(torch.clamp(c, -1 + 1e-9, 1 - 1e-9))",
]
TWINS = [
    "a = torch.acos(c.clamp(-1 + 1e-6, 1 - 1e-6))",
    "with torch.no_grad():\n    a = torch.acos(c.clamp(-1.0, 1.0))",
    "a = torch.atan2(s, c)",
    "a = math.acos(1.0)",
    "a = torch.acos(0.99 * torch.tanh(z))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("acos-at-one", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("acos-at-one", text) == []


def test_torch_does_so_and_an_epsilon_that_float32_cannot_hold_is_none():
    found = executed("""
        one = torch.tensor([1.0], requires_grad=True)
        torch.acos(one.clamp(-1.0, 1.0)).sum().backward()
        two = torch.tensor([1.0], requires_grad=True)
        torch.acos(two.clamp(-1 + 1e-9, 1 - 1e-9)).sum().backward()
        three = torch.tensor([1.0], requires_grad=True)
        torch.acos(three.clamp(-1 + 1e-6, 1 - 1e-6)).sum().backward()
    """)
    assert (
        not found["one"].grad.isfinite().all()
        and not found["two"].grad.isfinite().all()
        and found["three"].grad.isfinite().all()
    )
