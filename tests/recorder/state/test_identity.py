"""Entries belong to objects, not to what these say they are equal to: what a program defines as equality is never
called."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import nn

from debugtracer import errors
from debugtracer.recorder.state.identity import ById
from tests.watching import under_watch


class Picky:
    __hash__ = None

    def __eq__(self, other):
        raise TypeError


def test_a_key_is_the_object_itself_and_neither_compared_nor_hashed():
    a, b, kept = Picky(), Picky(), ById()
    kept[a], kept[b] = 1, 2
    kept[a] = 3
    assert (kept[a], kept.get(b), kept.get(Picky()), kept.get(Picky(), 7), len(kept)) == (3, 2, None, 7, 2)
    assert a in kept
    assert Picky() not in kept
    assert [key is one for key, one in zip(kept, (a, b), strict=True)] == [True, True]
    assert [value for _, value in kept.items()] == [3, 2]


def test_an_entry_goes_with_its_key_or_is_taken_out():
    a, b, kept = Picky(), Picky(), ById()
    kept[a], kept[b] = 1, 2
    del a
    gc.collect()
    assert len(kept) == 1
    assert kept.pop(b) == 2
    assert kept.setdefault(b, 4) == 4
    del kept[b]
    with pytest.raises(KeyError):
        kept[b]
    kept[b] = 1
    kept.clear()
    assert len(kept) == 0


def test_an_address_used_again_is_another_object():
    kept = ById()
    a = Picky()
    kept[a] = 1
    reference, value = kept.data.pop(id(a))
    b = Picky()
    kept.data[id(b)] = reference, value  # as if a had died unnoticed and b had got its address
    assert b not in kept
    assert kept.get(b) is None


class Incomparable:
    """Comparing two of them is an error of the program."""

    def __eq__(self, other):
        raise TypeError("cannot be compared")

    def __hash__(self):
        return 7


class Net(Incomparable, nn.Linear):
    pass


class Descent(Incomparable, torch.optim.SGD):
    pass


class Plan(Incomparable, torch.optim.lr_scheduler.StepLR):
    pass


class Scaler(Incomparable, torch.amp.GradScaler):
    pass


class Rows(Incomparable, torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, row):
        return torch.full((3,), float(row))


class Loader(Incomparable, torch.utils.data.DataLoader):
    pass


def train(path=None, scaler=None):
    a, b = Net(3, 4), Net(4, 2)
    optimizer = Descent([*a.parameters(), *b.parameters()], lr=1e-3)
    other = Descent(Net(2, 2).parameters(), lr=1e-3)
    plan = Plan(optimizer, 2)
    for _ in range(2):
        a.train()
        for x in Loader(Rows(), batch_size=4):
            optimizer.zero_grad()
            other.zero_grad()
            loss = b(a(x)).square().mean()
            (scaler.scale(loss) if scaler else loss).backward()
            nn.utils.clip_grad_norm_(a.parameters(), 1.0)
            if scaler:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            plan.step()
        a.eval()
        with torch.no_grad():
            b(a(torch.ones(2, 3)))
        if path is not None:
            torch.save({"a": a.state_dict(), "optimizer": optimizer.state_dict()}, path)
            a.load_state_dict(torch.load(path)["a"])
    return a


@pytest.mark.parametrize("scaled", [False, True])
def test_modules_optimizers_schedulers_and_loaders_that_refuse_to_be_compared(tmp_path, monkeypatch, scaled):
    monkeypatch.setattr(errors, "failures", {})
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    with under_watch(tmp_path / "runs") as session:
        train(tmp_path / "a.pt", Scaler("cpu", enabled=True) if scaled else None)
        assert {where: failure.first for where, failure in errors.failures.items()} == {}
        assert session.state.step == 6


def test_a_crash_inside_such_a_module_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(errors, "failures", {})
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    with under_watch(tmp_path / "runs") as session:
        model = train()
        try:
            model(torch.ones(2, 9))
        except RuntimeError as error:
            session.crashed(error)
        assert {where: failure.first for where, failure in errors.failures.items()} == {}
