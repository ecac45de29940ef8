"""Target networks that stand still though a line would write them."""

from __future__ import annotations

import copy

import torch
from torch import nn

from debugtracer.observers.weights import stale_copies
from debugtracer.trace.facts.stale_copy import StaleCopy
from debugtracer.trace.facts.unwritten_copy import UnwrittenCopy
from tests.checks.windows import LOADER
from tests.observers.told import facts
from tests.watching import under_watch

EVERY = 50


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def run(out, every=4, offset=1, *, other=False):
    torch.manual_seed(0)
    model = network()
    target = network() if other else copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with under_watch(out):
        for step in range(0, 5 * every, every):
            x = torch.randn(8, 4)
            with torch.no_grad():
                wanted = target(x)
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), 0.9 * wanted + 1).backward()
            optimizer.step()
            if (step + offset) % EVERY == 0:
                target.load_state_dict(model.state_dict())
    return facts(out, StaleCopy)


def test_a_target_that_no_step_copies_is_told_with_the_line_that_would(tmp_path):
    (fact,) = run(tmp_path)
    assert (fact.module, fact.updates, fact.ref.step) == ("Sequential", 2, 2)
    assert (
        fact.frame.code == "if (step + offset) % EVERY == 0:"
        and fact.called is not None
        and "target(x)" in fact.called.code
    )
    assert fact.never == "`(step + offset) % EVERY == 0` never holds for a counter that goes up by 4 from 0"
    assert 0 < float(fact.apart) < 0.5


def test_a_copy_that_may_come_and_another_network_are_silent(tmp_path):
    assert run(tmp_path / "a", every=1) == []
    assert run(tmp_path / "b", offset=0) == []
    assert run(tmp_path / "c", other=True) == []


def test_a_reference_that_no_line_writes_is_left_alone(tmp_path):
    model = network()
    reference = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(4):
            x = torch.randn(8, 4)
            with torch.no_grad():
                before = reference(x)
            optimizer.zero_grad()
            (model(x).square().mean() + nn.functional.mse_loss(model(x), before)).backward()
            optimizer.step()
    assert facts(tmp_path, StaleCopy) == []


def test_a_copy_that_no_line_writes_is_a_fact_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(stale_copies, "untouched_copy", lambda name: LOADER if name == "slow" else None)
    model = network()
    slow = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(4):
            x = torch.randn(8, 4)
            with torch.no_grad():
                wanted = slow(x)
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), 0.9 * wanted + 1).backward()
            optimizer.step()
    ((name, updates),) = [(fact.name, fact.updates) for fact in facts(tmp_path, UnwrittenCopy)]
    assert (name, updates) == ("slow", 2)
