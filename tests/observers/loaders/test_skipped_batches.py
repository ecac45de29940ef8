"""Batches that real loops skip, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.skipped_batches import SkippedBatches
from tests.observers.loops import mse, net
from tests.observers.observing import observed

ROWS = 96


def loader() -> DataLoader[tuple[Tensor, ...]]:
    made = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 4, generator=made)
    return DataLoader(TensorDataset(x, x[:, :1]), batch_size=4)


def steps(passes: int) -> Iterator[tuple[int, Tensor, Tensor]]:
    """(number in the pass, x, y) of all passes of one loader."""
    given = loader()
    for _ in range(passes):
        for number, (x, y) in enumerate(given):
            yield number, x, y


def guarded_loss(bad: int = 5) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number, x, y in steps(22):
        loss = mse(model(x), y)
        if number == bad:
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def guarded_norm() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number, x, y in steps(22):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        if number != 5:
            optimizer.step()


@pytest.mark.parametrize(("loop", "unused"), [(guarded_loss, 20), (guarded_norm, 0)])
def test_skipped_batches_are_counted_with_the_samples_that_are_never_used(
    tmp_path: Path, loop: Callable[[], None], unused: int
):
    fact = observed(tmp_path / "runs", loop, SkippedBatches)[0]
    assert (fact.skipped, fact.unused, fact.first, fact.last) == (20, unused, 5, 19 * 23 + 5)
    assert fact.batches == pytest.approx(19 * 24 + 6, abs=2)
    assert fact.never_used == (20, 21, 22, 23)
    assert fact.samples[:5] == (20, 21, 22, 23, 20)
    assert fact.frame is not None
    assert fact.frame.code.endswith("optimizer.step()")


def test_the_end_of_the_run_tells_the_rest(tmp_path: Path):
    assert [fact.skipped for fact in observed(tmp_path / "runs", guarded_loss, SkippedBatches)] == [20, 22]


def test_a_scaler_that_skips_after_its_first_good_update(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
        for number, x, y in steps(22):
            optimizer.zero_grad()
            scaler.scale(mse(model(x), y)).backward()
            if number == 5:
                model[0].weight.grad[0, 0] = float("inf")
            scaler.step(optimizer)
            scaler.update(2.0**10)

    fact = observed(tmp_path / "runs", loop, SkippedBatches, cost=1.0)[-1]  # nothing rests on a busy machine
    assert (fact.skipped, fact.scaler, fact.unused) == (22, 22, 0)
    assert fact.never_used == (20, 21, 22, 23)


def accumulated() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number, x, y in steps(6):
        mse(model(x), y).backward()
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def added_up() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total = torch.zeros(())
    for number, x, y in steps(6):
        total = total + mse(model(x), y)
        if number % 4 == 3:
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            total = torch.zeros(())


def gan() -> None:
    torch.manual_seed(0)
    maker, critic = nn.Linear(3, 4), nn.Linear(4, 1)
    first, second = torch.optim.SGD(maker.parameters(), lr=1e-3), torch.optim.SGD(critic.parameters(), lr=1e-3)
    for number, x, _ in steps(4):
        second.zero_grad()
        (critic(maker(torch.randn(4, 3)).detach()).mean() - critic(x).mean()).backward()
        second.step()
        if number % 5 == 0:
            first.zero_grad()
            (-critic(maker(torch.randn(4, 3))).mean()).backward()
            first.step()


def evaluated_with_a_graph() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    given, held_out = loader(), loader()
    for _ in range(3):
        for number, (x, y) in enumerate(given):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            if number % 8 == 0:
                sum(mse(model(a), b).item() for a, b in held_out)
        sum(mse(model(a), b).item() for a, b in given)


def stopped_early() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    given = loader()
    for _ in range(30):
        for number, (x, y) in enumerate(given):
            loss = mse(model(x), y)
            if number == 3:
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def two_in_turn() -> None:
    model = net()
    both = [torch.optim.SGD(model[0].parameters(), lr=0.01), torch.optim.SGD(model[2].parameters(), lr=0.01)]
    for _, x, y in steps(3):
        for optimizer in both:
            optimizer.zero_grad()
            mse(model(x), y).backward()
        for optimizer in both:
            optimizer.step()


def looks_at_the_loss_within_the_pass() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    given = loader()
    for _ in range(6):
        for number, (x, y) in enumerate(given):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            if number % 5 == 4:
                sum(mse(model(a), b).item() for _, (a, b) in zip(range(5), given, strict=False))


@pytest.mark.parametrize(
    "loop",
    [accumulated, added_up, gan, evaluated_with_a_graph, stopped_early, two_in_turn, looks_at_the_loss_within_the_pass],
)
def test_what_only_looks_like_skipping_is_not_counted(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, SkippedBatches) == []


def test_it_forgets_what_it_did_not_need(tmp_path: Path):
    assert observed(tmp_path / "runs", lambda: guarded_loss(bad=99), SkippedBatches) == []
