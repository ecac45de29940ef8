"""Outputs that no backward follows, root calls while the tape rests, and how many backwards are kept."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.overrides import _get_current_function_mode_stack

from debugtracer.recorder import recorder as module
from tests.recorder.watched import Watched

NAN, INF = math.nan, math.inf


@pytest.fixture(autouse=True)
def _no_mode_stays_behind():
    """What a call of the recorder enters is left again."""
    before = len(_get_current_function_mode_stack())
    yield
    assert len(_get_current_function_mode_stack()) == before


def seen(output, *, parameters=True, deliberate=False, quiet=False):
    """The alarms about an output, and whether its root was quiet."""
    watched = Watched()
    watched.state.quiet_until_healthy = quiet
    root = SimpleNamespace(has_parameters=parameters, deliberate_inf=deliberate)
    watched.recorder.watch_output(nn.Identity(), root, output)
    return [alarm.symptom for alarm in watched.alarms]


@pytest.mark.parametrize(
    ("output", "bad"),
    [
        (torch.tensor([1.0, 2.0]), False),
        (torch.tensor([1.0, NAN]), True),
        (torch.tensor([1.0, INF]), True),
        (torch.tensor([1, 2]), False),
        (torch.full((2,), 3e38), False),
        ((torch.tensor([1, 2]), torch.tensor([NAN])), True),
        (torch.ones(2, device="meta"), False),
        ((torch.ones(2, device="meta"), torch.tensor([NAN])), True),
        ("no tensor", False),
    ],
)
def test_an_output_that_is_not_finite_is_an_alarm(output, bad):
    assert seen(output) == (["nan_output"] if bad else [])


def test_it_is_none_of_a_root_that_trains_nothing_or_while_an_incident_is_open():
    bad = torch.tensor([NAN])
    assert seen(bad, parameters=False) == [] and seen(bad, quiet=True) == []


@pytest.mark.parametrize(("value", "alarms"), [(INF, []), (NAN, ["nan_output"])])
def test_infinities_on_purpose_are_none_and_nan_is_one_all_the_same(value, alarms):
    assert seen(torch.tensor([value]), deliberate=True) == alarms


@pytest.mark.parametrize(
    ("known", "mutates", "kept"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_at_rest_only_a_known_root_that_leaves_its_inputs_alone_is_recorded(known, mutates, kept):
    watched, model = Watched(), nn.Linear(2, 1)
    if known:
        watched.state.roots.add(model, model).mutates_inputs = mutates
    watched.recorder.enter_rested(model, (torch.ones(1, 2),))
    assert (watched.recorder.pending is not None) is kept
    watched.recorder.on_leave(model, {}, None, True)


@pytest.mark.parametrize(
    ("optimizer", "fetched", "cut"), [(False, -1, True), (True, -1, False), (False, 0, False), (True, 0, False)]
)
def test_what_built_a_model_is_no_part_of_a_step(monkeypatch, optimizer, fetched, cut):
    watched, cuts = Watched(), []
    watched.state.has_optimizer, watched.state.fetched_at = optimizer, fetched
    monkeypatch.setattr(watched.tape, "cut", lambda *at: cuts.append(at))
    watched.recorder.on_enter(nn.Linear(2, 1), (torch.ones(1, 2),))
    watched.recorder.on_leave(nn.Linear(2, 1), {}, None, True)
    assert bool(cuts) is cut


def test_a_segment_with_too_many_backwards_is_dropped_after_the_last_that_is_kept(monkeypatch):
    monkeypatch.setattr(module, "MAX_BACKWARDS", 3)
    watched, dropped = Watched(), []
    monkeypatch.setattr(watched.tape, "overflow", lambda: dropped.append(1))
    for number in range(4):
        popped = watched.recorder.on_backward([torch.tensor(1.0)], None, {})
        watched.recorder.after_backward(popped)
        assert len(dropped) == (number == 3)
    assert watched.state.iteration == 4 and watched.alarms == []


def test_a_loss_without_a_value_here_is_judged_elsewhere():
    watched = Watched()
    watched.recorder.after_backward(watched.recorder.on_backward([torch.ones((), device="meta")], None, {}))
    assert watched.alarms == []
    watched.recorder.alarm_loss(torch.tensor(NAN), NAN)
    assert [alarm.peeked for alarm in watched.alarms] == [False]


def test_a_step_is_recorded_although_the_tape_rests():
    watched = Watched()
    watched.recorder.rest(True)
    watched.tape.boundary(0, 0)
    assert watched.tape.current.rested
    watched.recorder.wake()
    assert not watched.tape.current.rested
    watched.stack.pop()
