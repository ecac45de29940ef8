"""Running sums of live losses."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss",
    (
        "for epoch in range(3):\n    total = 0\n    for x in loader:\n        loss = f(x)\n        "
        "scaler.scale(loss).backward()\n        total = total + loss"
    ),
    "losses = []\nfor x in loader:\n    loss = f(x)\n    accelerator.backward(loss)\n    losses.append(loss)",
    "for x in loader:\n    loss = f(x)\n    (loss / 4).backward()\n    self.total += loss * 4",
]
TWINS = [
    "total = 0\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n    total += loss.item()",
    "total = 0\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n    total += float(loss)",
    "total = 0\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n    total += loss.detach()",
    "total = 0\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n    loss = loss.item()\n    total += loss",
    "total = 0\nfor x in parts:\n    loss = f(x)\n    total += loss\ntotal.backward()",
    "for x in loader:\n    total = 0\n    loss = f(x)\n    total += loss\n    loss.backward()",
    "with torch.no_grad():\n    for x in loader:\n        total += f(x)",
    "for x in loader:\n    loss = f(x)\n    loss += penalty\n    loss.backward()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("live-loss-sum", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("live-loss-sum", text) == []


def test_torch_keeps_a_chain_of_every_step():
    found = executed("""
        w = torch.ones(1, requires_grad=True)
        total, depth = 0, 0
        for step in range(20):
            loss = (w * step).sum()
            loss.backward()
            total += loss
        node = total.grad_fn
        while node is not None:
            depth, node = depth + 1, next((below for below, _ in node.next_functions if below is not None), None)
    """)
    assert found["depth"] >= 20
