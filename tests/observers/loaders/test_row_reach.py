"""Datasets that answer more than their length, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.trace.facts.row_reach import RowReach
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Windows(Dataset):
    """Four files of ten windows."""

    def __init__(self, get=None):
        self.files, self.asked, self.get = [torch.zeros(10, 3)] * 4, 0, get

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        self.asked += 1
        torch.rand(1)
        return self.get(self, index) if self.get else self.files[index // 10][index % 10]


class Limited(Windows):
    def __init__(self):
        super().__init__()
        self.limit = 4

    def __len__(self):
        return min(self.limit, 40)


class Chosen(Limited):
    def __len__(self):
        return self.limit if self.limit else len(self.files)


def told(out, data, passes=2, subset=False):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(passes):
            for x in DataLoader(Subset(data, range(4)) if subset else data, batch_size=2):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
    return facts(out, RowReach), findings(out, "rows-beyond-length")


@pytest.mark.parametrize("passes", [1, 2])
def test_windows_beyond_the_number_of_files_are_told(tmp_path, passes):
    data = Windows()
    torch.manual_seed(1)
    (fact,), (finding,) = told(tmp_path, data, passes)
    assert (fact.length, fact.reach, fact.counts) == (4, 40, True)
    assert fact.frame.code == "return len(self.files)"
    assert finding.severity == "warning"
    assert data.asked == 4 * passes


@pytest.mark.parametrize("kind", [Limited, Chosen])
def test_a_limit_that_was_given_is_a_note(tmp_path, kind):
    assert [f.severity for f in told(tmp_path, kind())[1]] == ["note"]


def modulo(data, index):
    return data.files[index % 4][0]


def sliced(data, index):
    return torch.arange(12.0).view(4, 3).repeat(1, 1)[index : index + 1].sum(0) if index < 4 else torch.zeros(0)


def exact(data, index):
    return data.files[index][0]


def fails(data, index):
    if index > 3:
        raise RuntimeError("no such file")
    return data.files[index][0]


def leaves(data, index):
    if index >= 4:
        raise SystemExit("not this one")
    return torch.zeros(3)


@pytest.mark.parametrize("get", [modulo, sliced, exact, fails, leaves])
def test_others_are_silent(tmp_path, get):
    assert told(tmp_path, Windows(get)) == ([], [])


def test_a_subset_is_meant(tmp_path):
    assert told(tmp_path, Windows(), subset=True) == ([], [])


def once_a_pass(data, index):
    if index in data.seen:
        raise SystemExit("read twice")
    data.seen.add(index)
    return torch.zeros(3)


def test_a_dataset_that_notes_what_was_asked_of_it_reads_as_before(tmp_path):
    data = Windows(once_a_pass)
    data.seen = set()
    assert told(tmp_path, data, 1) == ([], [])
    assert data.seen == {0, 1, 2, 3}


class Part(Dataset):
    """Some of forty rows, by their indices."""

    def __init__(self, picks):
        self.rows, self.picks = torch.zeros(40, 3), picks

    def __len__(self):
        return len(self.picks)

    def __getitem__(self, index):
        return self.rows[index]


class Kept(Part):
    def __getitem__(self, index):
        return self.rows[self.picks[index]]


class Handed(Part):
    def place(self, index):
        return self.picks[index]

    def __getitem__(self, index):
        return self.rows[self.place(index) if index < len(self) else index]


@pytest.mark.parametrize("picks", [[3, 9, 20, 31], torch.tensor([3, 9, 20, 31]), {3, 9, 20, 31}], ids=type)
def test_chosen_rows_that_are_not_fetched_are_told_at_the_line_that_fetches(tmp_path, picks):
    (fact,), (finding,) = told(tmp_path, Part(picks))
    assert (fact.chosen, finding.place.frame.code) == ("picks", "return self.rows[index]")


def test_chosen_rows_that_are_fetched_are_silent(tmp_path):
    assert told(tmp_path, Kept([3, 9, 20, 31])) == ([], [])


def test_a_list_that_another_method_reads_and_one_of_no_rows_are_no_choice(tmp_path):
    for data in (Handed([3, 9, 20, 31]), Part(["a", "b", "c", "d"])):
        (fact,), _ = told(tmp_path / type(data).__name__, data)
        assert fact.chosen == ""
