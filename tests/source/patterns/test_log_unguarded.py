"""Logarithms of what reaches zero."""

from __future__ import annotations

import math

import pytest

from tests.source.reading import executed, lines, messages

HITS = [
    "p = torch.sigmoid(z)\nloss = -torch.log(p).mean()",
    "loss = (1 - torch.sigmoid(z)).log()",
    "loss = torch.log1p(-torch.sigmoid(z))",
    "n = (y != 0).sum()\nloss = torch.log(n)",
    "loss = torch.log(F.relu(z))",
    "loss = x.clamp(0, 1).log()",
    "loss = torch.log(1 - p.clamp(1e-8, 1 - 1e-8))",
    "noise = -torch.log(-torch.log(torch.rand(3)))",
    "head = nn.Linear(3, 1)\nrate = head(x)\nloss = torch.log(rate)",
    (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.act = nn.Sigmoid()\n"
        "    def forward(self, x):\n"
        "        return self.act(x)\n"
        "net = Net()\n"
        "loss = torch.log(net(x))"
    ),
    "def nll(p):\n    return -torch.log(p)\nloss = nll(torch.sigmoid(z))",
    "if mask is not None:\n    loss = torch.log(torch.sigmoid(z))",
]
TWINS = [
    "p = torch.sigmoid(z)\nloss = -torch.log(p + 1e-8).mean()",
    "loss = (1 - torch.sigmoid(z) + 1e-12).log()",
    "loss = torch.log(1 - p.clamp(1e-6, 1 - 1e-6))",
    "n = (y != 0).sum()\nloss = torch.log(n.clamp(min=1))",
    "n = (y != 0).sum()\nif n > 0:\n    loss = torch.log(n)",
    "def f(y):\n    n = (y != 0).sum()\n    if n == 0:\n        return None\n    return torch.log(n)",
    "n = max((y != 0).sum(), 1)\nloss = torch.log(n)",
    "loss = torch.log(torch.sigmoid(z) + torch.finfo(torch.float32).eps)",
    "def f(z, eps=1e-7):\n    return torch.log(torch.sigmoid(z) + eps)",
    "loss = torch.log(F.softplus(z))",
    "loss = torch.log(F.relu(z) + 1e-6)",
    "loss = torch.log(z.abs() + 1)",
    "loss = torch.log(torch.rand(3).clamp_min(1e-7))",
    "loss = torch.log(torch.maximum(torch.sigmoid(z), eps))",
    "loss = torch.log(unknown(x))",
    "loss = math.log(0.5) + np.log(2)",
    "logger.log('message')\nlogger.log()",
    "p = torch.sigmoid(z)\nassert (p > 0).all()\nloss = torch.log(p)",
    "p = torch.sigmoid(z)\np = torch.where(p > 0, p, 1)\nloss = torch.log(p)",
    "p = torch.sigmoid(z)\nloss = torch.nan_to_num(torch.log(p))",
    "p = torch.sigmoid(z)\nloss = torch.log(p[p > 0])",
    "p = torch.sigmoid(z)\np = p.masked_fill(p == 0, 1e-9)\nloss = torch.log(p)",
    "p = torch.sigmoid(z)\nif p.min() <= 0:\n    p = p.clamp(min=1e-8)\nloss = torch.log(p)",
    "p = torch.sigmoid(z)\np.clamp_(min=1e-8)\nloss = torch.log(p)",
    "p = torch.sigmoid(z)\np += 1e-8\nloss = torch.log(p)",
    "loss = torch.log(torch.softmax(z, -1))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("log-unguarded", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("log-unguarded", text) == []


def test_torch_does_so():
    found = executed("""
        low = torch.log(torch.sigmoid(torch.tensor(-104.0)))
        high = torch.log(1 - torch.sigmoid(torch.tensor(18.0)))
        clamped = torch.log(1 - torch.tensor(1.0).clamp(1e-8, 1 - 1e-8))
        guarded = torch.log(1 - torch.tensor(1.0).clamp(1e-6, 1 - 1e-6))
    """)
    assert [float(found[name]) for name in ("low", "high", "clamped")] == [-math.inf] * 3
    assert math.isfinite(found["guarded"])


def test_the_message_names_the_reason_and_the_better_function():
    (text,) = messages("log-unguarded", "loss = torch.log(torch.sigmoid(z))")
    assert text.startswith(
        "snippet.py:2 - log(torch.sigmoid(z)) without a guard: sigmoid is exactly 0 below -104 - expected an argument "
        "above 0 - use"
    )
    assert "logsigmoid" in text
