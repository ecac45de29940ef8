"""The dispatcher: events reach the observers that override them, in a real loop, and what an observer raises never
reaches the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import errors, session
from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.training_events import EVENTS, TrainingEvents
from tests.observers.runs import a_run
from tests.watching import under_watch


class Listener(Observer):
    """Writes down the names of the events."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.heard: list[str] = []
        self.functions: list[str] = []
        self.places: list[tuple[int, int]] = []


def listen(name: str) -> Any:
    def event(self: Listener, *args: Any) -> None:
        if name == "called":
            self.functions.append(getattr(args[0], "__name__", ""))
        else:
            self.heard.append(name)
            self.places.append((self.run.iteration, self.run.step))

    return event


for _name in EVENTS:
    setattr(Listener, _name, listen(_name))


def watched_loop(
    tmp_path: Path, make: Callable[[ObservedRun], Observer], steps: int = 4, **settings: Any
) -> tuple[Any, list[torch.Tensor]]:
    """A loop with one observer alone; the observer, and the weights at the end."""
    with under_watch(tmp_path / "runs", **settings) as watching:
        observer = make(watching.observed_run)
        watching.dispatcher.observers = {"test": observer}
        watching.dispatcher.subscribe()
        watching.inspection.update()
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
        weights = [p.detach().clone() for p in model.parameters()]
    return observer, weights


def test_the_events_of_a_step_come_in_order_with_their_numbers(tmp_path):
    listener, _ = watched_loop(tmp_path, Listener, steps=2)
    built = ["optimizer_built", "scheduler_built", "loader_iterated"]
    step = [
        "fetched",
        "zeroed",
        "entered",
        "left",
        "backward_begins",
        "backward_ended",
        "clipped",
        "step_begins",
        "step_ended",
        "step_closed",
        "scheduled",
    ]
    first = [*step[:-1], "optimizer_changed", "scheduled"]
    assert listener.heard == [*built, *first, *step, "ended"]
    assert listener.places[len(built) : len(built) + len(first)] == [(0, 0)] * 5 + [(1, 0)] * 6 + [(1, 1)]


def test_functions_inside_and_outside_modules_are_told_on_inspected_steps_only(tmp_path):
    listener, _ = watched_loop(tmp_path, Listener, steps=6)
    assert listener.functions.count("linear") == 6  # two layers, three steps
    assert listener.functions.count("cross_entropy") == 3
    assert listener.functions.count("tanh") == 3


def test_every_nth_step_is_inspected_again(tmp_path):
    listener, _ = watched_loop(tmp_path, Listener, steps=12, inspect_steps=5)
    assert listener.functions.count("cross_entropy") == 5  # steps 0, 1, 2, 5, 10


def test_an_observer_that_fails_is_left_alone_after_three_times_and_the_loop_is_the_same(tmp_path, monkeypatch, capsys):
    class Broken(Observer):
        def __init__(self, run: ObservedRun) -> None:
            super().__init__(run)
            self.calls = 0

        def fetched(self, batch: Any, data: Any) -> None:
            self.calls += 1
            raise ZeroDivisionError

    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})
    broken, with_it = watched_loop(tmp_path, Broken, steps=6)
    _, without = watched_loop(tmp_path / "b", Observer, steps=6)
    assert broken.calls == 3
    assert errors.failures["observers.Broken"].count == 3
    assert all(torch.equal(a, b) for a, b in zip(with_it, without, strict=True))


def test_a_tensor_without_values_is_no_failure(tmp_path):
    class Reads(Observer):
        calls = 0

        def fetched(self, batch: Any, data: Any) -> None:
            self.calls += 1
            if self.calls % 2:
                torch.ones(1, device="meta").sum().item()
            with FakeTensorMode():
                float(torch.ones(1).sum())

    reads, _ = watched_loop(tmp_path, Reads, steps=6)
    assert reads.calls == 6


