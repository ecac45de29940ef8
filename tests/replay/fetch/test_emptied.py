"""A sample of which nothing is left, beside others: the line that left nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import Dataset

from debugtracer.replay.fetch.emptied import emptied, nothing
from tests.replay.fetch.test_followed import batch

TEXTS = ["red blue", "blue red blue", "red", "blue blue", "green grey", "red red", "blue"]
IDS = {"red": 3, "blue": 4}
OTHERS = (0, 1, 2, 3)


class Notes(Dataset):
    def __init__(self, how: str, texts: list[str] = TEXTS) -> None:
        self.how, self.texts = how, texts
        self.rows = [torch.tensor([IDS.get(w, 0) for w in text.split()]) for text in texts]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, i: int) -> Any:
        row = getattr(self, self.how)(i)
        return torch.as_tensor(row, dtype=torch.long), 1

    def chosen(self, i: int) -> Any:
        return [IDS[w] for w in self.texts[i].split() if w in IDS]

    def one_by_one(self, i: int) -> Any:
        row = []
        for word in self.texts[i].split():
            if word in IDS:
                row.append(IDS[word])  # noqa: PERF401
        return row

    def as_padding(self, i: int) -> Any:
        words = self.texts[i].split()
        row = torch.zeros(4, dtype=torch.long)
        row[: len(words)] = torch.tensor([IDS.get(w, 0) for w in words])
        return row

    def cut(self, i: int) -> Any:
        words = self.texts[i].split()
        return self.encoded(words[(2 if "green" in words else 0) :])

    def encoded(self, words: list[str]) -> Any:
        return [IDS.get(w, 1) for w in words]

    def counted(self, i: int) -> Any:
        count = len(self.texts[i]) if i != 4 else 0
        return torch.arange(3) < count

    def stored(self, i: int) -> Any:
        row = self.rows[i]
        return row


@pytest.mark.parametrize(
    ("how", "code", "left"),
    [
        ("chosen", "return [IDS[w] for w in self.texts[i].split() if w in IDS]", "an empty list"),
        ("one_by_one", "if word in IDS:", "an empty list"),
        ("as_padding", "row[: len(words)] = torch.tensor([IDS.get(w, 0) for w in words])", "4 times 0"),
        ("cut", 'return self.encoded(words[(2 if "green" in words else 0) :])', "an empty list"),
    ],
)
def test_the_line_that_leaves_nothing(how: str, code: str, left: str) -> None:
    made, _iterator = batch(Notes(how), (4, 5))
    found = emptied(made, 4, OTHERS, frozenset({0.0}))
    assert found is not None
    assert (found.index, found.frame.code, found.left, found.beside) == (4, code, left, 4)


def test_a_text_that_is_empty_is_told_at_the_line_that_makes_words_of_it() -> None:
    made, _iterator = batch(Notes("as_padding", [*TEXTS[:4], "", *TEXTS[5:]]), (4, 5))
    found = emptied(made, 4, OTHERS, frozenset({0.0}))
    assert found is not None
    assert found.frame.code == "words = self.texts[i].split()"


@pytest.mark.parametrize(
    ("how", "index", "others"),
    [("stored", 4, OTHERS), ("counted", 4, OTHERS), ("chosen", 5, OTHERS), ("chosen", 4, (0,))],
)
def test_a_stored_row_a_full_one_and_one_without_others_have_no_line(
    how: str, index: int, others: tuple[int, ...]
) -> None:
    made, _iterator = batch(Notes(how), (4, 5))
    assert emptied(made, index, others, frozenset({0.0})) is None


def test_a_line_that_leaves_others_empty_too_is_none() -> None:
    made, _iterator = batch(Notes("chosen", ["grey", *TEXTS[1:]]), (4, 5))
    assert emptied(made, 4, OTHERS, frozenset({0.0})) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "an empty list"),
        ([0, 0], "2 times 0"),
        ([1, 1], ""),
        (["a"], ""),
        (torch.zeros(0), "a tensor without an entry"),
        (torch.zeros(3, dtype=torch.bool), "3 times 0"),
        (torch.zeros(3), ""),
        (torch.tensor(0), None),
        ("", None),
        (0, None),
    ],
)
def test_what_counts_as_nothing(value: Any, said: str | None) -> None:
    assert nothing(value, frozenset({0.0})) == said
