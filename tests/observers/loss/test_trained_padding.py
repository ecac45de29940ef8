"""Masks of losses in real sessions: which positions do they train?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from debugtracer.trace.facts.trained_padding import TrainedPadding
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Tagger(nn.Module):
    def __init__(self, kinds=7):
        super().__init__()
        self.words, self.head = nn.Embedding(20, 8), nn.Linear(8, kinds)

    def forward(self, words):
        return self.head(self.words(words))


def by_position(scores, tags):
    return F.cross_entropy(scores.transpose(1, 2), tags, reduction="none")


def averaged(each, mask):
    return (each * mask).sum() / mask.sum()


PADDING = {
    "times": lambda s, t: averaged(by_position(s, t), (t == 0).float()),
    "index": lambda s, t: by_position(s, t)[t == 0].mean(),
    "flat": lambda s, t: F.cross_entropy(s.flatten(0, 1), t.flatten(), reduction="none")[t.flatten().eq(0)].mean(),
    "before": lambda s, t: F.cross_entropy(s[t == 0], t[t == 0]),
    "ignored": lambda s, t: F.cross_entropy(s.transpose(1, 2), t.masked_fill(t != 0, -100)),
}
REST = {
    "times": lambda s, t: averaged(by_position(s, t), (t != 0).float()),
    "index": lambda s, t: by_position(s, t)[t != 0].mean(),
    "all": lambda s, t: by_position(s, t).mean(),
    "both": lambda s, t: averaged(by_position(s, t), (t != 0).float()) + 0.1 * by_position(s, t)[t == 0].mean(),
    "one tag": lambda s, t: by_position(s, t)[t == 3].mean(),
    "first": lambda s, t: by_position(s, t)[:, 0].mean(),
    "last word": lambda s, t: by_position(s, t)[:, -1].mean(),
}


def told(out, loss, model=None, numbers=False):
    torch.manual_seed(0)
    rows = []
    for _ in range(32):
        length = int(torch.randint(3, 9, ()))
        tags = F.pad(torch.randint(1, 7, (length,)), (0, 10 - length))
        words = F.pad(torch.randint(1, 20, (length,)), (0, 10 - length))
        rows.append((words, tags * 0.5 if numbers else tags))
    model = model or Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for words, tags in DataLoader(rows, 8):
            optimizer.zero_grad()
            loss(model(words), tags).backward()
            optimizer.step()
    return facts(out, TrainedPadding), findings(out, "padding-trained")


@pytest.mark.parametrize("name", PADDING)
def test_a_mask_that_keeps_the_padding_is_told(tmp_path, name):
    found, said = told(tmp_path, PADDING[name])
    assert {(f.value, f.whole, f.others, f.root) for f in found} == {(0.0, True, 6, "Tagger")}
    assert [f.severity for f in said] == ["error"]
    assert (found[0].compared is not None) == (name != "nothing")


def test_padded_numbers_and_a_loss_by_hand(tmp_path):
    def squares(scores, tags):
        return ((scores.squeeze(-1) - tags).square() * (tags == 0)).sum()

    found, said = told(tmp_path, squares, Tagger(1), numbers=True)
    assert {(f.value, f.whole, f.loss) for f in found} == {(0.0, False, "")}
    assert len(said) == 1


@pytest.mark.parametrize("name", REST)
def test_other_masks_are_left_alone(tmp_path, name):
    assert told(tmp_path, REST[name]) == ([], [])


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["trained-padding"]
        observer.called(F.mse_loss, (torch.zeros(4), torch.ones(4)), {}, torch.ones(()))
        assert observer.wanted
        session.dispatcher.missed()
        assert not observer.wanted
