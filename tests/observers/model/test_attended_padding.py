"""Masks of attention in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.attended_padding import AttendedPadding
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Reader(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.words, self.way = nn.Embedding(20, 8), way
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), 1)
        self.head = nn.Linear(8, 2)

    def forward(self, ids, ignored):
        x = self.words(ids) if ids.dim() == 2 else ids
        if self.way == "heads":
            x = self.attention(x, x, x, key_padding_mask=ignored)[0]
        elif self.way == "encoder":
            x = self.encoder(x, src_key_padding_mask=ignored)
        elif self.way == "dot":
            x = F.scaled_dot_product_attention(x, x, x, attn_mask=~ignored[:, None, :])
        else:
            scores = (x @ x.transpose(1, 2)).masked_fill(ignored[:, None, :], float("-inf"))
            x = scores.softmax(-1) @ x
        return self.head(x.mean(1))


def told(out, way, turned, vectors=False, full=False):
    torch.manual_seed(0)
    model = Reader(way)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(3):
            lengths = torch.randint(3, 9, (6, 1))
            padded = torch.arange(10) >= lengths
            ids = torch.randint(1, 20, (6, 10)) if full else torch.randint(1, 20, (6, 10)).masked_fill(padded, 0)
            given = torch.randn(6, 10, 8).masked_fill(padded[..., None], 0.0) if vectors else ids
            optimizer.zero_grad()
            F.cross_entropy(model(given, ~padded if turned else padded), torch.randint(0, 2, (6,))).backward()
            optimizer.step()
    return facts(out, AttendedPadding), findings(out, "padding-attended")


@pytest.mark.parametrize("way", ["heads", "encoder", "dot", "by hand"])
def test_a_mask_that_lets_in_the_padding_is_told(tmp_path, way):
    found, said = told(tmp_path, way, turned=True)
    assert {f.value for f in found} == {0}
    assert min(f.shut for f in found) > 8
    assert [f.severity for f in said] == ["error"]


def test_vectors_are_compared_too(tmp_path):
    found, said = told(tmp_path, "heads", turned=True, vectors=True)
    assert {f.value for f in found} == {None}
    assert len(said) == 1


@pytest.mark.parametrize("way", ["heads", "encoder", "dot", "by hand"])
def test_a_mask_of_padding_is_silent(tmp_path, way):
    assert told(tmp_path, way, turned=False) == ([], [])


def test_a_mask_that_lets_in_different_words_is_silent(tmp_path):
    assert told(tmp_path, "heads", turned=True, full=True) == ([], [])
