"""Matrices whose units are all equal in the first steps."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.equal_units import EqualUnits
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, make, width=6, steps=4):
    torch.manual_seed(4)
    with under_watch(out):
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x, y = torch.randn(20, width), torch.randint(0, 3, (20,))
        for _ in range(steps):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, EqualUnits)


def constant(value):
    def make():
        model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
        for layer in model[::2]:
            nn.init.constant_(layer.weight, value)
            nn.init.zeros_(layer.bias)
        return model

    return make


def test_constants_are_told_with_the_line_that_filled_them(tmp_path):
    told = run(tmp_path, constant(0.1))
    first = told[0]
    assert (first.param, first.units, first.grad_equal, round(first.value, 3)) == ("0.weight", 8, True, 0.1)
    assert first.frame.code == "nn.init.constant_(layer.weight, value)"
    (finding,) = findings(tmp_path, "model/equal-units")
    assert (finding.iteration, finding.place.param) == (0, "0.weight")


def test_zeros_everywhere_never_move(tmp_path):
    told = run(tmp_path, constant(0.0))
    assert [f.grad_zero for f in told if f.param == "0.weight"] == [True] * 3
    assert len(findings(tmp_path, "model/equal-units")) == 1


def test_a_zero_head_and_a_random_model_are_silent(tmp_path):
    def zero_head():
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
        nn.init.zeros_(model[2].weight)
        return model

    assert [f.grad_equal for f in run(tmp_path / "a", zero_head)] == [False]
    assert not findings(tmp_path / "a", "model/equal-units")
    assert not run(tmp_path / "b", lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)))


def test_weights_that_exploded_are_not_called_equal(tmp_path):
    assert run(tmp_path, constant(float("inf"))) == []


def test_the_gates_of_a_recurrent_layer_are_compared_one_by_one(tmp_path):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTM(6, 4)
            self.head = nn.Linear(4, 3)
            for p in self.parameters():
                nn.init.constant_(p, 0.2)

        def forward(self, x):
            return self.head(self.cell(x)[0])

    assert "cell.weight_ih_l0" in {f.param for f in run(tmp_path, Reader) if f.grad_equal}
