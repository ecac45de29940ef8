"""Batches of losses that stand out, in a real loop under a real session."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.data.outlying_batch import PAST, OutlyingBatchObserver
from debugtracer.trace.events import Found, Observed
from debugtracer.trace.facts.fact import from_plain
from tests.observers.runs import a_run
from tests.watching import events, under_watch


def trained(out, spoiled: slice | None, steps=150):
    """Regression in batches of 10 in the order of the data; the targets of some rows are far off, their inputs are
    not."""
    torch.manual_seed(0)
    x = torch.randn(10 * steps, 4)
    y = x.sum(1, keepdim=True) + 0.1 * torch.randn(10 * steps, 1)
    if spoiled is not None:
        y[spoiled] *= -1.0
    model = nn.Linear(4, 1)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=10):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(xb), yb).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    return events(out)


def told(found):
    return [
        from_plain(e.word, e.fact) for e in found if isinstance(e, Observed) and e.word.startswith("outlying-batch/")
    ]


def test_the_samples_of_a_spike_are_kept_and_named_by_the_check(tmp_path):
    found = trained(tmp_path / "runs", slice(1100, 1120))
    facts = [fact for fact in told(found) if fact.ref.step in (110, 111)]
    assert [fact.ref.iteration for fact in facts] == [110, 111]
    assert facts[0].indices == tuple(range(1100, 1110))
    assert facts[0].backward.code.endswith(".backward()")
    (spike,) = [
        e.finding
        for e in found
        if isinstance(e, Found) and e.finding.check == "optimizer/loss-spike" and e.finding.severity == "warning"
    ]
    assert spike.iteration == 110
    assert spike.place.sample_index == tuple(range(1100, 1120))
    assert spike.place.frame.file.endswith("test_outlying_batch.py")


def two_tasks(out, again):
    """Losses that jump where a loader of another dataset, or of the same one, takes the place of the first."""
    torch.manual_seed(0)
    x = torch.randn(500, 4)
    first = TensorDataset(x, x.sum(1, keepdim=True))
    model = nn.Linear(4, 1)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for data, sign in ((first, 1), (first if again else TensorDataset(x, x.sum(1, keepdim=True)), -1)):
            for xb, yb in DataLoader(data, batch_size=10):
                optimizer.zero_grad()
                nn.functional.mse_loss(model(xb), sign * yb).backward()
                optimizer.step()
    return [fact.other_data for fact in told(events(out)) if fact.ref.step >= 50]


def test_the_first_batches_of_another_dataset_are_told_from_another_pass(tmp_path):
    assert two_tasks(tmp_path / "a", again=False)[:4] == [True] * 4
    again = two_tasks(tmp_path / "b", again=True)
    assert again
    assert not any(again)


def test_a_healthy_loop_is_told_of_rarely(tmp_path):
    assert len(told(trained(tmp_path / "runs", None))) <= 7


def observer_after(*losses: float) -> OutlyingBatchObserver:
    observer = OutlyingBatchObserver(a_run())
    for loss in losses:
        observer.backward_begins([torch.tensor(loss)])
    return observer


def test_the_sieve():
    observer = observer_after(*(1.0 + 0.01 * (step % 5) for step in range(PAST)))
    assert observer.stands_out(2.0)
    assert not observer.stands_out(1.1)
    assert not observer_after(*(1.0 + step % 5 for step in range(PAST))).stands_out(6.0)


def test_what_is_not_one_finite_number_is_passed_over():
    observer = OutlyingBatchObserver(a_run())
    for loss in (torch.ones(3), torch.tensor(float("nan")), torch.tensor(1)):
        observer.backward_begins([loss])
    observer.backward_begins([torch.tensor(1.0), torch.tensor(2.0)])
    assert list(observer.past) == []


def by_hand(out, spoiled: int | None, tail: float = 0.0):
    """Batches that are made anew from lists, in two epochs; one row of one of them may hold a number far off."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        for step in range(40):
            rows = torch.randn(8, 4)
            if step % 20 == spoiled:
                rows[5, 2] = 1e7
            loss = (model(rows) ** 2).mean() + tail * (step % 20 == 7)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    found = events(out)
    kept = [e.fact for e in found if isinstance(e, Observed) and e.word.startswith("far-number/")]
    return kept, [e.finding for e in found if isinstance(e, Found) and e.finding.check == "data/far-number"]


def test_a_number_far_off_in_a_batch_made_by_hand_is_told_before_there_is_a_past(tmp_path):
    kept, (finding,) = by_hand(tmp_path / "runs", 7)
    assert [fact["ref"]["step"] for fact in kept] == [7, 27]
    assert (finding.step, finding.place.batch_rows) == (7, (5,))
    assert "`rows` holds 10000000 in row 5, element 2, where" in finding.message
    assert finding.place.frame.code == "rows[5, 2] = 1e7"


def test_batches_alike_and_a_loss_that_no_number_made_are_not_told(tmp_path):
    assert by_hand(tmp_path / "a", None) == ([], [])
    assert by_hand(tmp_path / "b", None, tail=1e6) == ([], [])
