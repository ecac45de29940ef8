"""The old backward hook."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "layer.register_backward_hook(f)",
]
TWINS = [
    "layer.register_full_backward_hook(f)",
    "def register_backward_hook(self, f):\n    pass",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("backward-hook-partial", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("backward-hook-partial", text) == []


def test_torch_shows_the_gradient_of_the_last_operation_only():
    found = executed("""
        import warnings; warnings.simplefilter("ignore")
        class Two(nn.Module):
            def forward(self, x):
                return (x * 3).sum(1)
        seen, module, x = [], Two(), torch.ones(2, 4, requires_grad=True)
        module.register_backward_hook(lambda m, gi, go: seen.append(gi[0]))
        module(x).sum().backward()
    """)
    assert (found["x"].grad == 3).all() and (found["seen"][0] == 1).all()
