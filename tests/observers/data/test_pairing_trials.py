"""Training on data whose sides stand in one order, and in two."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.class_blocks import ClassBlocks
from debugtracer.trace.facts.row_pairing import RowPairing
from tests.observers.told import facts, findings
from tests.watching import under_watch


def table(turned):
    x = torch.randn(400, 4, generator=torch.Generator().manual_seed(0))
    y = x[:, 0] + x[:, 1] * x[:, 2]
    return x, y.flip(0) if turned else y


def batches(x, y):
    data = TensorDataset(x, y)
    yield from DataLoader(data, 32, shuffle=True)


def indices(x, y):
    for rows in torch.randperm(400).split(32):
        yield x[rows], y[rows].unsqueeze(1)


def everything(x, y):
    for _ in range(4):
        yield x, y


def train(out, feed, turned, passes=1):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.01), []
    with under_watch(out):
        for _ in range(passes):
            for x, y in feed(*table(turned)):
                loss = F.mse_loss(model(x).reshape(y.shape), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    return losses, torch.get_rng_state()


@pytest.mark.parametrize("feed", [batches, indices, everything])
def test_a_side_that_was_turned_round_is_told(tmp_path, feed):
    train(tmp_path, feed, turned=True)
    (fact,) = facts(tmp_path, RowPairing)
    assert (fact.order, fact.rows, fact.kind) == ("reversed", 400, "numbers")
    assert fact.loss_frame.function == "train"
    (found,) = findings(tmp_path, "orders-differ")
    assert found.severity == "warning"


@pytest.mark.parametrize("feed", [batches, indices, everything])
def test_rows_that_belong_together_are_silent(tmp_path, feed):
    train(tmp_path, feed, turned=False)
    assert facts(tmp_path, RowPairing) == []


def widths(x, y):
    """Each batch is filled up to a width of its own."""
    rows = [(one, of) for one, of in zip(x, y, strict=True)]

    def joined(drawn):
        wide = int(torch.randint(4, 7, ()))
        return torch.stack([F.pad(one, (0, wide - 4)) for one, _ in drawn]), torch.stack([of for _, of in drawn])

    for one, of in DataLoader(rows, 32, shuffle=True, collate_fn=joined):
        yield one[:, :4], of


@pytest.mark.parametrize("turned", [True, False])
def test_batches_of_other_widths_are_not_joined(tmp_path, turned):
    train(tmp_path, widths, turned=turned, passes=6)
    assert facts(tmp_path, RowPairing) == []


def spikes(kinds):
    x = torch.randn(len(kinds), 30)
    places = torch.randint(0, 29, (len(kinds),))
    x[torch.arange(len(kinds)), places] += 4.0 * kinds
    x[torch.arange(len(kinds)), places + 1] -= 4.0 * kinds
    return x


def shuffled_alone(kinds):
    x = spikes(kinds)
    order = torch.randperm(len(kinds))
    x = x[order]
    return DataLoader(TensorDataset(x, kinds), batch_size=32, shuffle=True)


def shuffled_both(kinds):
    x = spikes(kinds)
    order = torch.randperm(len(kinds))
    x = x[order]
    kinds = kinds[order]
    return DataLoader(TensorDataset(x, kinds), batch_size=32, shuffle=True)


def as_they_are(kinds):
    x = spikes(kinds)
    return DataLoader(TensorDataset(x, kinds), batch_size=32, shuffle=True)


@pytest.mark.parametrize(("made", "told"), [(shuffled_alone, 1), (shuffled_both, 0), (as_they_are, 0)])
def test_classes_in_blocks_beside_inputs_in_another_order(tmp_path, made, told):
    torch.manual_seed(0)
    with under_watch(tmp_path):
        loader = made((torch.arange(400) < 200).long())
        model = nn.Linear(30, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            for rows, kinds in loader:
                loss = F.cross_entropy(model(rows), kinds)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    found = facts(tmp_path, ClassBlocks)
    assert len(found) == told
    assert facts(tmp_path, RowPairing) == []
    assert all(fact.classes == 2 and fact.frame.code == "x = x[order]" for fact in found)
    assert findings(tmp_path, "orders-differ") == []


def test_two_losses_or_a_target_with_a_graph_are_not_asked(tmp_path):
    x, y = table(True)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for rows in torch.randperm(400).split(32):
            guess = model(x[rows]).flatten()
            (F.mse_loss(guess, y[rows]) + F.l1_loss(guess, y[rows].neg())).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert facts(tmp_path, RowPairing) == []


def test_watching_changes_no_number(tmp_path):
    losses, generator = train(tmp_path / "a", batches, turned=True, passes=2)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer, bare = torch.optim.SGD(model.parameters(), lr=0.01), []
    for _ in range(2):
        for x, y in batches(*table(True)):
            loss = F.mse_loss(model(x).reshape(y.shape), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bare.append(loss.item())
    assert losses == bare and torch.equal(generator, torch.get_rng_state())


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["pairing-trials"]
        observer.called(F.mse_loss, (torch.zeros(4), torch.ones(4)), {}, torch.ones(()))
        assert observer.loss_calls
        session.dispatcher.missed()
        assert not observer.loss_calls
