"""Parts of the training that are built and that nobody reads."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler

from debugtracer.callsites import attribute_lines
from debugtracer.observers.program.unread_parts import is_weights
from debugtracer.trace.facts.unread_part import UnreadPart
from tests.observers.told import facts
from tests.watching import under_watch

# ruff: noqa: F841, RUF059  (names that nobody reads are what this is about)

DATA = TensorDataset(torch.randn(32, 4), torch.arange(32) % 3)


def train(model, optimizer, loader, criterion, scheduler=None):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    if scheduler is not None:
        scheduler.step()


def told(out, program):
    with under_watch(out):
        program()
    return [(one.part, one.name, one.without and one.without.code) for one in facts(out, UnreadPart)]


def with_parts_that_nobody_reads():
    weights = torch.tensor([0.5, 1.5, 1.0])
    sampler = WeightedRandomSampler([1.0] * 32, 32)
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(DATA, 8, shuffle=True)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 1)
    criterion = nn.CrossEntropyLoss()
    train(model, optimizer, loader, criterion)


def built():
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = StepLR(optimizer, 1)
    return model, optimizer


def with_a_builder():
    model, optimizer = built()
    train(model, optimizer, DataLoader(DATA, 8), nn.CrossEntropyLoss())


def built_and_given():
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, StepLR(optimizer, 1)


def with_a_scheduler_that_is_unpacked():
    model, optimizer, schedule = built_and_given()
    train(model, optimizer, DataLoader(DATA, 8), nn.CrossEntropyLoss())


def with_all_of_them_used():
    weights = torch.tensor([0.5, 1.5, 1.0])
    share = torch.tensor([3.0, 1.0, 2.0])  # whole: these may be counts
    generator = torch.Generator().manual_seed(3)
    sampler = WeightedRandomSampler([1.0] * 32, 32, generator=generator)
    loader = DataLoader(DATA, 8, sampler=sampler)
    order = loader.sampler  # another name for what is used
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 1)
    train(model, optimizer, loader, nn.CrossEntropyLoss(weight=weights), scheduler)


class Keeper:
    """Steps what is given to it."""

    def __init__(self, optimizer):
        self.held = StepLR(optimizer, 1)

    def handed_out(self):
        return self.held


def with_a_scheduler_that_another_steps():
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    keeper = Keeper(optimizer)
    scheduler = keeper.handed_out()
    train(model, optimizer, DataLoader(DATA, 8, sampler=RandomSampler(DATA)), nn.CrossEntropyLoss(), keeper.held)


class Runner:
    """Trains for less than an epoch of its schedule where it is built."""

    def __init__(self):
        model = nn.Linear(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.rates = StepLR(optimizer, 1)
        train(model, optimizer, DataLoader(DATA, 8), nn.CrossEntropyLoss())
        if optimizer is None:
            self.rates.step()


def with_a_scheduler_inside_of_what_nobody_reads():
    runner = Runner()


class Slower(StepLR):
    def __init__(self, optimizer):
        super().__init__(optimizer, 1)


def with_a_scheduler_of_its_own():
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    slower = Slower(optimizer)
    train(model, optimizer, DataLoader(DATA, 8), nn.CrossEntropyLoss())


def test_a_scheduler_of_a_class_of_the_program(tmp_path):
    assert told(tmp_path, with_a_scheduler_of_its_own) == [("scheduler", "slower", None)]


def test_each_part_is_told_with_what_goes_without_it(tmp_path):
    assert told(tmp_path, with_parts_that_nobody_reads) == [
        ("class weights", "weights", "criterion = nn.CrossEntropyLoss()"),
        ("sampler", "sampler", "loader = DataLoader(DATA, 8, shuffle=True)"),
        ("generator", "generator", None),
        ("scheduler", "scheduler", None),
    ]


def test_a_scheduler_of_a_function_that_has_returned(tmp_path):
    assert told(tmp_path / "a", with_a_builder) == [("scheduler", "schedule", None)]
    assert told(tmp_path / "b", with_a_scheduler_that_is_unpacked) == [("scheduler", "schedule", None)]


def test_what_is_used_is_silent(tmp_path):
    assert told(tmp_path / "a", with_all_of_them_used) == []
    assert told(tmp_path / "b", with_a_scheduler_that_another_steps) == []
    assert told(tmp_path / "c", with_a_scheduler_inside_of_what_nobody_reads) == []


class Trainer:
    """Trains by what it keeps."""

    def __init__(self):
        self.balance_of_kinds = torch.tensor([0.5, 1.5, 1.0])
        self.model = nn.Linear(4, 3)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.plan_of_rates = StepLR(self.optimizer, 1)

    def fit(self):
        for x, y in DataLoader(DATA, 8):
            self.optimizer.zero_grad()
            self.loss(x, y).backward()
            self.optimizer.step()

    def loss(self, x, y):
        return self.criterion(self.model(x), y)


class Stepper(Trainer):
    """Steps what another class has built, by a name that is put together."""

    def fit(self):
        super().fit()
        getattr(self, PLAN).step()


PLAN, BALANCE = "_".join(("plan", "of", "rates")), "_".join(("balance", "of", "kinds"))


def test_attributes_that_no_file_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(attribute_lines, "program_files", lambda: [__file__])
    weights = ("class weights", BALANCE, "self.criterion = nn.CrossEntropyLoss()")
    assert told(tmp_path / "a", lambda: Trainer().fit()) == [weights, ("scheduler", PLAN, None)]
    assert told(tmp_path / "b", lambda: Stepper().fit()) == [weights]


def test_which_numbers_may_be_weights():
    assert is_weights(torch.tensor([0.5, 1.5])) and is_weights(np.array([0.5, 1.5]))
    assert not is_weights(torch.tensor([3.0, 1.0])) and not is_weights(torch.tensor([0.5, 0.5]))
    assert not is_weights(torch.tensor([0.5, -1.5])) and not is_weights([0.5, 1.5])
