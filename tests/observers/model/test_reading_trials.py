"""Models that answer at each position, read onward, backward and both."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.model.reading_trials import reading_order, told_in_place, with_other
from debugtracer.observers.model.shadow_model import ShadowModel

NOTES = torch.randn(6, 12, 5, generator=torch.Generator().manual_seed(3))
ENDS = (NOTES[..., 0] > 0).long()


class Reader(nn.Module):
    def __init__(self, way):
        super().__init__()
        torch.manual_seed(0)
        self.way, self.embed = way, nn.Embedding(9, 5)
        self.on, self.back = nn.GRU(5, 6, batch_first=True), nn.GRU(5, 6, batch_first=True)
        self.both = nn.GRU(5, 6, batch_first=True, bidirectional=True)
        self.near = nn.Conv1d(5, 6, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        x = x if x.is_floating_point() else self.embed(x)
        if self.way == "onward":
            return self.on(x)[0]
        if self.way == "both":
            return self.both(x)[0]
        if self.way == "window":
            return self.near(x.transpose(1, 2)).transpose(1, 2)
        behind = self.back(x.flip(1))[0]
        if self.way == "reversed":
            return behind
        return torch.cat([self.on(x)[0], behind.flip(1) if self.way == "turned" else behind], -1)


def tried(way, x=NOTES, target=ENDS):
    shadow = ShadowModel(Reader(way), [])
    base, _ = shadow.run((x[:4],), {})
    return reading_order(shadow, (x,), (x[:4],), {}, base, target)


def test_halves_of_other_positions_are_told_with_the_line_that_turns():
    found = tried("mixed")
    assert (found["changed"], found["function"], found["length"]) == (True, "mixed", 12)
    assert found["frame"].code == "behind = self.back(x.flip(1))[0]"
    assert tried("mixed", torch.arange(72).reshape(6, 12) % 9, ENDS)["function"] == "mixed"


def test_answers_from_the_end_are_told_where_the_targets_are_those_of_their_positions():
    assert tried("reversed")["function"] == "reversed"
    assert tried("reversed", target=ENDS.flip(1)) is None


@pytest.mark.parametrize("way", ["onward", "both", "window", "turned"])
def test_other_readers_are_silent(way):
    assert tried(way) is None


def test_what_has_no_target_for_each_position_or_is_short_is_not_tried():
    assert tried("mixed", target=None) is None
    assert tried("mixed", target=ENDS[:, 0]) is None
    assert tried("mixed", NOTES[:, :7], ENDS[:, :7]) is None


def test_where_a_target_is_told():
    assert told_in_place(NOTES, ENDS) and not told_in_place(NOTES, ENDS.flip(1))
    assert not told_in_place(NOTES, torch.zeros_like(ENDS))


def test_one_position_is_another_in_every_text():
    ids = torch.tensor([[1, 2, 3], [4, 4, 5]])
    assert [(with_other(ids, n) != ids).any(0).tolist().count(True) for n in range(3)] == [1, 1, 1]
