"""Words that a mask leaves out, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.observers.data.masked_words import fills
from debugtracer.trace.facts.pad_inside import PadInside
from tests.observers.told import facts, findings
from tests.watching import under_watch

WORDS = [f"w{number}" for number in range(15)]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Reader(nn.Module):
    def __init__(self, padding_idx=None, mask=True):
        super().__init__()
        self.table, self.mask = nn.Embedding(20, 4, padding_idx=padding_idx), mask

    def forward(self, ids):
        kept = (ids != 0)[:, :, None] if self.mask else 1.0
        return (self.table(ids) * kept).sum(1)


def run(folder, words, net=None, inside=True):
    torch.manual_seed(0)
    net = net or Reader()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(4):
            ids = torch.randint(1, 15, (16, 12))
            if inside:
                ids[torch.rand(16, 12) < 0.15] = 0
                ids[:, 0] = 1
            ids[torch.arange(12) >= torch.randint(5, 13, (16, 1))] = 0
            optimizer.zero_grad()
            net(ids).square().mean().backward()
            optimizer.step()
    assert words is not None
    return facts(folder, PadInside)


def test_a_word_with_the_id_of_the_padding(tmp_path):
    found = run(tmp_path, {word: number for number, word in enumerate(WORDS)})
    assert found and {(fact.pad, fact.spelt, fact.masked) for fact in found} == {(0, "w0", True)}
    assert {fact.mask_frame.function for fact in found} == {"Reader.forward"}
    assert len(findings(tmp_path, "data/pad-inside")) == 1


@pytest.mark.parametrize(
    "first",
    ["<pad>", "[PAD]", "-"],
)
def test_padding_and_separators_inside_a_text_are_quiet(tmp_path, first):
    assert run(tmp_path, {word: number for number, word in enumerate([first, *WORDS])}) == []


def test_words_from_one_on_are_quiet(tmp_path):
    assert run(tmp_path, {word: number for number, word in enumerate(WORDS, 1)}, inside=False) == []


def test_ids_one_further_than_their_words_are_quiet(tmp_path):
    assert run(tmp_path, {word: number for number, word in enumerate(WORDS)}, inside=False) == []


def test_without_a_mask_nothing_is_left_out(tmp_path):
    assert run(tmp_path, {word: number for number, word in enumerate(WORDS)}, Reader(mask=False)) == []


def test_what_a_table_knows_as_padding_is_looked_at_elsewhere(tmp_path):
    found = run(tmp_path, {word: number for number, word in enumerate(WORDS)}, Reader(0))
    assert found and not any(fact.masked for fact in found)


def test_what_fills_the_ends():
    assert fills(torch.tensor([[1, 2, 0, 0, 0], [1, 2, 3, 4, 5]]), 0)
    assert not fills(torch.tensor([[1, 2, 3, 0, 0], [1, 2, 3, 4, 5]]), 0)  # a short end
    assert not fills(torch.tensor([[1, 2, 0, 0, 0], [1, 3, 0, 0, 0]]), 0)  # a field that is empty
    assert not fills(torch.tensor([[1, 2, 0, 0, 0], [0, 0, 0, 4, 5]]), 0)  # at both ends


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    net = Reader()
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["masked-words"]
        out = net(torch.randint(0, 20, (4, 5)))
        assert out.requires_grad and observer.compared and observer.given
        watched.dispatcher.missed()
        assert not observer.compared and not observer.given
