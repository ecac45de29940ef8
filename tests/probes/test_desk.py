"""The desk: moments reach those who ask, in a real loop, and what a taker raises never reaches the program."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import errors
from debugtracer.probes.desk import MOMENTS
from debugtracer.probes.taker import Taker
from tests.watching import under_watch


class Listener(Taker):
    """Writes down the names of the moments."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []
        self.functions: list[str] = []
        self.places: list[tuple[int, int]] = []


def listen(name: str) -> Any:
    def moment(self: Listener, *args: Any) -> None:
        if name == "called":
            self.functions.append(getattr(args[0], "__name__", ""))
        else:
            self.heard.append(name)
            self.places.append((self.desk.iteration, self.desk.step))

    return moment


for _name in MOMENTS:
    setattr(Listener, _name, listen(_name))


def watched_loop(tmp_path: Any, taker: Taker, steps: int = 4, **settings: Any) -> Any:
    with under_watch(tmp_path / "runs", **settings) as session:
        session.desk.takers = {"probes/test": taker}
        taker.desk = session.desk
        session.desk.listeners = {n: [getattr(taker, n)] for n in MOMENTS if getattr(type(taker), n) is not getattr(Taker, n)}
        session.relay.look()
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        data = TensorDataset(torch.randn(2 * steps, 3), torch.randint(0, 2, (2 * steps,)))
        for x, y in DataLoader(data, batch_size=2):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        return [p.detach().clone() for p in model.parameters()]


def test_the_moments_of_a_step_come_in_order_with_their_numbers(tmp_path):
    listener = Listener()
    watched_loop(tmp_path, listener, steps=2)
    built = ["optimizer_built", "scheduler_built", "loader_iterated"]
    step = ["fetched", "zeroed", "entered", "left", "backward_begins", "backward_ended", "clipped", "step_begins", "step_ended", "step_closed", "scheduled"]
    assert listener.heard == [*built, *step, *step, "ended"]
    assert listener.places[len(built) : len(built) + len(step)] == [(0, 0)] * 5 + [(1, 0)] * 5 + [(1, 1)]


def test_functions_inside_and_outside_modules_are_told_on_inspected_steps_only(tmp_path):
    listener = Listener()
    watched_loop(tmp_path, listener, steps=6)
    assert listener.functions.count("linear") == 6  # two layers, three steps
    assert listener.functions.count("cross_entropy") == 3
    assert listener.functions.count("tanh") == 3


def test_every_nth_step_is_inspected_again(tmp_path):
    listener = Listener()
    watched_loop(tmp_path, listener, steps=12, inspect_steps=5)
    assert listener.functions.count("cross_entropy") == 5  # steps 0, 1, 2, 5, 10


def test_a_taker_that_fails_is_left_alone_after_three_times_and_the_loop_is_the_same(tmp_path, monkeypatch, capsys):
    class Broken(Taker):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def fetched(self, batch: Any, data: Any) -> None:
            self.calls += 1
            raise ZeroDivisionError

    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})
    broken = Broken()
    with_it = watched_loop(tmp_path, broken, steps=6)
    without = watched_loop(tmp_path / "b", Taker(), steps=6)
    assert broken.calls == 3
    assert errors.failures["probes.Broken"].count == 3
    assert all(torch.equal(a, b) for a, b in zip(with_it, without, strict=True))


def test_what_a_taker_does_with_torch_is_not_taped(tmp_path):
    class Counts(Taker):
        def left(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            self.before = len(self.desk.recorder.tape.current.entries)
            torch.softmax(output.detach(), dim=-1).sum()
            self.after = len(self.desk.recorder.tape.current.entries)

    counts = Counts()
    watched_loop(tmp_path, counts, steps=2)
    assert counts.before == counts.after > 0


@pytest.mark.parametrize("name", MOMENTS)
def test_every_moment_of_the_contract_says_what_it_is(name):
    assert getattr(Taker, name).__doc__
