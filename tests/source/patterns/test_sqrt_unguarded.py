"""Square roots at zero."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines, severities

HITS = [
    "r = x.clamp(min=0).sqrt()",
    "r = torch.sqrt(x.var(0))",
    "loss = torch.sqrt(F.mse_loss(p, y))",
    "criterion = nn.MSELoss()\nloss = torch.sqrt(criterion(p, y))",
    "r = torch.sqrt(x.pow(2).mean(0) - x.mean(0).pow(2))",
    "head = nn.Linear(2, 1)\nr = torch.sqrt(head(x))",
    "r = torch.rsqrt(x.var(1, keepdim=True))",
    "with torch.no_grad():\n    r = torch.rsqrt(x.var(1))",
    "r = 1 / torch.sqrt(x.pow(2).mean(-1, keepdim=True))",
]
TWINS = [
    "r = torch.sqrt(F.relu(z) + 1e-8)",
    "r = torch.sqrt(F.relu(z))",
    "n = (y > 0).float().sum()\nr = n.sqrt()",
    "r = x.clamp(min=1e-8).sqrt()",
    "r = torch.sqrt(x.var(0) + eps)",
    "with torch.no_grad():\n    r = torch.sqrt(x.var(0))",
    "@torch.no_grad()\ndef f(x):\n    return torch.sqrt(x.var(0))",
    "r = torch.sqrt(x.detach().var(0))",
    "loss = torch.sqrt(F.mse_loss(p, y) + 1e-9)",
    "r = math.sqrt(dim)\nr = np.sqrt(0.0)",
    "r = torch.sqrt(torch.tensor(2.0))",
    "r = torch.sqrt(1 - alphas)",
    "r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)",
    "v = x.var(0)\nif (v > 0).all():\n    r = torch.sqrt(v)",
    "class Adam(torch.optim.Optimizer):\n    def step(self):\n        d = g.abs().clamp(min=0).sqrt()",
    "class D(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return self.x[i].clamp(min=0).sqrt()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("sqrt-unguarded", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("sqrt-unguarded", text) == []


def test_torch_does_so():
    found = executed("""
        z = torch.tensor([0.0, 4.0], requires_grad=True)
        torch.sqrt(z.clamp(min=0)).sum().backward()
        x = torch.ones(3, 2, requires_grad=True)
        torch.sqrt(x.var(0)).sum().backward()
        safe = torch.ones(3, 2, requires_grad=True)
        torch.sqrt(safe.var(0) + 1e-8).sum().backward()
    """)
    assert (
        found["z"].grad.isinf().tolist() == [True, False]
        and found["x"].grad.isnan().all()
        and found["safe"].grad.isfinite().all()
    )


def test_torch_lets_no_gradient_through_relu_so_its_root_is_no_hit():
    assert executed("z = torch.tensor([-1.0, 0.0], requires_grad=True)\ntorch.sqrt(F.relu(z)).sum().backward()")[
        "z"
    ].grad.tolist() == [0.0, 0.0]


def test_what_takes_special_data_is_a_note():
    assert severities("sqrt-unguarded", "loss = torch.sqrt(F.mse_loss(p, y))") == ["note"]
    assert severities("sqrt-unguarded", "r = x.clamp(min=0).sqrt()") == ["warning"]
