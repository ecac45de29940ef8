"""Parts of one dataset of which each was to have a setting of its own, in real loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.observers.loaders import shared_settings
from debugtracer.trace.facts.shared_setting import SharedSetting
from tests.observers.observing import fit, observed


class Rows(Dataset[Any]):
    """Some rows with a transform."""

    def __init__(self) -> None:
        self.x = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
        self.transform: Any = None

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return (self.transform(self.x[index]) if self.transform else self.x[index]), index % 2


def parts(whole: Any, other: Any) -> tuple[Any, Any]:
    """Two parts, of the same dataset or of two."""
    return Subset(whole, range(24)), Subset(other, range(24, 40))


def train(one: Any, two: Any) -> None:
    """An epoch over the first part, an evaluation on the second."""
    model = nn.Linear(3, 2)
    fit(DataLoader(one, 8), model, passes=2)
    with torch.no_grad():
        for x, _ in DataLoader(two, 8):
            model(x)


@pytest.fixture(autouse=True)
def _own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_settings, "program_files", lambda: [__file__])


@pytest.mark.parametrize("same", [True, False])
def test_two_parts_of_one_dataset_with_two_settings_are_told(tmp_path: Path, same: bool) -> None:
    def loop() -> None:
        whole = Rows()
        one, two = parts(whole, whole if same else Rows())
        one.dataset.transform = torch.neg
        two.dataset.transform = torch.abs
        train(one, two)

    found = observed(tmp_path, loop, SharedSetting)
    assert [(fact.dataset, fact.attribute) for fact in found] == ([("Rows", "transform")] if same else [])
    if same:
        assert found[0].last.code == "two.dataset.transform = torch.abs"
        assert found[0].last.line == found[0].first.line + 1
        assert len(found[0].loaders) == 2


def test_parts_that_hold_no_such_attribute_are_left_alone(tmp_path: Path) -> None:
    def loop() -> None:
        whole = torch.utils.data.TensorDataset(torch.randn(40, 3), torch.arange(40) % 2)
        train(*parts(whole, whole))

    assert observed(tmp_path, loop, SharedSetting) == []
