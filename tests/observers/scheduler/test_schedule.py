"""Rates and schedulers in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler as S

from debugtracer.observers.scheduler.schedule import sign_of
from debugtracer.trace.facts.schedule import Rate, RateFaded, RateHistory, RateKept, RateMoved, Schedule
from tests.observers.loops import data, mse, net, resumed, scheduled
from tests.observers.observing import facts, observed
from tests.watching import under_watch


def last(out: Path, loop: Callable[[], None]) -> Schedule:
    return observed(out, loop, Schedule)[-1]


def test_a_cycle_stepped_per_batch_and_one_per_epoch(tmp_path: Path):
    batch = last(
        tmp_path / "batch", scheduled(lambda o, length, epochs: S.OneCycleLR(o, 0.1, total_steps=length * epochs))
    )
    epoch = last(
        tmp_path / "epoch",
        scheduled(lambda o, length, epochs: S.OneCycleLR(o, 0.1, total_steps=length * epochs), "epoch"),
    )
    assert [(f.kind, f.horizon, f.horizon_word, f.calls, f.updates, f.loader, f.ended) for f in (batch, epoch)] == [
        ("OneCycleLR", 60, "total_steps", 60, 60, 12, True),
        ("OneCycleLR", 60, "total_steps", 5, 60, 12, True),
    ]
    assert batch.frame is not None
    assert "S.OneCycleLR(" in batch.frame.code


def test_a_decay_that_falls_is_told_when(tmp_path: Path):
    fact = last(tmp_path / "runs", scheduled(lambda o, length, epochs: S.ExponentialLR(o, 0.8)))
    assert fact.fallen_at == 43
    assert float(fact.rate) < 1e-3 * float(fact.peak)


@pytest.mark.parametrize(
    "make", [S.ReduceLROnPlateau, lambda o: S.SequentialLR(o, [S.ConstantLR(o), S.ConstantLR(o)], [9])]
)
def test_schedulers_with_constructors_of_their_own_are_met_when_built(
    tmp_path: Path, make: Callable[[torch.optim.Optimizer], object]
):
    facts = observed(tmp_path / "runs", scheduled(lambda o, length, epochs: make(o), "epoch"), Schedule)
    fact = max(facts, key=lambda f: f.calls)
    assert (fact.calls, fact.updates, fact.early, fact.frame is not None) == (5, 60, 0, True)


def test_a_scheduler_wound_forward_is_early_at_another_line(tmp_path: Path):
    fact = last(tmp_path / "runs", resumed)
    assert (fact.early, fact.early_again) == (5, 0)


def stepped(*, before: bool = False, micro: bool = False, twice: bool = False) -> Callable[[], None]:
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = S.StepLR(optimizer, 10)
        for i, (x, y) in enumerate(data(12)):
            mse(model(x), y).backward()
            if before or micro:
                scheduler.step()
            if not micro or i % 2:
                optimizer.step()
                optimizer.zero_grad()
            if twice:
                scheduler.step()
                scheduler.step()

    return loop


def test_places_and_times_of_a_step(tmp_path: Path):
    before = last(tmp_path / "before", stepped(before=True))
    assert (before.early, before.early_again, before.micro, before.doubled) == (1, 11, 0, 0)
    micro = last(tmp_path / "micro", stepped(micro=True))
    assert (micro.micro, micro.per_update, micro.doubled) == (6, 2, 0)
    twice = last(tmp_path / "twice", stepped(twice=True))
    assert (twice.doubled, twice.calls, twice.updates) == (12, 24, 12)


def test_a_scheduler_for_an_optimizer_that_was_replaced(tmp_path: Path):
    def loop() -> None:
        model = net()
        old = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = S.StepLR(old, 10)
        new = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(10):
            new.zero_grad()
            mse(model(x), y).backward()
            new.step()
            scheduler.step()

    fact = max(observed(tmp_path / "runs", loop, Schedule), key=lambda f: (f.known, f.calls))
    assert (fact.updates, fact.other_updates, fact.calls, fact.known) == (0, 10, 10, True)


def test_a_rate_of_0_is_told_with_the_line_that_returns_it(tmp_path: Path):
    def factor(step: int) -> float:
        if step < 1000:
            return step // 1000
        return 1.0

    facts = observed(tmp_path / "runs", scheduled(lambda o, length, epochs: S.LambdaLR(o, factor)), Rate)
    assert [(f.number, f.high, f.same, f.begun) for f in facts] == [(0, 0.0, 1, 0), (19, 0.0, 20, 0)]
    assert facts[1].value_frame is not None
    assert facts[1].value_frame.code == "return step // 1000"
    assert facts[1].scheduler == "LambdaLR"


def test_jumps_are_told_and_steady_rates_once(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for i, (x, y) in enumerate(data(9)):
            if i == 5:
                optimizer.param_groups[0]["lr"] = 0.1
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()

    assert [(f.number, f.before, f.high, f.peak) for f in observed(tmp_path / "runs", loop, Rate)] == [
        (0, None, 1e-3, 0.0),
        (5, 1e-3, 0.1, 1e-3),
    ]


def test_a_cycle_stepped_beyond_its_end_raises_and_is_told(tmp_path: Path):
    loop = scheduled(lambda o, length, epochs: S.OneCycleLR(o, 0.1, total_steps=length))
    with pytest.raises(ValueError, match="Tried to step"), under_watch(tmp_path / "runs") as session:
        try:
            loop()
        except ValueError as error:
            session.crashed(error)
            raise
    assert facts(tmp_path / "runs", Schedule)[-1].exhausted


def test_signs():
    assert [sign_of(v) for v in (-1e-9, 0.0, 1e-9)] == [-1, 0, 1]


def test_at_an_incident_a_rate_that_is_not_the_constructors_is_told_with_its_largest_move(tmp_path: Path):
    def loop() -> None:
        torch.manual_seed(0)
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = S.LambdaLR(optimizer, lambda n: 0.5 if n < 3 else 1000.0)
        for i, (x, y) in enumerate(data(8)):
            loss = mse(model(x), y) * (float("nan") if i == 5 else 0.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()

    fact = observed(tmp_path / "runs", loop, RateMoved)[0]
    assert (float(fact.built), float(fact.before), float(fact.after), fact.step, fact.scheduler) == (
        0.01,
        0.005,
        10.0,
        3,
        "LambdaLR",
    )
    assert fact.scheduler_frame is not None


def test_a_rate_that_its_schedule_never_moves_is_told_at_the_end(tmp_path: Path):
    stuck = scheduled(lambda o, length, epochs: S.LambdaLR(o, lambda epoch: 1e-3), "epoch")
    (kept,) = observed(tmp_path / "stuck", stuck, RateKept)
    assert (kept.updates, kept.passes) == (60, 5)
    assert float(kept.rate) == pytest.approx(1e-3 * float(kept.built))
    moves = scheduled(lambda o, length, epochs: S.LambdaLR(o, lambda epoch: 1e-3 * (1 + epoch)), "epoch")
    assert not observed(tmp_path / "moves", moves, RateKept)
    whole = scheduled(lambda o, length, epochs: S.LambdaLR(o, lambda epoch: 1.0), "epoch")
    assert not observed(tmp_path / "whole", whole, RateKept)


@pytest.mark.parametrize("loads", [True, False])
def test_a_rate_that_came_with_a_loaded_state_is_where_its_schedule_had_got_to(tmp_path: Path, loads: bool):
    def run() -> None:
        model = net()
        before = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
        model(next(iter(data(60)))[0]).sum().backward()
        before.step()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler = S.LambdaLR(optimizer, lambda epoch: 0.01)
        if loads:
            optimizer.load_state_dict(before.state_dict())
        for _ in range(5):
            for x, y in data(60):
                optimizer.zero_grad()
                mse(model(x), y).backward()
                optimizer.step()
            scheduler.step()

    assert len(observed(tmp_path, run, RateKept)) == (0 if loads else 1)


def test_a_rate_that_the_loop_writes_smaller_and_smaller_is_told_at_the_end(tmp_path: Path):
    def loop(factor: float, back: bool = False) -> Callable[[], None]:
        def run() -> None:
            model = net()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in data(60):
                rate = optimizer.param_groups[0]["lr"]
                optimizer.param_groups[0]["lr"] = rate * factor
                optimizer.zero_grad()
                mse(model(x), y).backward()
                optimizer.step()
                optimizer.param_groups[0]["lr"] = rate if back else optimizer.param_groups[0]["lr"]

        return run

    (faded,) = observed(tmp_path / "faded", loop(0.8), RateFaded)
    assert (faded.updates - faded.faded, faded.falls) == (
        31,
        30,
    )  # 0.8 ** 31 is the first below a thousandth of the first
    assert not observed(tmp_path / "back", loop(0.8, back=True), RateFaded)
    assert not observed(tmp_path / "kept", loop(1.0), RateFaded)


def test_of_two_schedulers_the_one_that_gave_the_rate_is_named(tmp_path: Path):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        both = S.MultiStepLR(optimizer, [50]), S.LambdaLR(optimizer, lambda step: step / 10)
        for _ in range(2):
            model(torch.ones(3, 2)).sum().backward()
            optimizer.step()
    assert [one.last_epoch for one in both] == [0, 0]
    first = facts(tmp_path, Rate)[0]
    assert (float(first.high), first.scheduler) == (0.0, "LambdaLR")


def test_a_rate_that_the_loop_writes_over_that_of_its_scheduler_is_the_line_s(tmp_path: Path):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        scheduler = S.CosineAnnealingLR(optimizer, 40)
        for step in range(6):
            if step == 4:
                optimizer.param_groups[0]["lr"] = 7.5  # by hand
            model(torch.ones(3, 2)).sum().backward()
            optimizer.step()
            scheduler.step()
    first, jump = facts(tmp_path, Rate)
    assert (first.scheduler, first.rate_frame) == ("CosineAnnealingLR", None)
    assert (float(jump.high), jump.scheduler) == (7.5, "")
    assert jump.rate_frame is None or jump.rate_frame.code.endswith("# by hand")


def test_the_way_of_a_rate_is_told_at_the_end(tmp_path: Path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    rates = [0.01, 0.02, 0.02, 0.1, 0.05, 0.001, 0.04]
    with under_watch(tmp_path):
        for rate in rates:
            optimizer.param_groups[0]["lr"] = rate
            model(torch.randn(3, 4)).mean().backward()
            optimizer.step()
    (fact,) = facts(tmp_path, RateHistory)
    assert (fact.updates, fact.rises, fact.falls) == (7, 3, 2)
    assert (fact.built, fact.peak, fact.rate, fact.lowest, fact.lowest_at) == (0.1, 0.1, 0.04, 0.001, 6)
    assert fact.loaded is None


def test_the_rate_that_came_with_a_loaded_state_is_told(tmp_path: Path):
    model = nn.Linear(4, 1)
    first = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(3, 4)).mean().backward()
    first.step()
    first.param_groups[0]["lr"] = 0.003
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        optimizer.load_state_dict(first.state_dict())
        for rate in (0.001, 0.1):
            optimizer.param_groups[0]["lr"] = rate
            model(torch.randn(3, 4)).mean().backward()
            optimizer.step()
    (fact,) = facts(tmp_path, RateHistory)
    assert (fact.loaded, fact.loaded_updates, fact.first, fact.peak) == (0.003, 1, 0.001, 0.1)
    assert fact.loaded_frame.code == "optimizer.load_state_dict(first.state_dict())"
