"""Tables of positions in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.placed_rows import PlacedRows
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Reader(nn.Module):
    def __init__(self, way, rows=40, each=False):
        super().__init__()
        self.way, self.each = way, each
        self.inside = nn.Linear(3, 8)
        table = torch.randn(rows, 1, 8)
        if way == "a parameter":
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table)
        self.head = nn.Linear(8, 2)
        self.at = 0

    def forward(self, x):
        x = self.inside(x)
        if self.way == "positions":
            x = x + self.table[: x.size(1)].transpose(0, 1)
        elif self.way == "time first":
            x = (x.transpose(0, 1) + self.table[: x.size(1)]).transpose(0, 1)
        elif self.way == "moving":
            x = x + self.table[self.at : self.at + x.size(0)]
            self.at += x.size(0)
        elif self.way == "in place":
            x += self.table[: x.size(0)]
        elif self.way == "turned round":
            x = self.table[: x.size(0)] + x
        else:
            x = x + self.table[: x.size(0)]
        return self.head(x) if self.each else self.head(x.mean(1))


def told(out, model, loader=True, same=False):
    torch.manual_seed(0)
    inputs, labels = torch.randn(24, 5, 3), torch.randint(0, 2, (24, 5) if model.each else (24,))
    batches = (
        DataLoader(TensorDataset(inputs, labels), 6)
        if loader
        else [*zip(inputs.split(6), labels.split(6), strict=True)]
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for x, y in [next(iter(batches))] * 4 if same else batches:
            optimizer.zero_grad()
            F.cross_entropy(model(x).flatten(0, -2), y.flatten()).backward()
            optimizer.step()
    return facts(out, PlacedRows), findings(out, "placed-by-batch")


@pytest.mark.parametrize("way", ["a buffer", "a parameter", "in place", "turned round"])
def test_a_table_that_is_added_along_the_batch_is_told(tmp_path, way):
    found, said = told(tmp_path, Reader(way))
    assert {(f.shape, f.added, f.stored, f.name) for f in found} == {((6, 5, 8), (6, 1, 8), 40, "table")}
    assert all(f.by_loader for f in found)
    assert [f.severity for f in said] == ["warning"]


def test_outputs_of_one_row_a_sample_say_which_dimension_is_the_batch(tmp_path):
    found, said = told(tmp_path, Reader("a buffer"), loader=False)
    assert found and not any(f.by_loader for f in found)
    assert len(said) == 1


@pytest.mark.parametrize("way", ["positions", "time first", "moving"])
def test_other_tables_are_left_alone(tmp_path, way):
    assert told(tmp_path, Reader(way))[1] == []


def test_what_nobody_knows_to_be_the_batch_is_left_alone(tmp_path):
    assert told(tmp_path, Reader("a buffer", each=True), loader=False) == ([], [])


def test_a_table_with_a_vector_for_each_sample_is_left_alone(tmp_path):
    assert told(tmp_path, Reader("a buffer", rows=6)) == ([], [])


def test_one_batch_over_and_over_is_left_alone(tmp_path):
    assert told(tmp_path, Reader("a buffer"), same=True) == ([], [])


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["placed-rows"]
        x, table = torch.randn(6, 5, 8), torch.randn(40, 1, 8)
        observer.called(torch.add, (x, table[:6]), {}, x)
        assert observer.sums
        session.dispatcher.missed()
        assert not observer.sums


class Rays(nn.Module):
    each = False

    def __init__(self, copied):
        super().__init__()
        self.copied, self.head = copied, nn.Linear(3, 2)

    def forward(self, rays):
        rays = rays.clone() if self.copied else rays
        along = rays[:, None, 3:6] * torch.linspace(1, 2, 5)[None, :, None]
        return self.head(rays[:, 0:3].unsqueeze(1) + along).mean(1)


@pytest.mark.parametrize("copied", [False, True])
def test_columns_of_the_batch_are_no_table(tmp_path, copied):
    torch.manual_seed(0)
    model = Rays(copied)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for rays, y in DataLoader(TensorDataset(torch.randn(24, 8), torch.randint(0, 2, (24,))), 6):
            optimizer.zero_grad()
            F.cross_entropy(model(rays), y).backward()
            optimizer.step()
    assert (facts(tmp_path, PlacedRows), findings(tmp_path, "placed-by-batch")) == ([], [])
