"""Copies of a trained model that act in its place."""

from __future__ import annotations

import copy

import torch
from torch import nn

from debugtracer.observers.weights.acting_copies import goes_on, source_of
from debugtracer.trace.facts.acting_copy import ActingCopy
from tests.observers.told import facts
from tests.watching import under_watch

ROUNDS, PASSES, STEPS = 20, 5, 16


def run(out, *, synced=False, every=1, few=False, rounds=ROUNDS, batch=False, both=False, fresh=False, held=False):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    actor = copy.deepcopy(model)
    if fresh:
        for p in actor.parameters():
            nn.init.normal_(p, std=2.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with under_watch(out):
        for turn in range(rounds):
            states = torch.randn(STEPS, 4)
            with torch.no_grad():
                acted = (
                    actor(states[:2]).repeat(8, 1)
                    if few
                    else actor(states)
                    if batch
                    else torch.stack([actor(state) for state in (states if held else [one.clone() for one in states])])
                )
                if both:
                    model(states[0])
            for _ in range(PASSES):
                optimizer.zero_grad()
                (model(states) * (acted - 1)).sum().backward()
                optimizer.step()
            if synced and (turn + 1) % every == 0:
                actor.load_state_dict(model.state_dict())
    return facts(out, ActingCopy)


def test_a_copy_that_acts_and_never_gets_the_weights_is_told_once(tmp_path):
    (fact,) = run(tmp_path)
    assert (fact.module, fact.rounds, fact.updates) == ("Sequential", ROUNDS, ROUNDS * PASSES)
    assert fact.frame is not None and fact.frame.code == "optimizer.step()"
    assert fact.called is not None and "actor(state)" in fact.called.code
    assert float(fact.apart) > 0


def test_one_that_goes_through_the_rows_of_a_tensor_is_a_teacher(tmp_path):
    assert run(tmp_path, held=True) == []


def test_parts_of_memory_that_is_written_between_them_or_asked_for_in_any_order_are_what_an_actor_sees():
    kept = torch.zeros(4, 3)
    first, second = source_of((kept[0],), {}), source_of((), {"x": kept[1]})
    assert goes_on(first, second) and not goes_on(second, first) and not goes_on(second, second)
    kept[2] = 1.0
    assert not goes_on(second, source_of((kept[2],), {}))
    assert source_of((kept[2].clone(),), {}) is None and source_of((), {}) is None
    assert not goes_on(None, second) and not goes_on(second, None)


def test_a_copy_that_is_written_is_silent(tmp_path):
    assert run(tmp_path, synced=True) == []


def test_one_that_is_written_late_or_has_not_acted_for_long_is_silent(tmp_path):
    assert run(tmp_path / "late", synced=True, every=19) == []
    assert run(tmp_path / "brief", rounds=10) == []


def test_a_teacher_that_is_asked_for_a_few_rows_once_a_step_is_silent(tmp_path):
    assert run(tmp_path, few=True) == []


def test_a_reference_on_whole_batches_is_silent(tmp_path):
    assert run(tmp_path, batch=True) == []


def test_an_opponent_beside_a_model_that_acts_itself_is_silent(tmp_path):
    assert run(tmp_path, both=True) == []


def test_another_network_is_silent(tmp_path):
    assert run(tmp_path, fresh=True) == []
