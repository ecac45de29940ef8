"""Clipping of scaled gradients."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "for x in loader:\n    scaler.scale(f(x)).backward()\n    nn.utils.clip_grad_norm_(p, 1.0)\n    scaler.step(o)",
    (
        "for x in loader:\n    scaler.scale(f(x)).backward()\n    torch.nn.utils.clip_grad_value_(p, 1.0)\n    "
        "scaler.unscale_(o)\n    scaler.step(o)"
    ),
    (
        "if amp:\n"
        "    scaler.scale(loss).backward()\n"
        "    nn.utils.clip_grad_norm_(p, 1.0)\n"
        "    scaler.step(o)\n"
        "else:\n"
        "    loss.backward()\n"
        "    nn.utils.clip_grad_norm_(p, 1.0)\n"
        "    o.step()"
    ),
]
TWINS = [
    (
        "for x in loader:\n    scaler.scale(f(x)).backward()\n    scaler.unscale_(o)\n    nn.utils.clip_grad_norm_(p, "
        "1.0)\n    scaler.step(o)"
    ),
    "for x in loader:\n    f(x).backward()\n    nn.utils.clip_grad_norm_(p, 1.0)",
    (
        "if amp:\n    scaler.scale(loss).backward()\n    scaler.step(o)\nelse:\n    loss.backward()\n    "
        "nn.utils.clip_grad_norm_(p, 1.0)\n    o.step()"
    ),
    (
        "if amp:\n    scaler.scale(loss).backward()\nelse:\n    loss.backward()\nif not amp:\n    "
        "nn.utils.clip_grad_norm_(p, 1.0)"
    ),
    (
        "scaler.scale(loss).backward()\nif clip:\n    if scaler is not None:\n        scaler.unscale_(o)\n    "
        "nn.utils.clip_grad_norm_(p, 1.0)"
    ),
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("clip-before-unscale", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("clip-before-unscale", text) == []


def test_torch_does_so():
    found = executed("""
        size = {}
        for unscale in (False, True):
            w = torch.ones(4, requires_grad=True)
            o = torch.optim.SGD([w], lr=1.0)
            scaler = torch.amp.GradScaler("cpu")
            scaler.scale((w * 0.5).sum()).backward()
            if unscale:
                scaler.unscale_(o)
            nn.utils.clip_grad_norm_([w], 1.0)
            scaler.step(o)
            size[unscale] = float((1 - w.detach()).norm())
    """)
    assert found["size"][True] > 0.99 and found["size"][False] < 1e-4
