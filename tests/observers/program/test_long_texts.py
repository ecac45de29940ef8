"""A text beyond the table of positions, under a real session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.callsites import text_cuts
from debugtracer.session import active
from debugtracer.trace.facts.long_text import LongText
from tests.observers.told import facts
from tests.watching import under_watch


class Reader(nn.Module):
    """A table of words, and one of places."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 4)
        self.places = nn.Embedding(8, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        value: torch.Tensor = self.words(ids) + self.places(torch.arange(ids.shape[-1]))
        return value


def read(text: list[int], longest: int) -> None:
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.tensor([text[:longest]])).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(out: Path, text: list[int], longest: int) -> list[Any]:
    with under_watch(out), pytest.raises(IndexError):
        try:
            read(text, longest)
        except Exception as raised:
            active().crashed(raised)  # type: ignore[union-attr]
            raise
    return facts(out, LongText)


def test_its_length_the_table_s_and_the_line_that_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cuts, "program_files", lambda: [__file__])
    (fact,) = seen(tmp_path, list(range(3, 14)), 20)
    assert (fact.tokens, fact.positions, fact.limit) == (11, 8, 20)
    assert fact.cut is not None and fact.cut.code == "loss = model(torch.tensor([text[:longest]])).pow(2).sum()"


def test_without_a_line_the_two_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cuts, "program_files", lambda: None)
    (fact,) = seen(tmp_path, list(range(3, 14)), 20)
    assert (fact.tokens, fact.positions, fact.cut) == (11, 8, None)


def test_a_word_that_the_table_does_not_have_is_none(tmp_path: Path) -> None:
    assert seen(tmp_path, [4, 99, 7, 1], 20) == []
