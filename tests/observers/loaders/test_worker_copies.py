"""Datasets that change under persistent workers, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from debugtracer.trace.facts.worker_copy import WorkerCopy
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Rows(Dataset):
    def __init__(self, noise=False, shared=False):
        self.rows, self.asked, self.noise = torch.zeros(8, 3), 0, noise
        self.level, self.passes = 1.0, 0
        if shared:
            self.rows.share_memory_()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.asked += 1
        row = self.rows[index] * self.level
        return row + torch.randn(3) if self.noise else row + index

    def turn(self):
        self.level = self.level + 1.0


def told(out, data, change, workers=1, persistent=True):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        loader = DataLoader(data, batch_size=4, num_workers=workers, persistent_workers=persistent)
        for number in range(3):
            if number:
                change(data)
            for x in loader:
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
    return facts(out, WorkerCopy), findings(out, "worker-copy-stale")


def replaced(data):
    data.rows = data.rows + 1.0


def test_a_replaced_table_is_proven(tmp_path):
    data = Rows()
    (fact,), (finding,) = told(tmp_path, data, replaced)
    assert (fact.number, fact.names, fact.proven, fact.sample) == (1, ("rows",), True, 0)
    assert (finding.severity, finding.exact) == ("error", True)
    assert "DataLoader(" in finding.place.frame.code
    assert data.asked == 0


def test_random_samples_are_a_warning_with_the_line_that_changes(tmp_path):
    (fact,), (finding,) = told(tmp_path, Rows(noise=True), lambda data: data.turn())
    assert (fact.names, fact.proven) == (("level",), False)
    assert fact.written.code == "self.level = self.level + 1.0"
    assert (finding.severity, finding.exact) == ("warning", False)


def in_place(data):
    data.rows += 1.0


def counted(data):
    data.passes += 1


def looked_at(data):
    data[0]


def no_other_sample(data):
    data.level = 7.0  # times 0


CASES = {
    "shared": (Rows(shared=True), in_place),
    "not read": (Rows(), counted),
    "looked at": (Rows(), looked_at),
    "looked at, random": (Rows(noise=True), looked_at),
    "the same samples": (Rows(), no_other_sample),
}


@pytest.mark.parametrize("name", CASES)
def test_what_reaches_the_workers_or_does_not_matter_is_silent(tmp_path, name):
    assert told(tmp_path, *CASES[name]) == ([], [])


def test_workers_made_anew_are_silent(tmp_path):
    assert told(tmp_path, Rows(), replaced, persistent=False) == ([], [])
