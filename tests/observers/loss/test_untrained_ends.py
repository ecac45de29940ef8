"""Texts whose end is never a target."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.untrained_end import UntrainedEnd
from tests.observers.told import facts, findings
from tests.watching import under_watch

END, PAD = 0, 1


class Texts(nn.Module):
    """Scores of the next word."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(30, 8), nn.Linear(8, 30)

    def forward(self, words, attention_mask=None):
        return self.head(self.words(words))


def texts(widest, fill, end=True):
    """Words of several lengths, ended by END and filled up."""
    lengths = torch.randint(3, widest, (8,))
    lengths[0] = widest - 1
    words = torch.randint(2, 30, (8, widest))
    places = torch.arange(widest)
    words = torch.where(places > lengths[:, None], torch.full_like(words, fill), words)
    if end:
        words[torch.arange(8), lengths] = END
    return words, (places <= lengths[:, None]).long()


def by_id(words, mask, fill):
    return words[:, 1:].masked_fill(words[:, 1:] == fill, -100)


def by_place(words, mask, fill):
    return words[:, 1:].masked_fill(mask[:, 1:] == 0, -100)


def run(out, labels, fill=END, end=True, masked=True, steps=6, fixed=0):
    torch.manual_seed(0)
    model = Texts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for step in range(steps):
            words, mask = texts(fixed or 10 + step, fill, end)
            if fixed:
                words = torch.cat([words, torch.full((8, 3), fill)], 1)
                mask = torch.cat([mask, torch.zeros(8, 3, dtype=torch.long)], 1)
            scores = model(words, attention_mask=mask) if masked else model(words)
            optimizer.zero_grad()
            F.cross_entropy(scores[:, :-1].reshape(-1, 30), labels(words, mask, fill).reshape(-1)).backward()
            optimizer.step()
    return facts(out, UntrainedEnd)


def test_labels_masked_by_an_id_that_ends_the_texts_are_told(tmp_path):
    found = run(tmp_path, by_id)
    assert [(f.token, f.rows, f.attended) for f in found] == [(END, 8, True)] * len(found) != []
    assert [f.severity for f in findings(tmp_path, "end-untrained")] == ["warning"]


def test_without_a_mask_the_longest_text_of_each_batch_tells(tmp_path):
    found = run(tmp_path, by_id, masked=False)
    assert [(f.rows, f.attended, f.width) for f in found][:2] == [(8, False, 10), (8, False, 11)]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize(
    ("labels", "fill", "end"),
    [(by_place, END, True), (by_id, PAD, True), (by_place, PAD, True), (by_place, PAD, False)],
)
def test_ends_that_are_targets_and_texts_without_are_silent(tmp_path, labels, fill, end, masked):
    assert run(tmp_path, labels, fill, end, masked) == []


def test_rows_of_a_fixed_width_without_a_mask_are_silent(tmp_path):
    assert run(tmp_path, by_id, masked=False, fixed=12) == []
