"""Facts about the state that the rooms share: what is counted, and what a reset keeps."""

from __future__ import annotations

import contextlib
import random
import time

import pytest
import torch
from torch import nn
from torch.optim import SGD
from torch.overrides import TorchFunctionMode

from debugtracer.recorder.run_state import OpenRoot, RunState, parameters
from debugtracer.recorder.unseen_cost import UNSEEN
from tests.recorder.watched import Watched


def parameter() -> nn.Parameter:
    return nn.Parameter(torch.ones(3))


def test_the_parameters_come_in_the_order_of_the_groups() -> None:
    a, b, c = parameter(), parameter(), parameter()
    optimizer = SGD([{"params": [a, b]}, {"params": [c], "lr": 1.0}])
    assert [id(p) for p in parameters(optimizer)] == [id(a), id(b), id(c)]


def test_a_crash_belongs_to_the_backward_before_it_or_to_the_forward_in_flight() -> None:
    model = nn.Linear(3, 1)
    with Watched() as watched:
        state = watched.state
        assert state.iteration_in_flight == 0
        for _ in range(2):
            loss = model(torch.ones(1, 3)).mean()
            assert state.iteration_in_flight == state.iteration
            loss.backward()
            assert state.iteration_in_flight == state.iteration - 1


def test_time_inside_is_ours_also_when_it_ends_by_an_exception() -> None:
    state = RunState()
    with state.owned():
        time.sleep(0.01)
    first = state.own_s
    assert first >= 0.01
    with pytest.raises(ValueError, match="ours"), state.owned():
        raise ValueError("ours")
    assert state.own_s > first


def test_the_seconds_of_an_incident_are_counted_once_wherever_it_begins() -> None:
    state = RunState()
    for begins in (contextlib.nullcontext(), state.owned()):
        with begins, state.investigated(), state.owned():
            time.sleep(0.05)
    assert 0.1 <= state.incident_s < 5
    assert 0 <= state.own_s < 0.05, "the share that a report tells would be negative, or count it twice"
    assert state.steady_s >= 0


def test_a_mode_of_the_program_does_not_see_what_is_asked_inside() -> None:
    class Seen(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            self.calls += 1
            return function(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Seen() as seen:
        with RunState().owned():
            x.sum()
        assert seen.calls == 0
        x.sum()
        assert seen.calls == 1


def test_the_wait_is_read_once() -> None:
    state = RunState()
    state.wait_s = 0.5
    assert (state.take_wait_s(), state.take_wait_s()) == (0.5, 0.0)


def test_settled_nothing_is_in_flight_and_the_counters_stay() -> None:
    model, optimizer = nn.Linear(3, 1), None
    with Watched() as watched:
        optimizer = SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 3)).mean().backward()
        optimizer.step()
        model(torch.ones(1, 3))
        state = watched.state
        assert state.forward_since
        assert state.last_loss is not None
        assert state.root_states
        state.settle()
        assert (state.forward_since, state.last_loss, state.root_states) == (False, None, {})
        assert (state.step, state.iteration) == (1, 1)


def test_reset_it_counts_from_zero_and_still_knows_what_was_built() -> None:
    model = nn.Linear(3, 1)
    with Watched() as watched:
        optimizer = SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 3)).mean().backward()
        optimizer.step()
        state = watched.state
        state.quiet_until_healthy = True
        state.started(0.4)
        assert state.start_s == 0.4
        state.reset()
        assert (state.step, state.iteration, state.own_s, state.quiet_until_healthy) == (0, 0, 0.0, False)
        assert state.start_s == 0.0
        assert state.has_optimizer
        assert optimizer in state.optimizers
        assert state.roots.get(model) is not None


def test_a_call_that_never_returned_is_forgotten_once() -> None:
    call = OpenRoot()
    call.module, call.nested = nn.ReLU(), 2
    assert call.reset()
    assert (call.module, call.nested) == (None, 0)
    assert not call.reset()


def test_what_clocks_miss_is_counted_for_steady_steps_alone() -> None:
    state = RunState()
    state.own_s, state.incident_s = 3.0, 1.0
    state.judged(0.5)
    assert state.steady_s == pytest.approx((1 + UNSEEN) * 3.0 + 0.5)


def test_a_run_begins_without_an_incident_and_a_reset_ends_one() -> None:
    state = RunState()
    assert (state.quiet_until_healthy, state.compiles) == (False, False)
    state.quiet_until_healthy = True
    state.reset()
    assert state.quiet_until_healthy is False


def test_what_is_drawn_while_an_incident_is_looked_into_is_not_missing_in_the_program() -> None:
    before = random.getstate()
    with RunState().investigated():
        random.getrandbits(24)
    assert random.getstate() == before


def test_the_end_is_counted_as_ours_until_a_new_run_begins() -> None:
    state = RunState()
    state.ended(0.5)
    state.ended(0.25)
    state.ended(-1.0)
    assert state.end_s == 0.75
    state.reset()
    assert state.end_s == 0.0
