"""exp of what a layer gives."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines, severities

HITS = [
    "head = nn.Linear(3, 1)\nrate = torch.exp(head(x))",
    (
        "class V(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.logvar = nn.Linear(3, 2)\n"
        "    def forward(self, x):\n"
        "        lv = self.logvar(x)\n"
        "        return torch.exp(0.5 * lv)"
    ),
]
TWINS = [
    "head = nn.Linear(3, 1)\nrate = torch.exp(head(x).clamp(max=10))",
    "head = nn.Linear(3, 1)\nrate = F.softplus(head(x))",
    "head = nn.Sequential(nn.Linear(3, 1), nn.Tanh())\nrate = torch.exp(head(x))",
    "ratio = torch.exp(new - old)",
    "pe = torch.exp(torch.arange(0, 8, 2) * (-math.log(10000.0) / 8))",
    "head = nn.Linear(3, 1)\nwith torch.no_grad():\n    rate = torch.exp(head(x))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("exp-unbounded", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("exp-unbounded", text) == []


def test_torch_does_so_and_it_is_a_note():
    assert (
        executed("r = torch.exp(torch.tensor(88.8))")["r"].isinf()
        and executed("r = torch.exp(torch.tensor(88.7))")["r"].isfinite()
    )
    assert executed("r = torch.exp(torch.tensor(11.1, dtype=torch.float16))")["r"].isinf()
    assert severities("exp-unbounded", "head = nn.Linear(3, 1)\nrate = torch.exp(head(x))") == ["note"]
