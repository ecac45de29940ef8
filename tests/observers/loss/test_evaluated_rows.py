"""Rows of one output in training and in evaluation."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.evaluated_rows import EvaluatedRows
from tests.observers.observing import observed
from tests.observers.told import findings

NODES = 200


def mask(rows):
    made = torch.zeros(NODES, dtype=torch.bool)
    made[rows] = True
    return made


def program(train, test, anew=False, steps=6):
    torch.manual_seed(0)
    x, y = torch.randn(NODES, 5), torch.randint(3, (NODES,))
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        rows = torch.randperm(NODES)[:80] if anew else train
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x)[rows], y[rows]).backward()
        optimizer.step()
        with torch.no_grad():
            said = model(x).argmax(1)
            taken = test(step) if callable(test) else test
            (said[taken] == y[taken]).float().mean()


ORDER = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("kind", "steps"), [(mask, 6), (mask, 102), (lambda rows: rows, 102), (lambda rows: rows.numpy(), 102)]
)  # fmt: skip
def test_rows_in_both_are_told(tmp_path, kind, steps):
    (fact,) = observed(tmp_path, lambda: program(kind(ORDER[:120]), kind(ORDER[80:]), steps=steps), EvaluatedRows)
    assert (fact.length, fact.trained, fact.rows, fact.shared) == (NODES, 120, 120, 40)
    assert [f.severity for f in findings(tmp_path, "masks-overlap")] == ["warning"]


@pytest.mark.parametrize(
    "test",
    [
        mask(ORDER[120:]),
        mask(ORDER[:120]),  # the accuracy of training
        mask(ORDER[:60]),
        mask(ORDER),  # of all
        lambda step: torch.randperm(NODES)[:60],  # some, each time others
        lambda step: mask(torch.randperm(NODES)[:60]),
    ],
)
def test_other_rows_and_those_that_are_meant_are_silent(tmp_path, test):
    assert observed(tmp_path, lambda: program(mask(ORDER[:120]), test, steps=102), EvaluatedRows) == []


def test_one_line_may_take_several_masks(tmp_path):
    masks = [mask(ORDER[80:]), mask(ORDER[:120]), mask(ORDER)]  # those of training are looked at first
    (fact,) = observed(tmp_path, lambda: program(masks[1], lambda step: masks[step % 3], steps=102), EvaluatedRows)
    assert fact.shared == 40


def test_batches_that_are_drawn_anew_are_silent(tmp_path):
    assert observed(tmp_path, lambda: program(None, mask(ORDER[120:]), anew=True), EvaluatedRows) == []
