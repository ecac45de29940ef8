"""Counts of loops over loaders, of a real session."""

from __future__ import annotations

import ast
import sys

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

from debugtracer.observers.loaders.pass_counts import divisor_in, rows_given
from debugtracer.trace.facts.pass_count import PassCount
from tests.observers.told import facts, findings
from tests.watching import under_watch

DATA = TensorDataset(torch.randn(50, 4), torch.arange(50) % 2)


def epochs(out, evaluate, loader, count=3):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    train = DataLoader(DATA, batch_size=10)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(count):
            for x, y in train:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
            evaluate(model, loader)
    return facts(out, PassCount), findings(out, "miscounted")


def of_all(model, loader):
    right = 0
    with torch.no_grad():
        for x, y in loader:
            guess = model(x).argmax(1)
            right += (guess == y).sum().item()
    return right / len(loader.dataset)


def of_the_last(model, loader):
    right = 0
    for x, y in loader:
        with torch.no_grad():
            guess = model(x).argmax(1)
        right = (guess == y).sum().item()
    return right / len(loader.dataset)


def loss_of(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def epoch(model, optimizer):
    for x, y in DataLoader(DATA, batch_size=10):
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()


def going_on(model, optimizer, loader):
    held_out = 0.0
    for _ in range(3):
        epoch(model, optimizer)
        with torch.no_grad():
            for x, y in loader:
                held_out += loss_of(model, x, y).item()
        print(held_out / len(loader))


def set_anew(model, optimizer, loader):
    for _ in range(3):
        epoch(model, optimizer)
        held_out = 0.0
        with torch.no_grad():
            for x, y in loader:
                held_out += loss_of(model, x, y).item()
        print(held_out / len(loader))


def set_behind(model, optimizer, loader):
    held_out = 0.0
    for _ in range(3):
        epoch(model, optimizer)
        with torch.no_grad():
            for x, y in loader:
                held_out += loss_of(model, x, y).item()
        print(held_out / len(loader))
        held_out = 0.0


def growing(model, optimizer, loader):
    losses = []
    for _ in range(3):
        epoch(model, optimizer)
        for x, y in loader:
            with torch.no_grad():
                losses.append(loss_of(model, x, y).item() * len(x))
        print(sum(losses) / len(loader.dataset))


def emptied(model, optimizer, loader):
    losses = []
    for _ in range(3):
        epoch(model, optimizer)
        while losses:
            losses.pop()
        for x, y in loader:
            losses.append(loss_of(model, x, y).item() * len(x))
        print(sum(losses) / len(loader.dataset))


def kept(out, train):
    model = nn.Linear(4, 2)
    with under_watch(out):
        train(model, torch.optim.SGD(model.parameters(), lr=0.01), DataLoader(DATA, 10))
    return facts(out, PassCount)


def test_a_share_of_the_whole_data_where_a_sampler_gives_a_part_is_told(tmp_path):
    found, (finding,) = epochs(tmp_path, of_all, DataLoader(DATA, 8, sampler=SubsetRandomSampler(range(20))))
    assert [(one.kind, one.value, one.rows, one.batches) for one in found] == [("shared", 50.0, 20, 3)]
    assert finding.place.frame.code == "return right / len(loader.dataset)"


def test_a_count_of_the_last_batch_is_told(tmp_path):
    found, (finding,) = epochs(tmp_path, of_the_last, DataLoader(DATA, 20))
    assert [(one.kind, one.rows, one.batches) for one in found] == [("last", 50, 3)]
    assert finding.place.frame.code == "right = (guess == y).sum().item()"


@pytest.mark.parametrize("size", [8, 50])
def test_a_share_of_the_rows_is_right(tmp_path, size):
    assert epochs(tmp_path, of_all, DataLoader(DATA, size)) == ([], [])


def test_one_batch_is_the_last_and_all(tmp_path):
    assert epochs(tmp_path, of_the_last, DataLoader(DATA, 50)) == ([], [])


def test_what_a_pass_has_left_is_told_once_and_a_loss_that_is_set_anew_is_not(tmp_path):
    (one,) = kept(tmp_path / "kept", going_on)
    assert (one.kind, one.name, one.passes, one.steps, one.begun.code) == ("kept", "held_out", 1, 5, "held_out = 0.0")
    assert one.value > 0
    assert not kept(tmp_path / "anew", set_anew) and not kept(tmp_path / "behind", set_behind)


class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, count):
        self.sum, self.count = self.sum + value * count, self.count + count


def test_a_meter_that_is_never_reset_is_told_and_one_of_each_pass_is_not(tmp_path):
    def of_each_pass(model, loader):
        meter = Meter()
        with torch.no_grad():
            for x, y in loader:
                meter.update(loss_of(model, x, y).item(), len(x))
        return meter.sum / meter.count

    meter = Meter()

    def of_all_passes(model, loader):
        with torch.no_grad():
            for x, y in loader:
                meter.update(loss_of(model, x, y).item(), len(x))
        return meter.sum / meter.count

    found, (finding,) = epochs(tmp_path / "all", of_all_passes, DataLoader(DATA, 10))
    assert [(one.kind, one.name, one.value, one.passes) for one in found] == [("meter", "meter", 50.0, 1)]
    assert finding.place.frame.code == "for x, y in loader:"
    assert epochs(tmp_path / "each", of_each_pass, DataLoader(DATA, 10)) == ([], [])


def test_a_pass_whose_batches_were_missed_is_not_judged(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["pass-counts"]
        observer.asked = observer, None, None, 0
        session.dispatcher.missed()
        assert observer.asked is None


def test_loaders_whose_rows_are_not_known_have_none():
    assert rows_given(DataLoader(DATA, 20, drop_last=True)) == (40, 2)
    assert rows_given(DataLoader(DATA, batch_sampler=[[1, 2], [3]])) == (None, 0)
    assert rows_given([1, 2]) == (None, 0)


def test_divisors_are_read_and_not_computed():
    frame, names = sys._getframe(), {"loader": DataLoader(DATA, 20), "n": 7}
    read = {
        text: divisor_in(ast.parse(text, mode="eval").body, names, frame) for text in ("len(loader) * 20", "n", "f(n)")
    }
    assert read == {"len(loader) * 20": 60.0, "n": 7.0, "f(n)": None}


def test_a_list_that_grows_over_epochs_is_told_and_one_that_is_emptied_is_not(tmp_path):
    (one,) = kept(tmp_path / "kept", growing)
    assert (one.kind, one.name, one.value, one.passes, one.begun.code) == ("listed", "losses", 5.0, 1, "losses = []")
    assert not kept(tmp_path / "emptied", emptied)
