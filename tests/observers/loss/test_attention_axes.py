"""Attentions of a real session: along which dimension do their weights add up to 1?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.attention_axes import AttentionAxes
from tests.observers.told import facts, findings
from tests.watching import under_watch


def scores(x):
    return x @ x.transpose(1, 2) / 3


def heads(x):
    return x.view(4, 7, 2, 3).transpose(1, 2)


def keep(x):
    return torch.ones(7, 7, dtype=torch.bool).tril()


def renormalised(x):
    a = scores(x).softmax(1)
    return (a / a.sum(-1, keepdim=True)) @ x


def both(x):
    return (scores(x).softmax(1) * scores(x).softmax(2)) @ x


def two(x):
    return scores(x).softmax(2) @ scores(x).softmax(1).transpose(1, 2) @ x


def slots(x):
    return (x[:, :3] @ x.transpose(1, 2)).softmax(1) @ x


WRONG = {
    "queries": lambda x: scores(x).softmax(1) @ x,
    "negative": lambda x: F.softmax(scores(x), dim=-2) @ x,
    "dropout": lambda x: F.dropout(scores(x).softmax(1), 0.1) @ x,
    "masked": lambda x: scores(x).masked_fill(~keep(x), -9.0).softmax(1) @ x,
    "turned": lambda x: x.transpose(1, 2) @ scores(x).softmax(2),
    "permuted": lambda x: torch.bmm(x.mT, scores(x).softmax(1).permute(0, 2, 1)),
    "heads": lambda x: (heads(x) @ heads(x).mT).softmax(1) @ heads(x),
    "einsum": lambda x: torch.einsum("bij,bjd->bid", torch.einsum("bid,bjd->bij", x, x).softmax(1), x),
    "module": lambda x: nn.Softmax(dim=0)(scores(x)) @ x,
}
RIGHT = {
    "keys": lambda x: scores(x).softmax(-1) @ x,
    "turned": lambda x: x.transpose(1, 2) @ scores(x).softmax(1),
    "permuted": lambda x: torch.bmm(x.mT, scores(x).softmax(2).permute(0, 2, 1)),
    "einsum": lambda x: torch.einsum("bij,bid->bjd", scores(x).softmax(1), x),
    "renormalised": renormalised,
    "both": both,
    "two": two,
    "slots": slots,
    "features of keys": lambda x: x @ (x.softmax(1).transpose(1, 2) @ x),
    "transitions": lambda x: torch.einsum("vw,bvd->bwd", (x[0] @ x[0].T).softmax(1), x),
    "fused": lambda x: F.scaled_dot_product_attention(x, x, x),
}


def told(out, attend, layer=None):
    torch.manual_seed(1)
    layer = layer or nn.Linear(5, 6)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(3):
            optimizer.zero_grad()
            attend(layer(torch.randn(4, 7, 5))).square().mean().backward()
            optimizer.step()
    return facts(out, AttentionAxes), findings(out, "attention-axis")


@pytest.mark.parametrize("name", WRONG)
def test_weights_across_the_sum_are_told(tmp_path, name):
    found, said = told(tmp_path, WRONG[name])
    assert len(said) == 1 and {f.soft != f.summed for f in found} == {True}
    assert said[0].severity == "warning" and said[0].place.frame.code.startswith(f'"{name}": ')


@pytest.mark.parametrize("name", RIGHT)
def test_weights_along_the_sum_and_others_are_left_alone(tmp_path, name):
    assert told(tmp_path, RIGHT[name]) == ([], [])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 6)
        self.soft = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.first(x)
        return self.soft(scores(x)) @ x


def test_a_layer_is_told_where_it_is_built(tmp_path):
    _, (finding,) = told(tmp_path, lambda x: x, Attending())
    assert finding.place.frame.code == "self.soft = nn.Softmax(dim=1)"
