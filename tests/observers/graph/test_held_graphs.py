"""Graphs that the loop keeps, and those it lets go."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.held_graphs import HeldGraphs
from tests.observers.observing import observed


class Meter:
    def __init__(self):
        self.kept = []

    def add(self, value):
        self.kept.append(value)


def train(keep, steps: int = 40) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        out = model(torch.randn(8, 4))
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        keep(step, loss, out)


def test_a_sum_of_live_losses(tmp_path):
    def loop():
        total = 0.0
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(40):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss

    facts = {fact.what: fact for fact in observed(tmp_path, loop, HeldGraphs)}
    assert (facts["loss"].name, facts["loss"].frame.code, facts["loss"].since) == ("total", "total += loss", 0)
    assert facts["loss"].steps >= 16
    assert "output" in facts


def test_losses_kept_by_an_object_of_the_users(tmp_path):
    def loop():
        meter = Meter()
        train(lambda step, loss, out: meter.add(loss))
        assert meter

    (fact,) = [fact for fact in observed(tmp_path, loop, HeldGraphs) if fact.what == "loss"]
    assert (fact.name, fact.frame.code) == ("self.kept", "self.kept.append(value)")


def test_outputs_kept_for_a_metric(tmp_path):
    kept = []
    (fact,) = observed(tmp_path, lambda: train(lambda step, loss, out: kept.append(out)), HeldGraphs)
    assert fact.what == "output"


KEEPERS = {
    "number": lambda kept: lambda step, loss, out: kept.append(loss.item()),
    "detached": lambda kept: lambda step, loss, out: kept.append((loss.detach(), out.detach())),
    "window of ten": lambda kept: lambda step, loss, out: (kept.append(loss), kept.clear() if step % 10 == 9 else None),
}


@pytest.mark.parametrize("how", KEEPERS)
def test_healthy_bookkeeping_is_silent(how, tmp_path):
    kept: list = []
    assert observed(tmp_path, lambda: train(KEEPERS[how](kept)), HeldGraphs) == []


def test_we_keep_no_graph_alive(tmp_path):
    alive = []

    def loop():
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(30):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            alive.append(weakref.ref(loss))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        gc.collect()
        assert sum(reference() is not None for reference in alive) <= 2

    assert observed(tmp_path, loop, HeldGraphs) == []


class Fitter:
    """Keeps losses in itself; whoever steps does not hold it."""

    def __init__(self):
        self.model, self.history = nn.Linear(4, 1), []

    def training_step(self):
        loss = self.model(torch.randn(8, 4)).pow(2).mean()
        self.history.append(loss)
        return loss


def test_what_only_the_forward_has_on_its_stack(tmp_path):
    def loop():
        step = Fitter().training_step
        parameters = list(step.__self__.model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=0.01)
        for _ in range(40):
            optimizer.zero_grad()
            step().backward()
            optimizer.step()

    facts = observed(tmp_path, loop, HeldGraphs)
    assert {(fact.name, fact.frame.code) for fact in facts} == {("self.history", "self.history.append(loss)")}
