"""Collate functions that lose samples, and many that only look like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from debugtracer import session
from debugtracer.trace.facts.lost_samples import LostSamples
from tests.observers.told import facts
from tests.watching import under_watch

Sample = tuple[Tensor, Tensor, int]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Clips(Dataset[Sample]):
    """Twenty-four clips of eight numbers with a text of its own length and a label each."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(2)
        self.clips = torch.randn(24, 8, generator=generator)
        self.texts = [torch.randint(1, 50, (9 + 7 * n % 11,), generator=generator) for n in range(24)]
        self.asked = 0

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> Sample:
        self.asked += 1
        return self.clips[index], self.texts[index], index % 3


def seen(tmp_path: Any, collate: Callable[[list[Sample]], dict[str, Any]], **more: Any) -> list[LostSamples]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        model, data = nn.Linear(8, 3), Clips()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            for batch in DataLoader(data, **({"batch_size": 8, "shuffle": True} | more), collate_fn=collate):
                optimizer.zero_grad()
                model(batch["clips"]).square().mean().backward()
                optimizer.step()
        assert data.asked == 48
    return facts(tmp_path, LostSamples)


def clips(batch: list[Sample]) -> Tensor:
    return torch.stack([clip for clip, _, _ in batch])


def padded(texts: list[Tensor]) -> Tensor:
    return pad_sequence(texts, batch_first=True)


def zipped(batch: list[Sample]) -> dict[str, Any]:
    """The clips are those of one text."""
    texts = [text for _, (_, text, _) in zip([clips(batch)], batch, strict=False)]
    return {"clips": clips(batch), "ids": padded(texts)}


def first_row(batch: list[Sample]) -> dict[str, Any]:
    """A row for each sample, of which the first alone is filled."""
    ids = torch.zeros(len(batch), 20, dtype=torch.long)
    for text in [batch[0][1]]:
        ids[0, : len(text)] = text
    return {"clips": clips(batch), "ids": ids}


def first_alone(batch: list[Sample]) -> dict[str, Any]:
    """The whole batch is its first sample."""
    return {"clips": batch[0][0][None], "ids": batch[0][1][None]}


@pytest.mark.parametrize("collate", [zipped, first_row, first_alone])
def test_of_which_only_the_first_sample_arrives(tmp_path: Any, collate: Any):
    (fact,) = seen(tmp_path, collate)
    assert fact.paths[-1] == "batch['ids']" and (fact.samples, fact.tried) == (8, 5)
    assert fact.whole == (("batch['clips']",) if collate is not first_alone else ())


def whole(batch: list[Sample]) -> dict[str, Any]:
    return {"clips": clips(batch), "ids": padded([text for _, text, _ in batch])}


def listed(batch: list[Sample]) -> dict[str, Any]:
    """A tensor of its own for each sample."""
    return {"clips": clips(batch), "texts": [text[None] for _, text, _ in batch]}


def shared(batch: list[Sample]) -> dict[str, Any]:
    """Positions for all, and the longest text tells how many."""
    ids = padded([text for _, text, _ in batch])
    return {"clips": clips(batch), "places": torch.arange(32)[None], "mask": torch.ones(1, *ids.shape).tril()}


def episode(batch: list[Sample]) -> dict[str, Any]:
    """One sample is asked about by the others."""
    return {"clips": clips(batch[1:]), "asked": batch[0][0][None]}


def masked(batch: list[Sample]) -> dict[str, Any]:
    """Something is drawn."""
    ids = padded([text for _, text, _ in batch])
    return {"clips": clips(batch) * (torch.rand(8) > 0.2), "ids": ids[torch.randperm(len(ids))[:1]]}


def packed(batch: list[Sample]) -> dict[str, Any]:
    """All texts in one row."""
    return {"clips": clips(batch), "ids": torch.cat([text for _, text, _ in batch])[None]}


def rated(batch: list[Sample]) -> dict[str, Any]:
    """A number of the first sample stands for all."""
    return {"clips": clips(batch), "length": torch.tensor([[len(batch[0][1])]])}


@pytest.mark.parametrize("collate", [whole, listed, shared, episode, masked, packed, rated])
def test_batches_that_are_meant_so(tmp_path: Any, collate: Any):
    assert seen(tmp_path, collate) == []


def test_two_samples_are_too_few_to_tell(tmp_path: Any):
    assert seen(tmp_path, zipped, batch_size=2) == []
