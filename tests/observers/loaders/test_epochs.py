"""Loaders of a real run: their passes, orders, restarts and overlaps."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, WeightedRandomSampler

from debugtracer.observers.loaders.epochs import cores, labels_of
from debugtracer.session import active
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.epochs import Epoch, Overlap, Restart
from debugtracer.trace.facts.loaders import LoaderSeen
from tests.observers.observing import facts, fit, observed


def rows(count: int = 40) -> TensorDataset:
    made = torch.Generator().manual_seed(1)
    return TensorDataset(torch.randn(count, 3, generator=made), torch.arange(count) % 2)


def test_a_run_of_two_passes_and_an_evaluation(tmp_path):
    x, y = rows(80).tensors

    def loop():
        loader = DataLoader(TensorDataset(x[:40], y[:40]), 8, shuffle=True)
        other = DataLoader(TensorDataset(x[40:], y[40:]), 8)
        model = nn.Linear(3, 2)
        fit(loader, model, passes=2)
        with torch.no_grad():
            for batch, _ in other:
                model(batch)

    passes = observed(tmp_path, loop, Epoch)
    mine = [fact for fact in passes if fact.trains]
    assert [(fact.number, fact.batches, fact.expected, fact.shuffles, fact.ascending) for fact in mine] == [
        (0, 5, 5, True, False),
        (1, 5, 5, True, False),
    ]
    assert mine[0].order != mine[1].order
    assert [fact.batches for fact in passes if not fact.trains] == [5]
    seen = {fact.trains: fact for fact in facts(tmp_path, LoaderSeen)}
    assert (seen[True].length, seen[True].batch_size, seen[True].workers, seen[True].frame.code[:6]) == (
        40,
        8,
        0,
        "loader",
    )
    assert seen[False].frame.line == seen[True].frame.line + 1
    assert facts(tmp_path, BatchSeen) == []  # one rank has nothing to compare
    assert facts(tmp_path, Overlap) == []


def test_the_first_of_two_loaders_of_training_is_no_evaluation(tmp_path):
    """Its batches are not the ones fetched last, at no backward and at no call without a graph."""

    def loop():
        labelled, unlabelled = DataLoader(rows(), 8, shuffle=True), DataLoader(rows(80), 16, shuffle=True)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            for (x, y), (more, _) in zip(labelled, unlabelled, strict=True):
                with torch.no_grad():
                    guessed = model(more).argmax(1)
                output = model(torch.cat([x, more]))
                nn.functional.cross_entropy(output, torch.cat([y, guessed])).backward()
                optimizer.step()
                optimizer.zero_grad()

    passes = observed(tmp_path, loop, Epoch)
    assert {fact.evaluates for fact in passes if fact.loader == passes[0].loader and not fact.trains} <= {False}
    assert any(fact.trains for fact in passes)


def test_loaders_of_two_parts_that_one_line_builds_are_two(tmp_path):
    """As of a factory that is asked for the validation and for the test."""

    def made(count):
        return DataLoader(rows(count), 8)

    def loop():
        fit(DataLoader(rows(), 8, shuffle=True))
        with torch.no_grad():
            for count in (40, 80):
                for x, _ in made(count):
                    nn.Linear(3, 2)(x)

    evaluated = [fact for fact in observed(tmp_path, loop, Epoch) if not fact.trains]
    assert [(fact.number, fact.batches) for fact in evaluated] == [(0, 5), (0, 10)]
    assert len({fact.loader for fact in evaluated}) == 2


def test_a_pass_of_which_batches_were_missed_is_not_told(tmp_path):
    """From batch 2 to batch 6, counted over passes of 5."""

    def loop():
        seen = 0
        model, loader = nn.Linear(3, 2), DataLoader(rows(), 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            for x, y in loader:
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
                optimizer.zero_grad()
                seen += 1
                if seen in (2, 6):
                    active().dispatcher.rest(seen == 2)
                if seen == 6:
                    active().dispatcher.missed()

    passes = observed(tmp_path, loop, Epoch)
    assert [fact.batches for fact in passes] == [5, 5]


def test_a_sampler_without_set_epoch_draws_the_same_order(tmp_path):
    data = rows()
    loader = DataLoader(data, 4, sampler=DistributedSampler(data, 2, 0))
    first, second = observed(tmp_path, lambda: fit(loader, passes=2), Epoch)
    assert first.order == second.order
    assert (first.sampler_epoch, second.sampler_epoch, first.sampler) == (0, 0, "DistributedSampler")


def test_the_first_batch_again_and_again(tmp_path):
    loader = DataLoader(rows(), 2)

    def loop():
        fit(next(iter(loader)) for _ in range(12))

    (fact,) = observed(tmp_path, loop, Restart)
    assert (fact.first, fact.count, fact.asked, fact.batches) == (0, 10, 1, 20)


def test_whole_passes_in_a_fixed_order_are_no_restart_of_one_batch(tmp_path):
    loader = DataLoader(rows(8), 4)
    assert [fact.asked for fact in observed(tmp_path, lambda: fit(loader, passes=12), Restart)] == [2]


def test_one_loader_is_not_renewed_by_its_passes(tmp_path):
    loader = DataLoader(rows(8), 4)

    def loop():
        model = nn.Linear(3, 2)
        for _ in range(3):
            fit(loader, model)

    assert [fact.renewed for fact in observed(tmp_path, loop, Epoch)] == [False] * 3


def test_a_loader_built_anew_at_the_same_line_goes_on(tmp_path):
    def loop():
        model = nn.Linear(3, 2)
        for _ in range(3):
            fit(DataLoader(rows(8), 4, shuffle=True), model)

    seen = observed(tmp_path, loop, Epoch)
    assert [(fact.loader, fact.number, fact.renewed) for fact in seen] == [(0, 0, False), (0, 1, True), (0, 2, True)]


def test_rows_of_the_evaluation_that_were_trained_on(tmp_path):
    x, y = rows(60).tensors
    train, held = (
        DataLoader(TensorDataset(x[:40], y[:40]), 8, shuffle=True),
        DataLoader(TensorDataset(x[30:], y[30:]), 10),
    )

    def loop():
        model = nn.Linear(3, 2)
        fit(train, model)
        with torch.no_grad():
            for a, _ in held:
                model(a)

    (fact,) = observed(tmp_path, loop, Overlap)
    assert (fact.shared, fact.rows, set(fact.samples) <= set(range(10))) == (10, 30, True)


def test_a_pool_that_is_scored_and_trained_on_afterwards_shares_nothing(tmp_path):
    x, y = rows(60).tensors

    def loop():
        model = nn.Linear(3, 2)
        fit(DataLoader(TensorDataset(x[:20], y[:20]), 8), model)
        with torch.no_grad():
            for a, _ in DataLoader(TensorDataset(x[20:], y[20:]), 10):
                model(a)
        fit(DataLoader(TensorDataset(x[:40], y[:40]), 8), model)

    assert observed(tmp_path, loop, Overlap) == []


def test_a_loader_that_is_zipped_behind_another_is_no_evaluation(tmp_path):
    x, y = rows(60).tensors

    def loop():
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for (a, b), (c, d) in zip(
            DataLoader(TensorDataset(x, y), 8), DataLoader(TensorDataset(x, y), 8, shuffle=True), strict=True
        ):
            loss = nn.functional.cross_entropy(model(a), b) + nn.functional.cross_entropy(model(c), d)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert observed(tmp_path, loop, Overlap) == []


def test_two_loaders_that_both_train_are_no_evaluation(tmp_path):
    first, second = (DataLoader(rows(), batch_size=10, shuffle=True) for _ in range(2))

    def loop():
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(3):
            for one, other in zip(first, second, strict=True):
                for x, y in (one, other):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(x), y).backward()
                    optimizer.step()

    assert {fact.trains for fact in observed(tmp_path, loop, Epoch)} == {True}


def test_a_batch_kept_from_the_start_to_look_at_is_no_training(tmp_path):
    """Pictures that the model in training mode encodes now and then, without a `no_grad`."""

    def loop():
        pictures, _ = next(iter(DataLoader(rows(80), 16)))
        model = nn.Linear(3, 2)
        for _ in range(20):
            fit(DataLoader(rows(), 8, shuffle=True), model)
            model(pictures).argmax(1).unique()

    observed(tmp_path, loop, Epoch)
    assert sorted(fact.trains for fact in facts(tmp_path, LoaderSeen) if fact.length == 80) == [False]


def test_labels_are_counted_where_there_are_few():
    x = torch.randn(4, 3)
    assert labels_of([x, torch.tensor([1, 1, 0, 5])], 4) == ((0, 1), (1, 2), (5, 1))
    assert labels_of([x, torch.arange(100)], 100) == ()
    assert labels_of([x], 4) == ()
    assert cores() >= 1


def test_the_weights_of_a_sampler_are_counted(tmp_path):
    weighted = WeightedRandomSampler([0.5, 0.5], num_samples=40)
    (seen,) = observed(tmp_path / "a", lambda: fit(DataLoader(rows(), 8, sampler=weighted)), LoaderSeen)
    assert (seen.weights, seen.draws, seen.length) == (2, 40, 40)
    assert seen.sampler_frame is not None
    assert "WeightedRandomSampler(" in seen.sampler_frame.code
    (plain,) = observed(tmp_path / "b", lambda: fit(DataLoader(rows(), 8, shuffle=True)), LoaderSeen)
    assert (plain.weights, plain.draws, plain.sampler_frame) == (None, None, None)
