"""How the health gate reads what a device or a scaler judges, and the weights after an update."""

from __future__ import annotations

import types

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate import health_gate as module
from tests.recorder.gate.judging import INF, NAN, Judging, Late, numbers


def on_meta(one: Judging):
    return torch.optim.SGD([nn.Parameter(torch.ones(1, device="meta"))], lr=0.1)


def test_what_a_scaler_judges_on_a_device_is_measured_and_read_late():
    one = Judging()
    one.gate.reads = Late()
    one.gate.scaled(on_meta(one), "a scaler", None)
    assert [(sent.gated, sent.scaler) for sent in one.gate.reads.measured] == [(True, "a scaler")]
    assert one.gate.late is True and one.state.health.bad is False


@pytest.mark.parametrize("why", ["a scale", "no parameter", "cpu", "ranks"])
def test_what_a_scaler_judges_is_read_at_once_elsewhere(why):
    one = Judging()
    one.gate.reads = Late()
    one.gate.ranks = types.SimpleNamespace(meets=lambda: why == "ranks")
    optimizer = one.optimizer if why in ("cpu", "a scale") else on_meta(one)
    if why == "no parameter":
        optimizer.param_groups[0]["params"] = []
    one.gate.scaled(optimizer, "a scaler", 2.0 if why == "a scale" else None)
    assert one.gate.reads.measured == [] and one.gate.late is False
    assert one.gate.numbers == {"loss": 2.0} | ({"scale": 2.0, "grad_l2": 0.0} if why == "a scale" else {})


@pytest.mark.parametrize(
    ("losses", "gradient", "quiet"),
    [([1.0], 1.0, False), ([1.0], INF, True), ([1.0, NAN], 1.0, True), ([], 1.0, True), ([1.0], None, False)],
)
def test_a_healthy_step_of_a_scaler_ends_the_quiet(losses, gradient, quiet):
    one = Judging()
    one.watched.tape.current.losses = [(torch.tensor(value), None) for value in losses]
    one.parameter.grad = torch.tensor([gradient]) if gradient is not None else None
    one.state.quiet_until_healthy = True
    one.gate.scaled(one.optimizer, "a scaler", 2.0)
    assert one.state.quiet_until_healthy is quiet


def test_a_step_that_a_scaler_left_out_is_read_at_once():
    one = Judging()
    one.gate.late = True
    one.gate.reads = Late()
    assert one.gate.scaler_skipped() is None and one.gate.late is False and one.gate.reads.sends == 1
    one.gate.reads = Late((numbers(3.0, scale=8.0), one.sent(gated=True, scaler="a scaler")))
    assert one.gate.scaler_skipped() == 8.0
    assert one.gate.numbers == {"grad_l2": 3.0, "scale": 8.0}


@pytest.mark.parametrize(("late", "arrives", "published"), [(True, 1, False), (True, None, True), (False, 1, True)])
def test_the_rest_of_a_step_is_published_with_a_late_reading_or_alone(late, arrives, published):
    one = Judging()
    one.gate.late, one.gate.reads, one.gate.numbers = late, Late(arrives), {"loss": 1.0}
    one.gate.publish_rest(one.optimizer, {"step_s": 0.5})
    assert one.watched.points == ([(0, {"loss": 1.0, "step_s": 0.5, "lr": 0.1})] if published else [])
    assert one.gate.numbers == {}


class Norms:
    """What a device gives as the norm of the weights."""

    def __init__(self, norm) -> None:
        self.norm = norm

    def l2(self, tensors):
        return self.norm


@pytest.mark.parametrize(
    ("norm", "known"),
    [(None, {}), (torch.ones((), device="meta"), {}), (torch.tensor(5.0), {"param_l2": 5.0})],
)
def test_the_norm_of_weights_on_a_device_is_not_waited_for(monkeypatch, norm, known):
    monkeypatch.setattr(module, "all_on_cpu", lambda parameters: False)
    one = Judging(device_numbers=Norms(norm))
    one.gate.after(one.optimizer)
    assert one.gate.numbers == known and one.gate.param_l2 is norm and one.watched.alarms == []


@pytest.mark.parametrize(("weights_bad", "expected"), [(True, ["bad_update"]), (False, [])])
def test_a_norm_of_weights_that_overflowed_is_no_alarm_where_all_are_finite(monkeypatch, weights_bad, expected):
    monkeypatch.setattr(module, "l2_on_cpu", lambda parameters, norms: INF)
    one = Judging(weights_bad)
    one.gate.after(one.optimizer)
    assert [alarm.symptom for alarm in one.watched.alarms] == expected
    assert one.state.health.weights is bool(expected)


def test_weights_are_read_only_where_their_norm_is_bad(monkeypatch):
    monkeypatch.setattr(module, "l2_on_cpu", lambda parameters, norms: 1.0)
    one = Judging(weights_bad=True)
    one.gate.after(one.optimizer)
    assert one.watched.alarms == []
