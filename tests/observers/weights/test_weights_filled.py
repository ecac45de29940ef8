"""The lines that fill weights, under a real session."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.weights_filled import WeightsFilled
from tests.observers.observing import observed


def test_the_last_line_that_fills_a_matrix(tmp_path):
    def loop():
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
        nn.init.normal_(model[0].weight)
        nn.init.constant_(model[0].bias, -3.0).requires_grad_(True)
        with torch.no_grad():
            model[1].weight.uniform_(-2, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(2):
            model(torch.ones(3, 4)).mean().backward()
            optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, WeightsFilled)
    assert [(row.param, row.function, row.frame.code) for row in fact.rows if row.param != "1.bias"] == [
        ("0.weight", "normal_", "nn.init.normal_(model[0].weight)"),
        ("0.bias", "constant_", "nn.init.constant_(model[0].bias, -3.0).requires_grad_(True)"),
        ("1.weight", "uniform_", "model[1].weight.uniform_(-2, 2)"),
        ("2.weight", "kaiming_uniform_", "model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))"),
        ("2.bias", "uniform_", "model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))"),
    ]
    assert fact.ref.step == 0


def test_a_model_that_was_built_before_is_not_known(tmp_path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def loop():
        model(torch.ones(3, 4)).mean().backward()
        optimizer.step()

    assert observed(tmp_path / "runs", loop, WeightsFilled) == []


def test_the_line_is_known_when_the_model_was_moved_since(tmp_path):
    def loop():
        model = nn.Linear(4, 1)
        nn.init.normal_(model.weight)
        model = model.to(torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(3, 4, dtype=torch.float64)).mean().backward()
        optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, WeightsFilled)
    assert [row.frame.code for row in fact.rows if row.param == "weight"] == ["nn.init.normal_(model.weight)"]


def test_the_padding_row_of_a_table_is_not_the_table(tmp_path):
    def loop():
        model = nn.Embedding(8, 4, padding_idx=0)
        nn.init.normal_(model.weight.detach())
        with torch.no_grad():
            model.weight[0].zero_()
        model.weight.detach()[0].fill_(0.0)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(3, dtype=torch.long)).mean().backward()
        optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, WeightsFilled)
    assert [(row.param, row.frame.code) for row in fact.rows] == [("weight", "nn.init.normal_(model.weight.detach())")]
