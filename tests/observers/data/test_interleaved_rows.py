"""Texts that go on from row to row."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.data.interleaved_rows import next_along
from debugtracer.trace.facts.interleaved_rows import InterleavedRows
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS, LENGTH, WORDS = 10, 20, 60


class Model(nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.words = nn.Embedding(WORDS, 8)
        self.memory = nn.GRU(8, 16, batch_first=batch_first)
        self.next = nn.Linear(16, WORDS)

    def forward(self, ids):
        return self.next(self.memory(self.words(ids))[0])


def text(count=4000):
    follows = torch.randint(0, WORDS, (WORDS, 3))
    words, last = [], 0
    for choice in torch.randint(0, 3, (count,)).tolist():
        last = int(follows[last, choice])
        words.append(last)
    return torch.tensor(words)


def dealt(words):
    return words.view(-1, ROWS).t()


def pieces(words):
    return words.view(ROWS, -1)


def time_first(words):
    return words.view(ROWS, -1).t().contiguous()


def dealt_time_first(words):
    return words.view(-1, ROWS)


def by_chance(words):
    return words[torch.randperm(len(words))].view(ROWS, -1)


def codebooks(words):
    """Ten series side by side, each with a habit of its own, that depend on one another."""
    first = words[: len(words) // ROWS]
    return torch.stack([(first * (2 * n + 1) + n) % WORDS for n in range(ROWS)])


def one_prompt(words):
    return words[: len(words) // ROWS].expand(ROWS, -1)


def forms(words):
    """Every position has words of its own."""
    rows = torch.randint(0, 3, (ROWS, len(words) // ROWS))
    return (rows + 3 * torch.arange(rows.shape[1])) % WORDS


def by_torch(scores, wanted):
    return nn.functional.cross_entropy(scores, wanted)


def by_hand(scores, wanted):
    return -scores.log_softmax(-1).gather(1, wanted[:, None]).mean()


def run(out, laid, batch_first=True, loss_of=by_torch, lengths=(LENGTH,) * 4):
    torch.manual_seed(0)
    with under_watch(out):
        rows, model = laid(text()), Model(batch_first)
        optimizer, dim = torch.optim.SGD(model.parameters(), lr=0.1), int(batch_first)
        for n, length in enumerate(lengths):
            begin = sum(lengths[:n])
            ids, wanted = rows.narrow(dim, begin, length), rows.narrow(dim, begin + 1, length)
            loss = loss_of(model(ids).flatten(0, 1), wanted.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, InterleavedRows), findings(out, "data/rows-interleaved")


@pytest.mark.parametrize(("laid", "batch_first"), [(dealt, True), (dealt_time_first, False)])
def test_a_stream_that_is_dealt_out_is_told_with_its_line(tmp_path, laid, batch_first):
    told, (found,) = run(tmp_path, laid, batch_first)
    assert (told[0].rows, told[0].length, told[0].dim) == (ROWS, LENGTH, int(batch_first))
    assert told[0].across > 10 * told[0].along and found.place.frame.function == laid.__name__
    assert found.message.endswith(f"Use view({ROWS}, -1){'' if batch_first else '.t()'}.")


def test_windows_of_drawn_lengths_and_a_loss_by_hand_are_looked_at(tmp_path):
    told, (found,) = run(tmp_path, dealt_time_first, False, by_hand, (23, 19, 25, 21))
    assert told[0].rows == ROWS and found.place.frame.function == "dealt_time_first"


@pytest.mark.parametrize(
    ("laid", "batch_first"),
    [
        (pieces, True), (time_first, False), (by_chance, True), (codebooks, True), (one_prompt, True), (forms, True),
    ],
)  # fmt: skip
def test_silent_on_rows_that_go_on_or_are_no_text(tmp_path, laid, batch_first):
    assert run(tmp_path, laid, batch_first) == ([], [])


def test_the_dimension_of_the_next_token():
    ids = torch.arange(24).reshape(4, 6)
    assert next_along(ids, (ids + 1).flatten()) == 1
    assert next_along(ids, (ids + 6).flatten()) == 0
    assert next_along(ids, ids[:, 1:].flatten()) == 1
    assert next_along(ids, ids.flatten()) is None
