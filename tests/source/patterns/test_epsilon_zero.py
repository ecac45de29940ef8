"""Epsilons of zero."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "x = F.layer_norm(x, (3,), eps=0.0)",
    "norm = nn.LayerNorm(8, eps=0)",
    "o = torch.optim.Adam(p, lr=1e-3, eps=0.0)",
    "EPS = 0.0\nnorm = nn.BatchNorm1d(8, eps=EPS)",
]
TWINS = [
    "norm = nn.LayerNorm(8)",
    "norm = nn.LayerNorm(8, eps=1e-5)",
    "norm = nn.LayerNorm(8, eps=eps)",
    "norm = other.LayerNorm(8, eps=0)",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("epsilon-zero", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("epsilon-zero", text) == []


def test_torch_does_so():
    assert executed("y = F.layer_norm(torch.ones(1, 3), (3,), eps=0.0)")["y"].isnan().all()
    assert (executed("y = F.layer_norm(torch.ones(1, 3), (3,))")["y"] == 0).all()
