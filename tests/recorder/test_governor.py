"""The balance of seconds: what rests, in which order, when it works again, and what never counts."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.observed_run import RARELY
from debugtracer.recorder import governor as governors
from debugtracer.recorder.governor import (
    AFTER,
    BLOCK_S,
    DEBT_S,
    FIRST_S,
    FIRST_STEPS,
    GRACE_S,
    LIMITS_S,
    WORDS,
    Governor,
    Part,
)
from debugtracer.recorder.run_state import OWN_UPDATES
from debugtracer.recorder.unseen_cost import UNSEEN
from debugtracer.trace.events import RankEnded
from tests.recorder.governed import Steps
from tests.watching import events, under_watch


def test_the_first_steps_do_not_count():
    steps = Steps()
    steps.go(FIRST_STEPS, 0.06, 0.05)
    assert steps.governor.balance_s == GRACE_S
    assert steps.working() == list(Part)


def test_first_steps_of_seconds_count_once_as_much_was_ours_as_every_run_is_given():
    steps = Steps()
    steps.go(3, 2.0, 0.9)
    assert steps.governor.balance_s == GRACE_S
    while Part.GRADIENTS in steps.working():
        steps.go(1, 2.0, 0.9)
        assert steps.state.step < 20
    assert FIRST_S + GRACE_S < steps.state.own_s * (1 + UNSEEN) < FIRST_S + GRACE_S + 2 * 0.9
    assert steps.state.step < 10


def test_what_stays_under_the_promise_lets_nothing_rest():
    steps = Steps()
    steps.go(3000, 0.1, 0.0028)
    assert steps.working() == list(Part)
    assert steps.state.rested == {}


def test_parts_rest_in_their_order_and_root_calls_last():
    steps, order = Steps(), []
    steps.go(FIRST_STEPS, 0.001, 0.001)
    while len(order) < len(Part):
        steps.go(1, 0.002, 0.001)
        order += [part for part in Part if part not in steps.working() and part not in order]
        assert steps.state.step < 13_000
    assert order == list(Part)
    rested = [WORDS[part] for part in order if part not in AFTER]
    assert list(steps.state.rested) == rested, "the others are counted where they are left out"
    assert list(LIMITS_S.values()) == sorted(LIMITS_S.values(), reverse=True)


def test_norms_rest_for_what_is_too_much_while_all_else_rests_not_for_the_debt_from_before() -> None:
    steps = Steps()
    steps.go(FIRST_STEPS + 1, 0.002, 0.001)
    steps.go(1, 200.0, 100.0)
    assert steps.working() == [Part.GRADIENTS, Part.STEPS]
    steps.go(20_000, 0.002, 0.00005)
    assert steps.working() == [Part.GRADIENTS, Part.STEPS], "two and a half percent are promised"
    steps.go(1, 0.002, 0.3)
    assert steps.working() == [Part.STEPS]
    steps.go(20_000, 0.002, 0.00002)
    assert steps.working() == [Part.GRADIENTS, Part.STEPS]
    steps.go(20_000, 0.002, 0.0001)
    assert steps.working() == []
    steps.go(20_000, 0.002, 0.00002)
    assert {Part.GRADIENTS, Part.STEPS} <= set(steps.working())


def test_what_is_kept_never_rests() -> None:
    steps = Steps()
    steps.governor = Governor(0.0, steps.state, lambda: (steps.wall_s, steps.wall_s), kept=(Part.GRADIENTS, Part.STEPS))
    steps.go(FIRST_STEPS + 2, 0.002, 0.001)
    steps.go(10, 10.0, 9.0)
    assert steps.working() == [Part.GRADIENTS, Part.STEPS]


def test_in_the_long_run_the_share_is_the_promised_one():
    """What costs 5 ms a step with the tape and 0.1 ms without it, at steps of 10 ms."""
    steps = Steps()
    steps.go(FIRST_STEPS, 0.015, 0.005)
    begin_s = steps.state.steady_s
    trained_s = 0.0
    changes, before = 0, True
    for _ in range(40_000):
        taped = steps.governor.affords(Part.TAPE)
        changes, before = changes + (taped != before), taped
        own_s = 0.005 if taped else 0.0001
        steps.go(1, 0.01 + own_s, own_s)
        trained_s += 0.01
    share = (steps.state.steady_s - begin_s - GRACE_S) / trained_s
    assert 0.02 < share <= 0.0305
    assert changes / 40_000 < 0.02, "the tape comes back for several steps in a row"


def test_an_incident_is_no_cost_of_watching():
    steps = Steps()
    steps.go(FIRST_STEPS + 1, 0.1, 0.0)
    steps.go(1, 4.0, 3.0, incident_s=3.0)
    assert steps.working() == list(Part)


def test_one_dear_moment_is_a_bounded_debt():
    steps = Steps()
    steps.go(FIRST_STEPS + 1, 0.1, 0.0)
    steps.go(1, 100.0, 100.0)
    assert steps.governor.balance_s == -DEBT_S
    assert steps.working() == [Part.GRADIENTS, Part.STEPS]
    steps.go(int((DEBT_S + GRACE_S) / (0.03 * 0.1)) + 20, 0.1, 0.0)
    assert steps.working() == list(Part)


def test_a_part_works_again_a_block_above_its_limit():
    steps = Steps()
    steps.go(FIRST_STEPS, 0.1, 0.0)
    steps.go(1, 0.0, GRACE_S + 0.001)
    assert not steps.governor.affords(Part.TAPE)
    while not steps.governor.affords(Part.TAPE):
        steps.go(1, 0.01, 0.0)
    assert steps.governor.balance_s == pytest.approx(BLOCK_S, abs=0.001)


@pytest.mark.parametrize("cost", [1.0, 5.0])
def test_no_limit_lets_nothing_rest(cost):
    steps = Steps(cost)
    steps.go(500, 0.01, 0.009)
    assert steps.working() == list(Part)


def test_a_new_run_begins_with_a_full_balance():
    steps = Steps()
    steps.go(FIRST_STEPS + 12_000, 0.002, 0.001)
    assert steps.working() == []
    steps.state.reset()
    steps.governor.reset()
    assert steps.working() == list(Part)
    assert steps.state.rested == {}


def train(model: nn.Module, steps: int) -> list[torch.Tensor]:
    """A loop of its own; the losses."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator, losses = torch.Generator().manual_seed(3), []
    for _ in range(steps):
        x = torch.randn(8, 4, generator=generator)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def test_a_run_that_cannot_afford_it_rests_says_so_and_trains_the_same(tmp_path):
    torch.manual_seed(0)
    bare = nn.Linear(4, 3)
    watched = nn.Linear(4, 3)
    watched.load_state_dict(bare.state_dict())
    expected = train(bare, 140)
    with under_watch(tmp_path, cost=0.0, inspect_steps=20) as session:
        inspected: list[int] = []
        seen = session.observed_run
        close = session.governor.steps_closed

        def closed(seconds: float, steps: int) -> None:
            if session.state.step == FIRST_STEPS + 1:
                session.state.own_s += 100.0
            close(seconds, steps)
            if seen.inspecting:
                inspected.append(session.state.step)

        session.governor.steps_closed = closed  # type: ignore[method-assign]
        losses = train(watched, 140)
        assert session.governor.balance_s == -DEBT_S
        optimizer = next(iter(session.state.optimizers))
        assert session.copies.get(optimizer) is None, "the copy of an earlier step is none"
    assert all(map(torch.equal, losses, expected))
    assert inspected == [1, 2, 20, 40], f"then one of {RARELY} that are due"
    (ended,) = [e for e in events(tmp_path) if isinstance(e, RankEnded) and e.final]
    assert ended.rested == dict.fromkeys((WORDS[part] for part in Part if part <= Part.CALLS), 140 - FIRST_STEPS)


