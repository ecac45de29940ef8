"""Samples without a target, in real loaders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.trace.facts.untaught_rows import UntaughtRows
from tests.observers.observing import observed

IDS = torch.randint(1, 30, (96, 8), generator=torch.Generator().manual_seed(1))
Label = Callable[[int, Tensor], Tensor]
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


class Texts(Dataset[Any]):
    """Texts with labels that a function makes."""

    def __init__(self, label: Label, ids: Tensor = IDS) -> None:
        self.label, self.ids = label, ids

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"ids": self.ids[index], "labels": self.label(index, self.ids[index].clone())}


def plain(scores: Tensor, hidden: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def found(out: Path, label: Label, loss: Loss = plain, ids: Tensor = IDS) -> list[UntaughtRows]:
    def loop() -> None:
        torch.manual_seed(0)
        table, scores = nn.Embedding(30, 8), nn.Linear(8, 30)
        optimizer = torch.optim.SGD([*table.parameters(), *scores.parameters()], lr=0.01)
        for _ in range(4):
            for batch in DataLoader(Texts(label, ids), 8, shuffle=True):
                optimizer.zero_grad()
                hidden = table(batch["ids"])
                loss(scores(hidden), hidden, batch["labels"]).backward()
                optimizer.step()

    return observed(out, loop, UntaughtRows)


def third_blank(index: int, labels: Tensor) -> Tensor:
    labels[:3] = -100
    if index % 3 == 0:
        labels[:] = -100
    return labels


def test_samples_without_a_target_are_told_once_by_their_index(tmp_path: Path) -> None:
    (fact,) = found(tmp_path / "runs", third_blank)
    assert (fact.path, fact.ignored, fact.loss) == ("batch['labels']", -100, "cross_entropy")
    assert fact.empty == len(fact.samples) > 8 and all(index % 3 == 0 for index in fact.samples)
    assert fact.rows == 96 and fact.written is not None and fact.written.code == "labels[:] = -100"


def prompt_hidden(index: int, labels: Tensor) -> Tensor:
    labels[:5] = -100
    return labels


def masked_at_random(index: int, labels: Tensor) -> Tensor:
    """Few of few words: a third of the texts has none of them in a draw."""
    return labels.masked_fill(torch.rand(len(labels)) > 0.12, -100)


@pytest.mark.parametrize("label", [prompt_hidden, masked_at_random])
def test_silent_of_labels_that_count(tmp_path: Path, label: Label) -> None:
    assert found(tmp_path / "runs", label) == []


def two_terms(scores: Tensor, hidden: Tensor, labels: Tensor) -> Tensor:
    return plain(scores, hidden, labels) + 0.1 * hidden.square().mean()


def two_losses(scores: Tensor, hidden: Tensor, labels: Tensor) -> Tensor:
    nn.functional.mse_loss(hidden, torch.zeros_like(hidden))
    return plain(scores, hidden, labels)


@pytest.mark.parametrize("loss", [two_terms, two_losses])
def test_silent_where_another_term_may_teach_them(tmp_path: Path, loss: Loss) -> None:
    assert found(tmp_path / "runs", third_blank, loss) == []


def test_rows_that_are_filler_throughout_are_no_samples(tmp_path: Path) -> None:
    ids = IDS.clone()
    ids[::3] = 0
    assert found(tmp_path / "runs", third_blank, ids=ids) == []
