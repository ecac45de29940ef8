"""Divisions by what is zero somewhere."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines, severities

HITS = [
    "u = x / x.norm(dim=-1, keepdim=True)",
    "x.div_(x.std(1, keepdim=True))",
    "z = (x - x.mean(0)) / x.std(dim=0)",
    "n = (y != -100).sum()\nloss = F.cross_entropy(z, y, reduction='sum') / n",
    "r = torch.relu(z)\nq = torch.ones(3) / r",
    "hi, lo = x.max(), x.min()\nq = torch.abs(x) / (hi - lo)\nq = torch.abs(x) / (x.amax(1) - x.amin(1))",
    "f = 1.0 / torch.arange(8)",
    (
        "class M(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.calls = 0\n"
        "    def forward(self, x):\n"
        "        self.calls += 1\n"
        "        t = max(1 - self.calls / 10, 0.0)\n"
        "        return x / t"
    ),
    "loss = torch.abs(x)\nloss /= (y > 0).sum()",
    "r = torch.reciprocal((x > 0).sum(1))",
    "u = x / torch.sqrt((x ** 2).sum(1, keepdim=True))",
    "with torch.no_grad():\n    u = x / torch.linalg.vector_norm(x, dim=1)",
]
TWINS = [
    "u = F.normalize(x, dim=-1)",
    "u = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12)",
    "u = x / (x.norm(dim=-1, keepdim=True) + 1e-8)",
    "z = (x - x.mean(0)) / (x.std(dim=0) + eps)",
    "n = (y != -100).sum()\nif n > 0:\n    loss = F.cross_entropy(z, y, reduction='sum') / n",
    "n = (y != -100).sum()\nloss = F.cross_entropy(z, y) / n if n else z.sum() * 0",
    "n = (y != -100).sum()\nloss = F.cross_entropy(z, y) / max(n, 1)",
    "n = (y != -100).sum()\nloss = F.cross_entropy(z, y) / torch.clamp(n, min=1)",
    (
        "for x, y in loader:\n    n = (y != 0).sum()\n    if n == 0:\n        continue\n    loss = F.cross_entropy(x, "
        "y) / n"
    ),
    "accuracy = correct / total",
    "acc = 100.0 * correct / len(loader.dataset)",
    "v = np.array([1.0])\nv = v / v.std()",
    "mean = table.mean(axis=0)\nstd = table.std(axis=0)\ntable = (table - mean) / std",
    "a = F.softmax(z, -1)\nb = torch.abs(x) / a",
    "d = torch.randn(5, 3)\nd = d / d.norm(dim=1, keepdim=True)",
    "e = torch.eye(3)\ne = e / torch.norm(e)",
    "ok = a != b\nv[ok] = v[ok] / torch.norm(v[ok], dim=1).unsqueeze(1)",
    "size = torch.abs(x) / ((height ** 2 + width ** 2) ** 0.5)",
    "w = layer.weight / layer.weight.norm()",
    "loss = loss / accumulation_steps",
    "alphas = torch.cos(t) ** 2\nalphas = alphas / alphas[0]",
    "std = x.std(0)\nstd[std == 0] = 1.0\nz = torch.abs(x) / std",
    "scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("division-unguarded", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("division-unguarded", text) == []


def test_torch_does_so():
    found = executed("""
        x = torch.zeros(1, 3, requires_grad=True)
        u = x / x.norm(dim=-1, keepdim=True)
        mean = torch.tensor([1.0]).sum() / (torch.tensor([0]) != 0).sum()
    """)
    assert found["u"].isnan().all() and found["mean"].isinf()


def test_without_a_gradient_or_for_special_data_it_is_a_note():
    assert severities("division-unguarded", "with torch.no_grad():\n    z = torch.abs(x) / x.std(dim=0)") == ["note"]
    assert severities("division-unguarded", "z = torch.abs(x) / x.std()") == ["note"]
    assert severities("division-unguarded", "z = x / x.norm(dim=1)") == ["note"]
    assert severities("division-unguarded", "z = torch.abs(x) / x.std(dim=0)") == ["warning"]
