"""Ids of training and evaluation, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.data.unseen_tokens import first_ids, places
from debugtracer.trace.facts.unseen_token import UnseenToken
from tests.observers.observing import observed

WORDS, LENGTH = 30, 8


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(WORDS, 6), nn.Linear(6, 3)

    def forward(self, ids: Tensor) -> Tensor:
        return self.out(self.words(ids).mean(1))


def text(generator: torch.Generator, rows: int = 16) -> Tensor:
    return torch.randint(2, WORDS, (rows, LENGTH), generator=generator)


def reading(encode: Callable[[Tensor], Tensor], trains: bool = True) -> Callable[[], None]:
    def loop() -> None:
        torch.manual_seed(0)
        g = torch.Generator().manual_seed(1)
        model = Reader()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            model.train()
            for _ in range(12):
                ids = text(g)
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(ids), ids[:, 0] % 3).backward()
                optimizer.step()
            model.train(not trains)
            with torch.no_grad():
                model(encode(text(g, 40)))

    return loop


def unknown(ids: Tensor) -> Tensor:
    return torch.where(ids % 3 == 0, 1, ids)


def padded(ids: Tensor) -> Tensor:
    return torch.where(torch.arange(LENGTH) > 4, 0, ids)


def test_unknown_words_of_an_evaluation_are_counted_beside_training(tmp_path: Path):
    facts = observed(tmp_path / "runs", reading(unknown), UnseenToken)
    assert [(f.root, f.number, f.token, f.tokens) for f in facts] == [("Reader", n, 1, 320) for n in range(3)]
    first = facts[0]
    assert 0.2 < first.share < 0.5 and first.trained == 0 and first.trained_tokens == 12 * 16 * LENGTH
    assert first.inside > 0.5 and first.columns == LENGTH and first.column_share < 0.3
    assert first.frame is not None and first.frame.code == "model(encode(text(g, 40)))"


def test_padding_stands_at_the_end(tmp_path: Path):
    facts = observed(tmp_path / "runs", reading(padded), UnseenToken)
    assert {(f.token, f.inside) for f in facts} == {(0, 0.0)}


@pytest.mark.parametrize("loop", [reading(lambda ids: ids), reading(unknown, trains=False)])
def test_the_same_text_and_a_model_left_in_training_mode_say_nothing(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, UnseenToken) == []


def test_what_are_ids():
    assert first_ids((torch.zeros(3, 2), torch.tensor([[2, 3], [4, 5]]))) is not None
    assert first_ids((torch.tensor([[0, 1], [1, 0]]),)) is None  # a mask
    assert first_ids((torch.tensor([[-1, 5], [1, 0]]),)) is None
    assert first_ids((torch.tensor([1, 2, 3]),)) is None
    assert first_ids((torch.tensor([[1], [2]]),)) is None


def test_where_an_id_stands():
    ids = torch.tensor([[1, 5, 1, 7, 1], [1, 1, 6, 8, 9]])
    assert places(ids, 1) == (1 / 5, 4, 2 / 5)
