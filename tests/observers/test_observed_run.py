"""What an observer asks of its run, and how its failures are counted."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer import errors
from debugtracer.errors import StoppedByTracer
from debugtracer.observers.observed_run import FIRST_STEPS
from debugtracer.trace.facts.overflow_flag import OverflowFlag
from debugtracer.trace.step import StepRef
from tests.observers.runs import a_run
from tests.watching import under_watch


def test_facts_and_numbers_are_given_once():
    run = a_run()
    fact = OverflowFlag(ref=run.ref(), device="npu", since=0)
    run.emit(fact)
    run.put("val_loss", 2.0)
    run.put("val_loss", 1.0)
    assert (run.take_facts(), run.take_values()) == ([fact], {"val_loss": 1.0})
    assert (run.take_facts(), run.take_values()) == ([], {})


def test_a_child_starts_without_facts_and_numbers():
    run = a_run()
    run.emit(OverflowFlag(ref=run.ref(), device="npu", since=0))
    run.put("val_loss", 2.0)
    run.reset()
    assert (run.take_facts(), run.take_values()) == ([], {})


def test_places_are_those_of_the_state():
    run = a_run()
    run.state.step, run.state.iteration = 3, 7
    assert (run.step, run.iteration) == (3, 7)
    assert run.ref() == StepRef(iteration=7, step=3, phase="loss")
    assert run.ref("backward", run.iteration - 8) == StepRef(iteration=0, step=3, phase="backward")


def inspected(run: Any, steps: int) -> list[int]:
    found = []
    for number in range(steps):
        run.state.step = number
        if run.inspecting:
            found.append(number)
    return found


def test_the_first_steps_and_every_nth_are_inspected():
    run = a_run(inspect_steps=5)
    assert inspected(run, 12) == [*range(FIRST_STEPS), 5, 10]


def test_the_steps_after_an_optimizer_was_built_are_inspected_for_the_first_of_them():
    """Built in the step in flight; the cadence had said that nothing is due for long."""
    run = a_run(inspect_steps=100)
    found = inspected(run, 10)
    for step in range(10, 80):
        run.state.step = step
        if step % 10 == 0:
            run.optimizer_built()
        if run.inspecting:
            found.append(step)
    assert found == [0, 1, 2, 10, 11, 20, 21, 30, 31, 40, 41]
    run.reset()
    assert inspected(run, 5) == [0, 1, 2]


def test_the_first_steps_alone_where_none_is_asked_for():
    assert inspected(a_run(inspect_steps=0), 12) == list(range(FIRST_STEPS))


class Owner:
    """Fails as often as it is called."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.calls = error, 0

    def listen(self, value: int) -> None:
        self.calls += value
        raise self.error


def test_a_listener_that_raises_is_left_alone_after_three_times(monkeypatch, capsys):
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})
    run, owner = a_run(), Owner(KeyError("no"))
    for _ in range(5):
        run.attempt(owner.listen, (1,))
    assert owner.calls == errors.failures["observers.Owner"].count == 3


def test_the_stop_of_mode_dev_passes():
    with pytest.raises(StoppedByTracer):
        a_run().attempt(Owner(StoppedByTracer()).listen, (1,))


def test_every_restore_listener_hears_of_a_restore():
    run = a_run()
    heard: list[Any] = []
    run.on_restored(lambda word, owner: heard.append((1, word, owner)))
    run.on_restored(lambda word, owner: heard.append((2, word, owner)))
    run.restored("weights", self := object())
    assert heard == [(1, "weights", self), (2, "weights", self)]


def test_the_line_that_asks_is_the_users():
    frame = a_run().here()
    assert frame is not None
    assert (frame.function, frame.code) == ("test_the_line_that_asks_is_the_users", "frame = a_run().here()")


def test_models_parameters_and_optimizers_of_a_real_loop_are_known(tmp_path):
    with under_watch(tmp_path) as watching:
        model = nn.Sequential(nn.Linear(3, 1))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(2, 3)).mean().backward()
        optimizer.step()
        run = watching.observed_run
        assert run.modules() == [model]
        assert run.names() == {id(model[0].weight): "0.weight", id(model[0].bias): "0.bias"}
        built = run.built_at(optimizer)
        assert built is not None and built.code == "optimizer = torch.optim.SGD(model.parameters(), 0.1)"
        assert run.built_at(torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)) != built
        assert (run.step, run.iteration, run.compiles) == (1, 1, False)


def test_what_is_asked_beside_an_event_is_ours_and_not_recorded(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        run, before = session.observed_run, session.state.own_s
        assert run.stack.listening()
        with run.aside():
            assert not run.stack.listening()
        assert run.stack.listening() and session.state.own_s > before