def test_what_an_observer_does_with_torch_is_not_taped(tmp_path):
    class Counts(Observer):
        def left(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            running = session.active()
            assert running is not None
            self.before = len(running.tape.current.entries)
            torch.softmax(output.detach(), dim=-1).sum()
            self.after = len(running.tape.current.entries)

    counts, _ = watched_loop(tmp_path, Counts, steps=2)
    assert counts.before == counts.after > 0


class Names(Observer):
    """Hears two events."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.heard: list[str] = []

    def incident(self) -> None:
        self.heard.append("incident")

    def restored(self, word: str, owner: Any) -> None:
        self.heard.append(word)


def with_names() -> tuple[ObserverDispatcher, Names]:
    dispatcher = ObserverDispatcher(a_run())
    observer = Names(dispatcher.run)
    dispatcher.observers = {"names": observer}
    dispatcher.subscribe()
    return dispatcher, observer


def test_an_event_has_the_observers_that_override_it_and_none_while_paused():
    dispatcher, observer = with_names()
    assert {name for name in EVENTS if dispatcher.wants(name)} == {"incident", "restored"}
    dispatcher.pause()
    assert not dispatcher.wants("incident")
    dispatcher.incident()
    assert observer.heard == []
    dispatcher.resume()
    dispatcher.incident()
    assert observer.heard == ["incident"]


def test_a_restore_that_an_observer_reports_to_the_run_is_handed_on():
    dispatcher, observer = with_names()
    dispatcher.run.restored("weights", None)
    assert observer.heard == ["weights"]


def test_the_dispatcher_hands_on_every_event_of_the_contract():
    assert {name for name in EVENTS if getattr(ObserverDispatcher, name) is getattr(TrainingEvents, name)} == set()


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_of_the_contract_says_what_it_is(name):
    assert getattr(TrainingEvents, name).__doc__


def test_what_is_of_use_in_inspected_steps_alone_is_called_in_no_other():
    heard: list[tuple[str, int]] = []

    class Watcher(Observer):
        @inspected
        def step_begins(self, optimizer):
            heard.append(("inspected", self.run.step))

        def step_ended(self, optimizer):
            heard.append(("any", self.run.step))

    run = a_run(inspect_steps=5)
    run.state.has_optimizer = True
    dispatcher = ObserverDispatcher(run)
    dispatcher.observers = {"watcher": Watcher(run)}
    dispatcher.subscribe()
    for step in range(7):
        run.state.step = step
        dispatcher.step_begins(None)
        dispatcher.step_ended(None)
    assert [step for what, step in heard if what == "any"] == list(range(7))
    assert [step for what, step in heard if what == "inspected"] == [0, 1, 2, 5]


def test_a_method_that_comes_or_goes_lists_its_own_event_anew_and_no_other():
    dispatcher, observer = with_names()
    others = dispatcher.listeners["restored"]
    dispatcher.run.unsubscribe(observer.incident)
    assert not dispatcher.wants("incident") and dispatcher.listeners["restored"] is others
    dispatcher.run.subscribe(observer.incident)
    dispatcher.incident()
    assert observer.heard == ["incident"] and dispatcher.listeners["restored"] is others


def test_a_method_that_has_gone_already_lists_nothing_anew():
    dispatcher, observer = with_names()
    dispatcher.run.unsubscribe(observer.incident)
    listed = dispatcher.listeners["incident"]
    dispatcher.run.unsubscribe(observer.incident)
    dispatcher.run.subscribe(observer.restored)
    assert dispatcher.listeners["incident"] is listed


def test_after_remove_a_method_that_comes_back_is_not_called():
    dispatcher, observer = with_names()
    dispatcher.run.unsubscribe(observer.incident)
    dispatcher.remove()
    dispatcher.run.subscribe(observer.incident)
    dispatcher.incident()
    assert observer.heard == []


class OfTanh(Listener):
    @of_functions({"tanh"})
    def called(self, function: Any, *args: Any) -> None:
        self.functions.append(getattr(function, "__name__", ""))


def test_calls_of_other_functions_are_not_told_to_who_asks_about_some(tmp_path: Path) -> None:
    observer, _ = watched_loop(tmp_path, OfTanh)
    assert {*observer.functions} == {"tanh"}
    assert "left" in observer.heard, "what else it hears is as ever"


def test_a_function_whose_name_is_no_text_is_told_to_all() -> None:
    dispatcher = ObserverDispatcher(a_run())
    listener = OfTanh(dispatcher.run)
    dispatcher.observers = {"test": listener}
    dispatcher.subscribe()
    listeners = dispatcher.listeners["called"]

    class Odd:
        __name__: Any = ["tanh"]

    assert dispatcher.asked(listeners, Odd()) == listeners
    assert dispatcher.asked(listeners, torch.tanh) == listeners
    assert dispatcher.asked(listeners, torch.exp) == []
    dispatcher.run.unsubscribe(listener.called)
    assert dispatcher.asked(dispatcher.listeners["called"], torch.tanh) == []
