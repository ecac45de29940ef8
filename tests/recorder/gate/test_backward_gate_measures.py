"""What is read when a backward has ended: of which loss, on which device, and what is left unread."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.backward_gate import BackwardNumbers
from tests.recorder.watched import Watched

NAN = math.nan


def a_gate(loss=None, tensors=(), mode="dev", sharded=False):
    """A gate over tensors that have gradients."""
    gate = Watched(mode=mode).backward_gate
    gate.mode = mode
    gate.state.last_loss = loss
    gate.state.roots.sharded = sharded
    gate.trained.with_gradients = lambda segment: list(tensors)
    gate.trained.changed = lambda tensors, norms, replaces: [round(norm, 4) for norm in norms]
    return gate


def weight(value, grad=None, dtype=torch.float32):
    made = nn.Parameter(torch.tensor(value, dtype=dtype))
    made.grad = torch.tensor(grad, dtype=dtype) if grad is not None else None
    return made


class FakeTensor(torch.Tensor):
    """Stands for a tensor that has no value."""


@pytest.mark.parametrize("loss", [None, 3.0, torch.ones((), device="meta"), torch.tensor(1.0).as_subclass(FakeTensor)])
@pytest.mark.parametrize("sharded", [False, True])
def test_a_loss_without_a_value_is_not_read(loss, sharded):
    found = a_gate(loss, sharded=sharded).measure()
    assert (found.loss, found.values, found.tensors) == (None, {}, [])


def test_a_loss_on_the_cpu_is_read_without_a_sync_in_every_mode():
    for mode, sharded in (("dev", False), ("prod", False), ("prod", True), ("dev", True)):
        gate = a_gate(torch.tensor(2.0), mode=mode, sharded=sharded)
        found = gate.measure()
        assert (found.loss, found.values, gate.state.host_syncs) == (2.0, {"loss": 2.0}, 0)
        assert gate.state.weights_unread is sharded


def test_weights_in_parts_are_left_unread():
    gate = a_gate(torch.tensor(2.0), [weight([3.0, 4.0], [1.0, 0.0])], sharded=True)
    assert gate.measure().tensors == [] and gate.state.weights_unread is True


def test_the_norms_of_gradients_and_of_each_weight_are_read():
    one = [weight([3.0, 4.0], [0.6, 0.8]), weight([6.0, 8.0], [0.0, 0.0])]
    found = a_gate(torch.tensor(2.0), one).measure()
    assert found.changed == [5.0, 10.0] and found.tensors == one
    assert found.values == {"loss": 2.0, "grad_l2": pytest.approx(1.0), "param_l2": pytest.approx(math.sqrt(125))}
    two = [weight([3.0, 4.0], [0.6, 0.8]), weight([6.0, 8.0], [0.0, 0.0], torch.float64)]
    found = a_gate(torch.tensor(2.0), two).measure()
    assert sorted(found.changed) == [5.0, 10.0] and found.values["grad_l2"] == pytest.approx(1.0)


def test_on_a_device_nothing_is_read_in_mode_prod():
    for mode, unread in (("prod", True), ("dev", False)):
        gate = a_gate(None, [weight([1.0]).to("meta")], mode=mode)
        found = gate.measure()
        assert gate.state.weights_unread is unread and found.loss is None
        assert gate.state.host_syncs == (0 if unread else 1)


def judged(loss=None, grad_l2=1.0, gradient=1.0, quiet=False):
    watched = Watched()
    watched.state.quiet_until_healthy = quiet
    tensor = weight([1.0], [gradient])
    values = {} if grad_l2 is None else {"grad_l2": grad_l2}
    watched.backward_gate.judge(BackwardNumbers([tensor, weight([1.0])], values, loss))
    return [alarm.symptom for alarm in watched.alarms], watched.state.quiet_until_healthy


@pytest.mark.parametrize(
    ("loss", "grad_l2", "gradient", "expected"),
    [
        (None, 1.0, 1.0, []),
        (2.0, None, 1.0, []),
        (NAN, 1.0, 1.0, ["nan_loss"]),
        (2.0, NAN, NAN, ["inf_grad"]),
        (NAN, NAN, NAN, ["nan_loss"]),
        (2.0, math.inf, 1.0, []),
        (2.0, 1.0, NAN, []),
    ],
)
def test_a_bad_loss_comes_before_a_bad_gradient(loss, grad_l2, gradient, expected):
    assert judged(loss, grad_l2, gradient) == (expected, bool(expected))
    assert judged(loss, grad_l2, gradient, quiet=True) == ([], bool(expected))
