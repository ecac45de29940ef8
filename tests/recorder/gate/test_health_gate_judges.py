"""What the health gate makes of the numbers of a step: each of them bad alone, finite at its edge, and who is told."""

from __future__ import annotations

import math
import types

import pytest
import torch

from debugtracer.recorder.gate import health_gate as module
from debugtracer.recorder.tape.step_tape import Segment
from tests.recorder.gate.judging import INF, NAN, Judging, numbers


@pytest.mark.parametrize(
    ("told", "weights_bad", "expected"),
    [
        (numbers(), False, []),
        (numbers(losses=[1.0, NAN], bad=True), False, [("nan_loss", 7, True)]),
        (numbers(grad_l2=NAN, bad=True), False, [("inf_grad", 7, True)]),
        (numbers(grad_l2=NAN, losses=[1.0], bad=True), False, [("inf_grad", 7, True)]),
        (numbers(param_l2=INF), True, [("bad_update", 7, True)]),
        (numbers(param_l2=INF), False, []),
        (numbers(param_l2=1.0), True, []),
        (numbers(grad_l2=NAN, bad=True, param_l2=INF), True, [("inf_grad", 7, True)]),
    ],
)
def test_a_number_that_is_bad_is_an_alarm_of_its_own_kind(told, weights_bad, expected):
    assert Judging(weights_bad).judge(told) == expected


def test_the_microbatch_of_a_bad_loss_is_told():
    one = Judging()
    one.watched.tape.current.first_iteration = 4
    one.judge(numbers(losses=[1.0, NAN], bad=True))
    alarm = one.watched.alarms[0]
    assert (alarm.microbatch, alarm.iteration, alarm.loss.item()) == (1, 5, 2.0)


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ({}, True),
        ({"gated": True}, False),
        ({"gated": True, "scaler": "a scaler"}, False),
        ({"gated": True, "scaler": "a scaler", "param_l2": 0.25}, True),
        ({"gated": True, "param_l2": 0.25}, False),
        ({"gated": False, "scaler": "a scaler"}, True),
    ],
)
def test_an_update_is_written_unless_the_device_or_the_scaler_held_it_back(told, written):
    one = Judging()
    norm = told.pop("param_l2", 0.0)
    assert one.judge(numbers(NAN, bad=True, param_l2=norm), **told) == [("inf_grad", 7, written)]
    assert one.state.health.weights is written


def test_weights_that_are_bad_after_an_update_that_was_held_back_are_known():
    one = Judging(weights_bad=True)
    one.judge(numbers(param_l2=NAN), gated=True)
    assert one.state.health.weights is True
    healthy = Judging()
    healthy.judge(numbers())
    assert healthy.state.health.weights is False


@pytest.mark.parametrize(
    ("told", "weights_bad", "expected"),
    [
        (numbers(INF, bad=True), False, []),
        (numbers(INF, bad=True), True, [("inf_grad", 7, True)]),
        (numbers(NAN, bad=True), False, [("inf_grad", 7, True)]),
    ],
)
def test_the_norm_of_a_clip_that_overflowed_is_no_bad_gradient(told, weights_bad, expected):
    assert Judging(weights_bad).judge(told, clipped=True) == expected


def test_the_same_norm_without_a_clip_is_one():
    assert Judging().judge(numbers(INF, bad=True)) == [("inf_grad", 7, True)]


@pytest.mark.parametrize(
    ("told", "quiet"),
    [(numbers(), False), (numbers(INF), True), (numbers(bad=True, losses=[NAN]), True)],
)
def test_a_healthy_step_ends_the_quiet(told, quiet):
    one = Judging()
    one.judge(told, quiet=True)
    assert one.state.quiet_until_healthy is quiet and one.watched.alarms == []


