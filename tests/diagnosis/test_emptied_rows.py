"""A row of which the model was given nothing: the line of the data pipeline, and who stays at the line of the op."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.diagnosis.emptied_rows import blanks
from tests.watching import incidents, under_watch

IDS = {"red": 1, "blue": 2, "green": 3}


def row_of(text: str) -> torch.Tensor:
    row = torch.zeros(4, dtype=torch.long)
    for place, word in enumerate(text.split()):
        row[place] = IDS.get(word, 0)
    return row


class Notes(Dataset):
    """Texts that are made rows when they are asked for."""

    def __init__(self, odd: str) -> None:
        self.texts = ["red blue", "green", "blue green red", "red red"] * 8
        self.texts[21] = odd

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, i: int):
        known = [word for word in self.texts[i].split() if word in IDS]
        return row_of(" ".join(known)), float(i % 2)


class Kept(Notes):
    """The same, made when the data set is built."""

    def __init__(self, odd: str) -> None:
        super().__init__(odd)
        self.rows = [self.encoded(text) for text in self.texts]

    def encoded(self, text: str) -> torch.Tensor:
        ids = [IDS.get(word, 0) for word in text.split()]
        return torch.tensor(ids + [0] * (4 - len(ids)))

    def __getitem__(self, i: int):
        return self.rows[i], float(i % 2)


class Stored(Notes):
    """Rows that were never words, one of them empty."""

    def __init__(self) -> None:
        super().__init__("red")
        self.rows = torch.ones(len(self.texts), 4, dtype=torch.long)
        self.rows[21] = 0

    def __getitem__(self, i: int):
        return self.rows[i], float(i % 2)


class Mean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.out = nn.Embedding(4, 8), nn.Linear(8, 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        real = (ids != 0).float().unsqueeze(-1)
        pooled = (self.embed(ids) * real).sum(1) / real.sum(1)
        return self.out(pooled).squeeze(-1)


def verdict_of(data: Dataset, out):
    torch.manual_seed(0)
    model = Mean()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for ids, y in DataLoader(data, batch_size=8):
            optimizer.zero_grad()
            (model(ids) - y.float()).square().mean().backward()
            optimizer.step()
    return incidents(out)[0]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (Notes("grey grey"), "known = [word for word in self.texts[i].split() if word in IDS]"),
        (Kept("grey grey"), "ids = [IDS.get(word, 0) for word in text.split()]"),
        (Stored(), "pooled = (self.embed(ids) * real).sum(1) / real.sum(1)"),
    ],
)
def test_the_line_that_left_nothing_leads(tmp_path, data, code):
    incident = verdict_of(data, tmp_path)
    verdict = incident.verdict
    assert (verdict.kind, verdict.sample_index, verdict.batch_rows) == ("zero_division", (21,), (5,))
    assert Path(verdict.file).read_text().splitlines()[verdict.line - 1].strip() == code
    told = incident.facts.emptied is not None
    assert ("leaves nothing of the record of sample 21" in verdict.summary) == told
    assert verdict.remedy[0].startswith("keep something of such a record") == told
    assert not told or verdict.change is None


class Held:
    rows = 3

    def __init__(self, leaf: torch.Tensor) -> None:
        self.leaf = leaf

    def tensors(self):
        return [("batch[0]", self.leaf)]


@pytest.mark.parametrize(
    ("leaf", "number"),
    [
        (torch.tensor([[3, 1], [0, 0], [2, 0]]), 0.0),
        (torch.tensor([[False, True], [True, True], [False, False]]), 1.0),
        (torch.tensor([4, 0, 2]), 0.0),
        (torch.tensor([4, 1, 2]), None),  # a label
        (torch.tensor([[3, 1], [0, 0], [0, 0]]), None),  # another row, too
        (torch.tensor([[0.5, 1.0], [0.0, 0.0], [2.0, 0.0]]), None),  # measured
    ],
)
def test_rows_of_one_number_only(leaf, number):
    assert dict(blanks(Held(leaf), (1,))) == ({} if number is None else {"batch[0]": number})
