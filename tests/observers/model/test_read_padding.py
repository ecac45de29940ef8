"""Positions that models read, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.trace.facts.read_padding import ReadPadding
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS, LENGTH = 6, 10


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def rows_of(left=False, pad=0, shortest=3):
    lengths = torch.randint(shortest, LENGTH - 2, (ROWS, 1))
    lengths[0] = LENGTH
    places = torch.arange(LENGTH)
    padded = places < LENGTH - lengths if left else places >= lengths
    return torch.randint(1, 20, (ROWS, LENGTH)).masked_fill(padded, pad), lengths[:, 0], ~padded


class Rows(nn.Module):
    """Reads what it makes of each position by a way of its own."""

    def __init__(self, way, padding_idx=0):
        super().__init__()
        self.words, self.way = nn.Embedding(21, 8, padding_idx=padding_idx), way
        self.body, self.recurrent = nn.Linear(8, 8), nn.GRU(8, 8, batch_first=True)

    def forward(self, ids, lengths, mask=None):
        if self.way == "recurrent":
            return self.recurrent(self.words(ids))[0][:, -1]
        h = self.body(self.words(ids))
        if self.way in READS:
            return READS[self.way](h, lengths)
        if self.way == "ended":
            return h[torch.arange(len(h)), (ids == 0).int().argmax(1)]
        if self.way == "compared":
            return h.masked_fill((ids == 0)[..., None], 0.0)[:, -1]
        if self.way == "attended":
            outside = torch.arange(LENGTH) >= lengths[:, None]
            scores = (h @ h.transpose(1, 2)).masked_fill(outside[:, None, :], float("-inf"))
            return (scores.softmax(-1) @ h)[:, -1]
        if self.way == "time first":
            return h.transpose(0, 1)[-1]
        return h.mean(1)


READS = {
    "the last": lambda h, lengths: h[:, -1],
    "a slice": lambda h, lengths: h[:, -1:, :].squeeze(1),
    "select": lambda h, lengths: h.select(1, -1),
    "behind": lambda h, lengths: h[torch.arange(len(h)), lengths.clamp(max=LENGTH - 1)],
    "gathered": lambda h, lengths: h.gather(1, lengths.clamp(max=LENGTH - 1)[:, None, None].expand(-1, 1, 8))[:, 0],
    "at the length": lambda h, lengths: h[torch.arange(len(h)), lengths - 1],
    "the first": lambda h, lengths: h[:, 0],
    "each": lambda h, lengths: sum(h[:, t] for t in range(LENGTH)),
    "both ends": lambda h, lengths: h[:, 0] + h[:, -1],
    "not used": lambda h, lengths: h.mean(1) + 0 * h[:, -1].detach(),
}


def told(out, way, padding_idx=0, masked=False, left=False, shortest=3):
    torch.manual_seed(0)
    model = Rows(way, padding_idx)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(3):
            ids, lengths, mask = rows_of(left, shortest=shortest)
            optimizer.zero_grad()
            F.cross_entropy(model(ids, lengths, mask if masked else None), torch.randint(0, 8, (ROWS,))).backward()
            optimizer.step()
    return facts(out, ReadPadding), findings(out, "padding-read")


@pytest.mark.parametrize("way", ["the last", "a slice", "select", "behind", "gathered", "time first"])
def test_padding_that_is_read_is_told(tmp_path, way):
    found, said = told(tmp_path, way)
    assert {(f.pad, f.side, f.rows, f.inside) for f in found} == {(0, "right", ROWS, ROWS - 1)}
    assert {f.known_by for f in found} == {"Embedding(padding_idx=0)"}
    assert [f.severity for f in said] == ["warning"]


@pytest.mark.parametrize(
    ("way", "masked", "how"),
    [("compared", False, "a comparison"), ("the last", True, "a mask"), ("attended", False, "a mask")],
)
def test_the_padding_is_known_by_what_the_program_does_with_it(tmp_path, way, masked, how):
    found, said = told(tmp_path, way, None, masked)
    assert {f.known_by for f in found} == {how}
    assert len(said) == 1


def test_padding_in_front_is_told_where_the_first_position_is_read(tmp_path):
    found, said = told(tmp_path, "the first", left=True)
    assert {(f.side, f.place) for f in found} == {("left", 0)}
    assert len(said) == 1


@pytest.mark.parametrize("way", ["at the length", "the first", "each", "both ends", "not used", "mean"])
def test_reads_of_ids_and_of_several_positions_are_silent(tmp_path, way):
    assert told(tmp_path, way) == ([], [])


def test_rows_that_are_padded_in_front_are_silent(tmp_path):
    assert told(tmp_path, "the last", left=True) == ([], [])


def test_an_id_that_nobody_calls_padding_is_silent(tmp_path):
    assert told(tmp_path, "the last", None) == ([], [])


def test_a_first_padding_that_ends_the_text_may_be_read(tmp_path):
    assert told(tmp_path, "ended", None) == ([], [])


def test_a_recurrent_layer_is_noted(tmp_path):
    found, said = told(tmp_path, "recurrent", shortest=6)
    assert {f.recurrent for f in found} == {True}
    assert said == []


def test_an_id_that_ends_every_row_was_put_there(tmp_path):
    torch.manual_seed(0)
    model = Rows("the last")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(3):
            ids = torch.randint(1, 20, (ROWS, LENGTH))
            ids[:, -2:] = 0
            F.cross_entropy(model(ids, None), torch.randint(0, 8, (ROWS,))).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert facts(tmp_path, ReadPadding) == []


def test_what_was_read_is_forgotten_when_steps_were_missed(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path) as watched:
        ids, lengths, _ = rows_of()
        model = Rows("the last")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model(ids, lengths).sum().backward()
        optimizer.step()
        model(ids, lengths)
        observer = watched.dispatcher.observers["read-padding"]
        assert observer.given and observer.reads
        watched.dispatcher.missed()
        assert not (observer.given or observer.reads or observer.compared or observer.masks or observer.recurrent)