def read(one: Judging, norm, losses=(), param_l2=0.0):
    """Decide over numbers that one sync has brought from a device."""
    one.gate.read_once = lambda told: (norm, list(losses), param_l2)
    one.gate.gradient_norm = types.SimpleNamespace(of=lambda parameters: torch.ones((), device="meta"))
    gradient = torch.tensor([1.0 if math.isfinite(norm) else norm])
    one.gate.decide(one.optimizer, [one.parameter], [gradient])
    return [alarm.symptom for alarm in one.watched.alarms]


@pytest.mark.parametrize(
    ("norm", "losses", "param_l2", "weights_bad", "previous", "expected"),
    [
        (1.0, (1.0, 2.0), 0.0, False, True, []),
        (1.0, (1.0, NAN), 0.0, False, True, ["nan_loss"]),
        (NAN, (1.0,), 0.0, False, True, ["inf_grad"]),
        (1.0, (1.0,), NAN, True, True, ["bad_update"]),
        (1.0, (1.0,), NAN, True, False, []),
        (1.0, (1.0,), NAN, False, True, []),
        (1.0, (1.0,), 1.0, True, True, []),
    ],
)
def test_numbers_of_a_device_are_judged_at_once(monkeypatch, norm, losses, param_l2, weights_bad, previous, expected):
    monkeypatch.setattr(module, "all_on_cpu", lambda parameters: False)
    one = Judging(weights_bad)
    one.watched.tape.previous = Segment(1) if previous else None
    assert read(one, norm, losses, param_l2) == expected


def test_on_the_cpu_the_loss_was_judged_at_its_backward_and_the_last_update_after_it():
    one = Judging(weights_bad=True)
    one.watched.tape.previous = Segment(1)
    one.watched.tape.current.losses = [(torch.tensor(NAN), None)]
    one.gate.gradient_norm = types.SimpleNamespace(read=lambda parameters: 1.0)
    one.gate.decide(one.optimizer, [one.parameter], [torch.ones(1)])
    assert one.watched.alarms == []


def test_a_norm_that_overflowed_over_finite_gradients_is_no_alarm():
    one = Judging()
    one.gate.gradient_norm = types.SimpleNamespace(read=lambda parameters: INF)
    one.gate.decide(one.optimizer, [one.parameter], [torch.ones(1)])
    assert one.watched.alarms == [] and one.gate.numbers["grad_l2"] == INF


@pytest.mark.parametrize(("norm", "expected"), [(None, 0.0), (torch.tensor(3.0), 3.0)])
def test_a_norm_that_lies_on_the_cpu_is_read_without_a_sync(monkeypatch, norm, expected):
    monkeypatch.setattr(module, "all_on_cpu", lambda parameters: False)
    one = Judging()
    one.gate.gradient_norm = types.SimpleNamespace(of=lambda parameters: norm)
    one.gate.decide(one.optimizer, [one.parameter], [])
    assert one.gate.numbers == {"loss": 2.0, "grad_l2": expected} and one.state.host_syncs == 0


@pytest.mark.parametrize(
    ("sharded", "gradients", "known"),
    [(False, [], True), (True, [], False), (True, [torch.ones(0)], False), (True, [torch.ones(1)], True)],
)
def test_a_rank_that_holds_no_part_of_a_gradient_has_measured_none(sharded, gradients, known):
    one = Judging()
    one.state.roots.sharded = sharded
    one.gate.decide(one.optimizer, [one.parameter], gradients)
    assert ("grad_l2" in one.gate.numbers) is known


def test_all_numbers_of_a_device_cost_one_sync(monkeypatch):
    monkeypatch.setattr(module, "read_at_once", lambda *asked: (asked, 0.25))
    one = Judging()
    before, weights = one.state.own_s, torch.tensor(4.0)
    one.gate.param_l2 = weights
    asked = one.gate.read_once(torch.tensor(1.0))
    assert asked[2] is weights and len(asked[1]) == 2 and one.gate.param_l2 is None
    assert one.state.host_syncs == 1 and one.state.own_s == before - 0.25
    one.gate.reset()
    assert one.state.host_syncs == 0
