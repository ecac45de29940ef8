"""Datasets that write into what they hold, in real sessions; nothing of the look stays behind."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.trace.facts.fetch_write import FetchWrite
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Rows(Dataset):
    """Eight rows of three numbers."""

    def __init__(self, rows=None):
        self.x = torch.arange(24.0).reshape(8, 3) + 1 if rows is None else rows
        self.seen = torch.zeros(8)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.seen[index] += 1
        return torch.as_tensor(self.x[index])


class Scaled(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        row *= 0.5
        return torch.as_tensor(row)


class Hidden(Rows):
    def shaken(self, row):
        return row.add_(torch.randn(3))

    def __getitem__(self, index):
        return self.shaken(self.x[index])


class Assigned(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        row[0] = row[0] + 1
        return row.clone()


class Out(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        torch.mul(row, 0.5, out=row)
        return row.clone()


class Once(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        row /= row.norm()
        return row.clone()


class Copied(Rows):
    def __getitem__(self, index):
        row = self.x[index].clone()
        row *= 0.5
        return row


class Raises(Rows):
    asked = 0

    def __getitem__(self, index):
        type(self).asked += 1
        self.x[index].mul_(0.5)
        if type(self).asked > 8:
            raise OSError("the file is gone")
        return self.x[index].clone()


def trained(data, passes=1, **more):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    for _ in range(passes):
        for x in DataLoader(data, batch_size=2, **more):
            optimizer.zero_grad()
            model(x.float()).square().mean().backward()
            optimizer.step()


def told(out, data, **more):
    with under_watch(out):
        trained(data, **more)
    return facts(out, FetchWrite), findings(out, "fetch-writes")


@pytest.mark.parametrize(
    ("kind", "code"),
    [(Scaled, "row *= 0.5"), (Assigned, "row[0] = row[0] + 1"), (Out, "torch.mul(row, 0.5, out=row)")],
)
def test_a_row_that_each_fetch_changes_is_told_at_its_line(tmp_path, kind, code):
    (fact,), (finding,) = told(tmp_path, kind())
    assert (fact.dataset, fact.name, fact.sample, fact.rows) == (kind.__name__, "x", 4, 1)
    assert fact.frame is not None and fact.frame.code == code
    assert finding.severity == "warning"


def test_a_method_that_the_row_is_given_to_stands_at_the_call(tmp_path):
    (fact,), _ = told(tmp_path, Hidden())
    assert fact.frame is not None and fact.frame.code == "return self.shaken(self.x[index])"


def test_numpy_arrays_and_subsets_are_looked_at(tmp_path):
    (fact,), _ = told(tmp_path / "a", Scaled(np.arange(24.0).reshape(8, 3) + 1))
    assert fact.once == pytest.approx(0.5) and fact.twice == pytest.approx(0.75)
    (fact,), _ = told(tmp_path / "b", Subset(Scaled(), [1, 3, 5, 7]))
    assert fact.sample == 2


@pytest.mark.parametrize("kind", [Rows, Once, Copied])
def test_counters_what_is_done_once_and_copies_are_quiet(tmp_path, kind):
    assert told(tmp_path, kind()) == ([], [])


class Slotted(Dataset):
    __slots__ = ("x",)

    def __init__(self):
        self.x = torch.ones(8, 3)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.x[index].mul_(0.5).clone()


def test_memory_that_is_shared_or_a_files_is_left_alone(tmp_path):
    shared = Scaled()
    shared.x.share_memory_()
    assert told(tmp_path / "between", shared) == ([], [])
    lent = Scaled(np.frombuffer(bytearray(np.ones((8, 3)).tobytes())).reshape(8, 3))
    assert told(tmp_path / "lent", lent) == ([], [])
    assert told(tmp_path / "view", Scaled(np.ones((9, 3))[1:]))[1]


def test_a_dataset_without_attributes_by_name_is_left_alone(tmp_path):
    assert told(tmp_path, Slotted()) == ([], [])


def test_workers_that_are_made_anew_are_quiet(tmp_path):
    assert told(tmp_path, Scaled(), num_workers=1, passes=2) == ([], [])


@pytest.mark.parametrize("kind", [Scaled, Hidden, Out, Raises])
def test_the_data_and_generators_are_as_without_us(tmp_path, kind):
    def run():
        kind.asked = 0
        torch.manual_seed(3)
        data = kind()
        try:
            trained(data)
        except OSError:
            pass
        return data.x, torch.rand(1)

    bare = run()
    with under_watch(tmp_path):
        watched = run()
    assert torch.equal(bare[0], watched[0]) and torch.equal(bare[1], watched[1])
