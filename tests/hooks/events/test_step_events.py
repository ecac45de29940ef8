"""What the hooks report: the recorder hears first, then the observers; a root call that fails is not told."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.observer import Observer
from tests.watching import under_watch


class Order(Observer):
    def __init__(self, session):
        super().__init__(session.observed_run)
        self.tape = session.tape
        self.told = []

    def entered(self, module, args):
        self.told.append(("entered", self.run.state.forward_since))

    def left(self, module, args, kwargs, output):
        self.told.append(("left", len(args), sorted(kwargs), tuple(output.shape)))

    def zeroed(self, owner):
        self.told.append(("zeroed", self.tape.current.entries[-1].kind))

    def backward_ended(self, losses):
        self.told.append(("backward_ended", len(losses)))


class Net(nn.Linear):
    def forward(self, x, scale=1.0):
        if scale < 0:
            raise ValueError("scale")
        return super().forward(x) * scale


def test_observers_hear_after_the_recorder_with_the_arguments_of_the_call(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        order = Order(session)
        session.dispatcher.listeners = {name: [getattr(order, name)] for name in ("entered", "left", "zeroed")}
        model = Net(2, 3)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(4, 2), scale=2.0).sum().backward()
        optimizer.zero_grad()
        with pytest.raises(ValueError, match="scale"):
            model(torch.ones(4, 2), scale=-1.0)
    assert order.told == [("entered", True), ("left", 1, ["scale"], (4, 3)), ("zeroed", "zero_grad"), ("entered", True)]


def test_a_program_that_compiles_is_not_looked_into(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        assert session.inspection.on
        torch.compile(lambda x: x)
        assert session.state.compiles
        session.events.working.inspected_call.begin()
        assert not session.events.working.inspected_call.pushed


def test_observers_hear_only_of_backwards_that_worked(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        order = Order(session)
        session.dispatcher.listeners = {"backward_ended": [order.backward_ended]}
        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)  # without one each backward would end a step
        loss = weight.exp().sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        weight.exp().sum().backward()
        assert session.stack.pushed
    assert order.told == [("backward_ended", 1)] * 2
    assert optimizer.param_groups and session.state.step == 0
