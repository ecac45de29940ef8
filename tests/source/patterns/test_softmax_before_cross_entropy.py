"""Probabilities where scores belong."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "loss = F.cross_entropy(torch.softmax(z, 1), y)",
    "p = F.softmax(z, dim=1)\nloss = F.cross_entropy(input=p, target=y)",
    "criterion = nn.CrossEntropyLoss()\nact = nn.Softmax(dim=1)\nloss = criterion(act(z), y)",
    (
        "net = nn.Sequential(nn.Linear(3, 2), nn.Softmax(dim=1))\ncriterion = nn.CrossEntropyLoss()\nloss = "
        "criterion(net(x), y)"
    ),
    (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.head = nn.Linear(3, 2)\n"
        "    def forward(self, x):\n"
        "        return F.softmax(self.head(x), dim=1)\n"
        "model = Net().to(device)\n"
        "criterion = nn.CrossEntropyLoss()\n"
        "loss = criterion(model(x), y)"
    ),
    "loss = F.nll_loss(torch.softmax(z, 1), y)",
    "loss = F.binary_cross_entropy_with_logits(torch.sigmoid(z), y)",
    (
        "class T:\n    def __init__(self):\n        self.loss = nn.BCEWithLogitsLoss()\n    def step(self, z, "
        "y):\n        return self.loss(torch.sigmoid(z), y)"
    ),
]
TWINS = [
    "loss = F.cross_entropy(z, y)",
    "loss = F.nll_loss(F.log_softmax(z, 1), y)",
    "loss = F.binary_cross_entropy(torch.sigmoid(z), y)",
    "p = F.softmax(z, 1)\nloss = F.cross_entropy(z, p)",
    "criterion = nn.CrossEntropyLoss()\nloss = criterion(model(x), y)\np = torch.softmax(model(x), 1)",
    "net = nn.Sequential(nn.Linear(3, 2), nn.LogSoftmax(dim=1))\nloss = nn.NLLLoss()(net(x), y)",
    (
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        if self.training:\n"
        "            return x\n"
        "        return F.softmax(x, 1)\n"
        "model = Net()\n"
        "loss = F.cross_entropy(model(x), y)"
    ),
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("softmax-before-cross-entropy", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("softmax-before-cross-entropy", text) == []


def test_torch_does_so():
    perfect = executed("z = torch.eye(10) * 1000\nloss = F.cross_entropy(torch.softmax(z, 1), torch.arange(10))")[
        "loss"
    ]
    assert abs(float(perfect) - 1.4612) < 1e-3
