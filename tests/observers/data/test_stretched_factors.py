"""Values of rows that meet rows, in real sessions."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.trace.facts.stretched_factors import StretchedFactors
from tests.observers.told import facts, findings
from tests.watching import under_watch

SIZE, LEVELS = 8, 20


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Denoiser(nn.Module):
    """Told the level of each row, in a column or by an embedding."""

    def __init__(self, by="column"):
        super().__init__()
        self.body, self.by, self.levels = nn.Linear(SIZE, SIZE), by, nn.Embedding(LEVELS, SIZE)

    def forward(self, x, t=None):
        if self.by == "embedding":
            return self.body(x) + self.levels(t).view(-1, *(1,) * (x.dim() - 2), SIZE)
        if self.by == "column":
            return self.body(x) + (t / LEVELS)[(..., *(None,) * (x.dim() - 1))]
        return self.body(x)


def picked(x, t, table):
    return table[t].sqrt() * x + (1 - table[t]).sqrt() * torch.randn_like(x)


def gathered(x, t, table):
    return x + torch.randn_like(x) * table.gather(-1, t)


def mended(x, t, table):
    share = table[t].view(-1, *(1,) * (x.dim() - 1))
    return share.sqrt() * x + (1 - share).sqrt() * torch.randn_like(x)


def weighed(x, t, table):
    return x * table[torch.arange(SIZE)]


def scaled_twice(x, t, table):
    return weighed(x, t, table) * torch.rand(SIZE)


MIXED = {"picked": picked, "gathered": gathered}
HEALTHY = {"mended": mended, "weights of the columns": weighed, "noise of the columns": scaled_twice}


def told(out, mix, by="column", shape=(4, SIZE, SIZE), sizes=(SIZE,)):
    torch.manual_seed(0)
    table = torch.linspace(0.9, 0.1, LEVELS)
    loaders = [DataLoader(TensorDataset(torch.randn(rows * 3, *shape[1:])), rows) for rows in sizes]
    model = Denoiser(by)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for (x,) in itertools.chain(*zip(*loaders, strict=True)):
            t = torch.randint(0, LEVELS, (SIZE,))
            optimizer.zero_grad()
            F.mse_loss(model(mix(x, t, table), t), x).backward()
            optimizer.step()
    return facts(out, StretchedFactors), findings(out, "factor-stretched")


@pytest.mark.parametrize("by", ["column", "embedding"])
@pytest.mark.parametrize("name", list(MIXED))
def test_values_of_rows_along_the_last_dimension_are_told(tmp_path, name, by):
    found, said = told(tmp_path, MIXED[name], by)
    assert {(f.function, f.shape, f.source) for f in found} == {("mul", (SIZE, SIZE, SIZE), "randint")}
    assert [f.severity for f in said] == ["warning"] * len({f.frame for f in found})


def test_rows_of_one_dimension_are_told(tmp_path):
    found, said = told(tmp_path, picked, shape=(4, SIZE))
    assert {f.shape for f in found} == {(SIZE, SIZE)}
    assert said


@pytest.mark.parametrize("name", list(HEALTHY))
def test_columns_and_values_that_belong_to_columns_are_silent(tmp_path, name):
    assert told(tmp_path, HEALTHY[name]) == ([], [])


def test_a_line_that_meets_batches_of_other_sizes_means_the_columns(tmp_path):
    def of_columns(x, t, table):
        return x * table[t] + 0 * table[t][:, None].mean()

    assert told(tmp_path, of_columns, by="nothing", sizes=(4, SIZE)) == ([], [])
    session.stop()


def test_values_that_nothing_takes_as_one_a_row_are_silent(tmp_path):
    assert told(tmp_path, picked, by="nothing") == ([], [])


def test_pairs_of_a_batch_are_silent(tmp_path):
    def corrected(x, t, table):
        return x + 0 * (torch.randn(SIZE, 4) @ torch.randn(4, SIZE) - table[t])

    assert told(tmp_path, corrected, shape=(4, SIZE)) == ([], [])


def test_rows_that_were_taken_by_number_are_rows(tmp_path):
    torch.manual_seed(0)
    data, model = torch.randn(40, SIZE), Denoiser()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(3):
            x, time = data[torch.randint(0, 40, (SIZE,))], torch.rand(SIZE)
            F.mse_loss(model((1 - time) * x, time), x).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert {f.source for f in facts(tmp_path, StretchedFactors)} == {"rand"}
    assert len(findings(tmp_path, "factor-stretched")) == 1


def test_what_was_followed_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["stretched-factors"]
        for (x,) in DataLoader(TensorDataset(torch.randn(SIZE, SIZE)), SIZE):
            time = torch.rand(len(x))
            assert (time * x).shape == (SIZE, SIZE)
            assert time[:, None].shape == (SIZE, 1)
            assert observer.values and observer.rows and observer.lined and observer.columns
        watched.dispatcher.missed()
        assert not (observer.values or observer.rows or observer.lined or observer.columns or observer.sources)


def test_scores_of_shared_negatives_less_their_share_are_silent(tmp_path):
    torch.manual_seed(0)
    items, body = nn.Embedding(50, 4), nn.Linear(SIZE, 4)
    optimizer = torch.optim.SGD([*items.parameters(), *body.parameters()], lr=0.01)
    share = torch.rand(50).log()
    with under_watch(tmp_path):
        for (x,) in DataLoader(TensorDataset(torch.randn(3 * SIZE, SIZE)), SIZE):
            negatives = torch.randint(0, 50, (SIZE,))
            optimizer.zero_grad()
            (body(x) @ items(negatives).T - share[negatives]).logsumexp(-1).mean().backward()
            optimizer.step()
    assert facts(tmp_path, StretchedFactors) == []
