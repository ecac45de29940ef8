"""Calls that are exchanged while a step runs again: activations, a backward of the program's own, the device."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.derived_backward import differentiated
from debugtracer.interventions.other_activation import Smooth
from debugtracer.interventions.reference_device import ReferenceDevice

X = torch.tensor([-1.0, 0.5])


def exchanged(name, *args, **kwargs):
    """What a call gives under the mode, and what the mode has seen."""

    def called(*given, **named):
        return "as it was"

    called.__name__ = name
    mode = Smooth()
    return mode.__torch_function__(called, (), args, kwargs), mode.seen


def test_a_floating_tensor_gets_the_smooth_counterpart():
    made, seen = exchanged("relu", X.clone())
    assert torch.equal(made, F.gelu(X)) and seen == ["relu"]
    assert torch.equal(exchanged("exp", input=X.clone())[0], F.softplus(X))
    assert torch.equal(exchanged("hardtanh", X.clone(), inplace=False)[0], X.tanh())


@pytest.mark.parametrize(
    ("name", "kwargs", "inplace"),
    [("relu_", {}, True), ("relu", {"inplace": True}, True), ("relu", {"inplace": 1}, False), ("relu", {}, False)],
)
def test_a_call_in_place_stays_one(name, kwargs, inplace):
    x = X.clone()
    made, _ = exchanged(name, x, **kwargs)
    assert (made is x) is inplace and torch.equal(x, F.gelu(X) if inplace else X)


@pytest.mark.parametrize(("name", "x"), [("add", X), ("relu", torch.tensor([1])), ("relu", 3.0), ("relu", None)])
def test_other_calls_stay_as_they_were(name, x):
    assert exchanged(name, x) == ("as it was", [])
    assert exchanged("relu") == ("as it was", [])
    assert Smooth().__torch_function__(lambda x: x, (), (3,), None) == 3


def test_a_derived_gradient_belongs_to_each_input_that_takes_one():
    x, w = X.clone().requires_grad_(), torch.tensor([2.0, 3.0], requires_grad=True)
    one = torch.ones(2)
    found = differentiated(lambda x, k, w, c: (x * w * k, c, x.detach()), (x, 4.0, w, X), (one, one, one), "Mine")
    assert [g.tolist() if g is not None else None for g in found] == [[8.0, 12.0], None, [-4.0, 2.0], None]
    assert differentiated(lambda x: x * 2, (x,), (one,), "Mine")[0].tolist() == [2.0, 2.0]
    partial = differentiated(lambda x: (x * 2, x * 3), (x,), (one, None), "Mine")
    assert partial[0].tolist() == [2.0, 2.0]
    named = differentiated(lambda x: ("words", x * 3), (x,), (one, one), "Mine")
    assert named[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize("forward", [lambda x: x.detach(), lambda x: 3.0])
def test_a_forward_that_leaves_autograd_is_refused(forward):
    with pytest.raises(ReplayRefused, match="cannot follow the forward of Mine"):
        differentiated(forward, (X.clone().requires_grad_(),), (torch.ones(2),), "Mine")


def a_rerun(*tensors, root=None):
    roots = [root] if root is not None else []
    return SimpleNamespace(roots=roots, leaves=lambda: [SimpleNamespace(tensor=one) for one in tensors])


@pytest.mark.parametrize(
    ("rerun", "refused"),
    [
        (a_rerun(X), False),
        (a_rerun(X.double()), True),
        (a_rerun(X.double(), X), False),
        (a_rerun(torch.tensor([1])), True),
        (a_rerun(torch.tensor([1], device="meta")), False),
        (a_rerun(X.double().to("meta")), False),
        (a_rerun(root=nn.Linear(2, 1)), False),
        (a_rerun(root=nn.Linear(2, 1).double()), True),
        (a_rerun(), True),
    ],
)
def test_the_reference_is_another_device_or_another_precision(rerun, refused):
    assert (ReferenceDevice().refuses(rerun) == "the step was computed on the CPU in float64") is refused


@pytest.mark.parametrize(
    ("floats", "devices", "refused"),
    [({"float64"}, ["cpu"], True), ({"float64"}, ["cpu", "cuda:0"], False), ({"float32"}, ["cpu"], False),
     ({"float32", "float64"}, ["cpu"], False), ({"float64"}, [], True)],
)  # fmt: skip
def test_so_it_is_of_a_capsule(floats, devices, refused):
    storages = [SimpleNamespace(device=one) for one in devices]
    tape = SimpleNamespace(floats=lambda: floats, program=SimpleNamespace(storages=storages), dtype=None, device=None)
    if refused:
        with pytest.raises(ReplayRefused):
            ReferenceDevice().offline(tape)
    else:
        ReferenceDevice().offline(tape)
        assert (tape.dtype, tape.device) == ("float64", "cpu")
