"""The samples fetched again without what draws random numbers."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from tests.interventions.building import Chain, trial
from tests.interventions.parts import HandNorm


class Compose:
    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x


def blank(x: Tensor) -> Tensor:
    """Augmentation that wipes a sample out, now and then."""
    return x * 0.0 if random.random() < 0.3 else x


class Rows(Dataset[Tensor]):
    def __init__(self, transform: Any) -> None:
        self.rows, self.transform, self.cache, self.asked = torch.rand(48, 4) + 0.5, transform, {}, 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Tensor:
        self.asked += 1
        made = self.transform(self.rows[index]) if self.transform else self.rows[index]
        self.cache[index] = made
        return made


def loop_over(dataset: Any, **settings: Any):
    def loop() -> None:
        torch.manual_seed(0)
        random.seed(3)
        model = Chain(HandNorm())
        optimizer = torch.optim.Adam(model.parameters())
        for x in DataLoader(dataset, batch_size=6, **settings):
            optimizer.zero_grad()
            model(x[0] if isinstance(x, list) else x).pow(2).mean().backward()
            optimizer.step()

    return loop


def test_random_transforms_are_skipped_others_stay_and_the_dataset_is_as_before(monkeypatch, tmp_path):
    dataset = Rows(Compose([lambda x: x * 2 + 1, blank, nn.Dropout(0.1)]))
    seen: list[Any] = []
    original = type(dataset).__getitem__
    score = trial(monkeypatch, tmp_path, loop_over(Subset(dataset, range(40)), shuffle=True), "augmentation-off")
    assert (score.finite, score.change) == (True, "6 samples fetched again without their random transforms"), score
    assert len(dataset.transform.transforms) == 3 and dataset.asked == 40
    assert type(dataset).__getitem__ is original and seen == []
    wiped = [made for made in dataset.cache.values() if not bool(made.any())]
    assert wiped  # the cache holds what the training saw, not what the trial fetched


class Stream(IterableDataset[Tensor]):
    def __iter__(self):
        return iter([torch.rand(4) * (n != 9) + 0.0 for n in range(12)])


class Noisy(Rows):
    def __getitem__(self, index: int) -> Tensor:
        return super().__getitem__(index) * (random.random() < 0.7)


REFUSED = {
    "the dataset is a stream": lambda: loop_over(Stream()),
    "the dataset has no transform": lambda: loop_over(
        TensorDataset(torch.rand(12, 4) * (torch.arange(12) != 9)[:, None])
    ),
    "the dataset draws random numbers outside its transforms": lambda: loop_over(Noisy(lambda x: x)),
    "the samples come out the same without their random transforms": lambda: loop_over(
        Rows(lambda x: x - x.mean() if float(x[0]) > 1.4 else x * (float(x[1]) > 0.7))
    ),
}


def test_where_it_cannot_be_done_the_reason_is_one_clause(monkeypatch, tmp_path):
    for number, (reason, make) in enumerate(REFUSED.items()):
        assert trial(monkeypatch, tmp_path / str(number), make(), "augmentation-off").refused == reason
