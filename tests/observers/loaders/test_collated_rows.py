"""Collate functions that sort: all parts of a batch, or one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from debugtracer import session
from debugtracer.observers.loaders.collated_rows import begins, pairs_apart, samples_of_rows
from debugtracer.trace.facts.collated_rows import CollatedRows
from tests.observers.told import facts
from tests.watching import under_watch

Sample = tuple[Tensor, Tensor]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Texts(Dataset[Sample]):
    """Twenty-four pictures with a text of its own length each, which notes what it was asked for."""

    def __init__(self, noisy: bool = False) -> None:
        self.pictures, self.noisy, self.asked = torch.randn(24, 5), noisy, 0
        self.texts = [torch.randint(1, 50, (3 + 7 * n % 11,)) for n in range(24)]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> Sample:
        self.asked += 1
        noise = torch.randn(5) if self.noisy else torch.zeros(5)
        return self.pictures[index] + noise, self.texts[index]


def seen(tmp_path: Any, collate: Callable[[list[Sample]], Any], noisy: bool = False) -> list[CollatedRows]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        model, data = nn.Linear(5, 1), Texts(noisy)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            for batch in DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate):
                optimizer.zero_grad()
                model(batch[0]).square().mean().backward()
                optimizer.step()
        assert data.asked == 48
    return facts(tmp_path, CollatedRows)


def length(text: Tensor) -> int:
    return -len(text)


def one_side(samples: list[Sample]) -> Any:
    pictures, texts = zip(*samples, strict=True)
    texts = sorted(texts, key=length)
    return torch.stack(pictures), pad_sequence(texts, batch_first=True), [len(text) for text in texts]


def whole(samples: list[Sample]) -> Any:
    samples.sort(key=lambda sample: length(sample[1]))
    pictures, texts = zip(*samples, strict=True)
    return torch.stack(pictures), pad_sequence(texts, batch_first=True)


def mixed(samples: list[Sample]) -> Any:
    pictures, texts = zip(*samples, strict=True)
    every, order = torch.stack(pictures), torch.argsort(torch.stack(pictures)[:, 0])
    return every, pad_sequence(texts, batch_first=True), every[order]


def drawn(samples: list[Sample]) -> Any:
    pictures, texts = zip(*samples, strict=True)
    return torch.stack(pictures), pad_sequence(texts, batch_first=True)[torch.randperm(len(texts))]


def labelled(samples: list[Sample]) -> Any:
    pictures, texts = zip(*samples, strict=True)
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    other = pad_sequence([texts[n] for n in order], batch_first=True)
    return torch.stack(pictures), other, torch.tensor([n == place for place, n in enumerate(order)])


def unsorted(samples: list[Sample]) -> Any:
    pictures, texts = zip(*samples, strict=True)
    return torch.stack(pictures), pad_sequence(texts, batch_first=True)


def test_one_side_that_is_sorted_alone_is_told_once(tmp_path):
    (fact,) = seen(tmp_path, one_side)
    assert (fact.path, fact.other, fact.rows) == ("batch[1]", "batch[0]", 8)
    assert fact.apart >= 2
    assert all(one != other for one, other in fact.first)
    assert fact.frame is not None
    assert "sorted(texts" in fact.frame.code


@pytest.mark.parametrize("collate", [whole, mixed, drawn, labelled, unsorted])
def test_silent_where_it_is_right_or_meant(tmp_path, collate):
    assert not seen(tmp_path, collate)


def test_silent_where_the_samples_are_drawn_anew(tmp_path):
    assert not seen(tmp_path, one_side, noisy=True)


def test_rows_begin_with_a_sample_and_end_in_one_number():
    row = torch.tensor([4, 7, 0, 0])
    assert begins(row, torch.tensor([4, 7]))
    assert not begins(row, torch.tensor([4]))
    assert not begins(row, torch.tensor([4, 8]))
    assert not begins(row, torch.tensor([4.0, 7.0]))


def test_equal_samples_are_not_taken_for_others():
    alone = [{"a": torch.tensor([n]), "b": torch.tensor([n % 2])} for n in range(4)]
    held = {"a": torch.arange(4), "b": torch.tensor([0, 1, 0, 1])}
    found = samples_of_rows(held, alone, held)
    assert found is not None
    assert found["b"] == [[0, 2], [1, 3], [0, 2], [1, 3]]
    assert not pairs_apart(found)
    turned = held | {"b": torch.tensor([1, 0, 0, 1])}
    found = samples_of_rows(turned, alone, turned)
    assert found is not None
    assert pairs_apart(found)[0][2] == [0, 1]