def test_a_loss_that_jumps_for_hours_is_spared_less_each_time():
    steps = Steps()
    steps.go(FIRST_STEPS + 1, 0.1, 0.0)
    spared_s = []
    for _ in range(8):
        steps.go(200, 0.01, 0.05)
        assert steps.working() == []
        steps.go(1, 1.0, 1.0, incident_s=1.0)
        spared_s.append(steps.governor.balance_s)
    assert spared_s[0] == pytest.approx(GRACE_S)
    assert spared_s[1] == pytest.approx(GRACE_S / 2)
    assert sum(spared_s) < 2 * GRACE_S


def test_before_a_first_update_observers_work_whatever_they_cost() -> None:
    steps = Steps()
    steps.state.stepped, steps.governor.balance_s = False, -DEBT_S
    for writes, works in ((0, True), (OWN_UPDATES - 1, True), (OWN_UPDATES, False)):
        steps.state.own_updates = writes
        steps.governor.decide()
        assert steps.governor.affords(Part.OBSERVERS) is works
        assert not steps.governor.affords(Part.CALLS)
    steps.state.own_updates, steps.state.stepped = 0, True
    steps.governor.decide()
    assert not steps.governor.affords(Part.OBSERVERS)


def test_ranks_that_train_together_let_only_their_own_looks_and_copies_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governors, "several_ranks", lambda: True)
    steps = Steps()
    steps.governor.balance_s = -DEBT_S
    steps.governor.decide()
    assert steps.working() == [Part.TAPE, Part.OBSERVERS, Part.CALLS, Part.GRADIENTS, Part.STEPS]


@pytest.mark.parametrize("part", LIMITS_S)
def test_a_part_works_from_its_limit_on_and_again_from_a_block_above_it(part: Part) -> None:
    steps = Steps()
    governor, limit_s = steps.governor, LIMITS_S[part]
    told = []
    for balance_s in (limit_s, limit_s - 1e-9, limit_s + 0.049, limit_s + 0.05 + 1e-9):
        governor.balance_s = balance_s
        governor.resting_s = dict.fromkeys(AFTER, balance_s)
        governor.decide()
        told.append(governor.affords(part))
    assert told == [True, False, False, True]
    assert steps.state.rested.get(WORDS[part], 0) == (2 if part <= Part.CALLS else 0)
