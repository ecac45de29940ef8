"""Ids of arrays of small unsigned integers, in real loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from debugtracer.trace.facts.narrow_ids import NarrowIds
from tests.observers.observing import facts
from tests.watching import under_watch


class Words(nn.Module):
    """A table and a head."""

    def __init__(self, rows: int = 450) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(rows, 4), nn.Linear(4, 3)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.table(ids))


class Book(Dataset[Tensor]):
    """Rows of small numbers."""

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows.to(torch.uint8)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Tensor:
        return self.rows[place].long()


def texts(most: int = 450, rows: int = 300, columns: int = 12) -> Tensor:
    return torch.randint(most, (rows, columns), generator=torch.Generator().manual_seed(1))


def trained(folder: Path, batches: Any, model: nn.Module | None = None, steps: int = 6) -> list[NarrowIds]:
    torch.manual_seed(0)
    model = model or Words()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(folder):
        for number, batch in zip(range(steps), batches, strict=False):
            del number
            ids = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(ids.long()).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return facts(folder, NarrowIds)


def test_the_array_of_a_dataset(tmp_path: Path) -> None:
    (fact,) = trained(tmp_path, DataLoader(Book(texts()), batch_size=20, shuffle=True))
    assert (fact.table, fact.size, fact.dtype, fact.limit, fact.source) == ("table", 450, "uint8", 255, "Book.rows")
    assert (fact.ids, fact.largest, fact.top, fact.below) == (3600, 255, 1.0, 1.0)
    assert fact.made
    assert fact.made[0].code == "self.rows = rows.to(torch.uint8)"
    assert fact.frame is not None
    assert "self.table(ids)" in fact.frame.code


def test_a_file_that_is_mapped_for_each_batch(tmp_path: Path) -> None:
    file = tmp_path / "train.bin"
    texts().numpy().astype(np.uint8).tofile(file)

    def drawn() -> Any:
        while True:
            data = np.memmap(file, dtype=np.uint8, mode="r")
            places = torch.randint(len(data) - 12, (8,)).tolist()
            yield torch.stack([torch.from_numpy(data[p : p + 12].astype(np.int64)) for p in places])

    before = vars(np.memmap)["__new__"]
    (fact,) = trained(tmp_path / "runs", drawn())
    assert (fact.source, fact.dtype, fact.ids) == ("train.bin", "uint8", 3600)
    assert fact.made
    assert "np.memmap" in fact.made[0].code
    assert vars(np.memmap)["__new__"] is before


def test_a_name_of_the_loop_and_one_byte_batches(tmp_path: Path) -> None:
    stored = texts().to(torch.uint8)
    (fact,) = trained(tmp_path / "a", stored.split(20))
    assert fact.source in ("stored", "batches") or fact.source.startswith("batches")
    found = trained(tmp_path / "b", DataLoader(TensorDataset(stored), batch_size=60))
    assert [(f.dtype, f.largest) for f in found] == [("uint8", 255)]


def test_labels_by_their_places(tmp_path: Path) -> None:
    classes = texts(365, 400, 1)[:, 0].to(torch.uint8)
    data = DataLoader(TensorDataset(torch.randn(400, 3), classes), batch_size=40, shuffle=True)
    model = nn.Linear(3, 365)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x, y in data:
            nn.functional.cross_entropy(model(x), y.long()).backward()
            optimizer.step()
            optimizer.zero_grad()
    (fact,) = facts(tmp_path, NarrowIds)
    assert (fact.table, fact.size, fact.ids, fact.largest) == ("", 365, 400, 255)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (DataLoader(TensorDataset(texts().to(torch.int16)), batch_size=20), 450),
        (DataLoader(Book(texts(256)), batch_size=20), 256),
        ([row + 190 for row in texts(200).to(torch.uint8).long().split(20)], 450),
    ],
    ids=["a type that is wide enough", "a table that fits", "moved by an offset"],
)
def test_other_ids_are_silent(tmp_path: Path, data: Any, rows: int) -> None:
    assert trained(tmp_path, data, Words(rows)) == []


def test_ids_that_go_further_later_are_silent(tmp_path: Path) -> None:
    book = Book(texts(256))
    model = Words()

    def both() -> Any:
        yield from (book.rows[start : start + 20].long() for start in range(0, 80, 20))
        yield texts(450)

    assert trained(tmp_path, both(), model) == []


def test_pictures_beside_ids_are_not_their_store(tmp_path: Path) -> None:
    pictures = texts(256, 400, 64).to(torch.uint8)
    ids = texts(200, 400, 1)[:, 0]
    data = DataLoader(TensorDataset(pictures, ids), batch_size=40)
    model = nn.Linear(64, 365)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x, y in data:
            nn.functional.cross_entropy(model(x.float() / 255), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert facts(tmp_path, NarrowIds) == []
