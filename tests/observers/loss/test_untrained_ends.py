"""Texts whose end is never a target."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from debugtracer.observers.loss.untrained_ends import ended_once, whole_text
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


@pytest.mark.parametrize("masked", [True, False])
def test_what_a_library_writes_behind_the_last_word_when_it_shifts_labels_ends_no_text(tmp_path, masked):
    torch.manual_seed(0)
    model = Texts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for step in range(6):
            words, mask = texts(10 + step, PAD)  # its padding is a target: another fault, that has its own check
            scores = model(words, attention_mask=mask) if masked else model(words)
            optimizer.zero_grad()
            F.cross_entropy(scores.flatten(0, 1), F.pad(words, (0, 1), value=-100)[:, 1:].flatten()).backward()
            optimizer.step()
    assert facts(tmp_path, UntrainedEnd) == []


class Sentences(Dataset):
    """Of 4 to 9 words, the longest in every batch; filled up to `width` where one is given."""

    def __init__(self, width=0):
        words = [torch.randint(2, 30, (4 + place % 6,)).tolist() for place in range(96)]
        self.rows = [row + [END] * max(1 if not width else 0, width - len(row)) for row in words]
        self.asked = 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, place):
        self.asked += 1
        return {"ids": self.rows[place], "kind": "plain"}


def filled_up(rows):
    width = max(len(row["ids"]) for row in rows)
    ids = torch.tensor([row["ids"] + [END] * (width - len(row["ids"])) for row in rows])
    labels = ids.clone()
    labels[labels == END] = -100
    return ids, labels


def of_a_dataset(out, data):
    model = Texts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        loader = DataLoader(data, 12, collate_fn=filled_up)
        for words, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(words)[:, :-1].flatten(0, 1), labels[:, 1:].flatten()).backward()
            optimizer.step()
    return facts(out, UntrainedEnd)


def test_samples_that_end_so_before_they_are_filled_tell_where_all_batches_are_as_wide(tmp_path):
    torch.manual_seed(0)
    data = Sentences()
    found = of_a_dataset(tmp_path, data)
    assert {(f.attended, f.sampled, f.width) for f in found} == {(False, True, 10)}
    assert found[0].left_out.code == "labels[labels == END] = -100"
    assert data.asked == 96  # as if it had not been asked
    (finding,) = findings(tmp_path, "end-untrained")
    assert finding.place.frame == found[0].left_out


def test_samples_that_are_filled_up_already_tell_nothing(tmp_path):
    torch.manual_seed(0)
    assert not any(f.sampled for f in of_a_dataset(tmp_path, Sentences(width=10)))
    assert findings(tmp_path, "end-untrained") == []


def test_an_id_that_the_criterion_leaves_out_has_its_line(tmp_path):
    torch.manual_seed(0)
    model, data = Texts(), Sentences()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        criterion = nn.CrossEntropyLoss(ignore_index=END)
        for words, _ in DataLoader(data, 12, collate_fn=filled_up):
            optimizer.zero_grad()
            criterion(model(words)[:, :-1].flatten(0, 1), words[:, 1:].flatten()).backward()
            optimizer.step()
    assert facts(tmp_path, UntrainedEnd)[0].left_out.code == "criterion = nn.CrossEntropyLoss(ignore_index=END)"


def test_what_is_a_text_of_a_sample():
    rows = {(5, 6, 7, 0), (5, 0, 0, 0)}
    assert whole_text({"ids": [5, 6, 7, 0], "size": 3}, rows) == (5, 6, 7, 0)
    assert whole_text(torch.tensor([5, 0]), rows) == (5, 0)
    assert whole_text(([1, 2, 3], 4), rows) == ()
    assert whole_text("text", rows) == ()
    assert [ended_once(one, 0) for one in ((5, 0), (5, 0, 0), (0, 5), (5, 6), ())] == [True, False, False, False, False]
