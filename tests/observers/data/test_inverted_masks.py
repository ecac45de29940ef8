"""Masks of labels that are the wrong way round."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.inverted_mask import InvertedMask
from tests.observers.told import facts, findings
from tests.watching import under_watch

MASK = 0


def inverted(ids, masked):
    return ids.masked_fill(masked, MASK), ids.masked_fill(masked, -100)


def right(ids, masked):
    return ids.masked_fill(masked, MASK), ids.masked_fill(~masked, -100)


def padding(ids, masked):
    tail = torch.arange(12) >= torch.randint(6, 12, (8, 1))
    return ids.masked_fill(tail, MASK), ids.masked_fill(tail, -100)


def prompts(ids, masked):
    return ids, ids.masked_fill(masked, -100)


def unmasked(ids, masked):
    return ids, ids.clone()


def run(out, batch):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            tokens, labels = batch(torch.randint(1, 20, (8, 12)), torch.rand(8, 12) < 0.2)
            optimizer.zero_grad()
            F.cross_entropy(model(tokens).view(-1, 20), labels.view(-1)).backward()
            optimizer.step()
    return facts(out, InvertedMask)


def test_labels_that_count_where_the_input_shows_them_are_told(tmp_path):
    found = run(tmp_path, inverted)
    assert [(f.ref.step, f.mask, f.loss) for f in found] == [(step, MASK, "cross_entropy") for step in range(3)]
    assert [0.05 < f.ignored < 0.35 for f in found] == [True] * 3, [f.ignored for f in found]
    assert [f.severity for f in findings(tmp_path, "mask-inverted")] == ["warning"]


@pytest.mark.parametrize("batch", [right, padding, prompts, unmasked])
def test_other_labels_are_silent(tmp_path, batch):
    assert run(tmp_path, batch) == []
