"""The balance of seconds: what rests, in which order, when it works again, and what never counts."""

from __future__ import annotations

import time

import pytest
import torch
from torch import nn

from debugtracer.observers.observed_run import RARELY
from debugtracer.recorder import governor as governors
from debugtracer.recorder.governor import (
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
from debugtracer.recorder.run_state import OWN_UPDATES, RunState
from debugtracer.recorder.unseen_cost import UNSEEN
from debugtracer.trace.events import RankEnded
from tests.watching import events, under_watch


class Steps:
    """Steps of so many seconds of which so many are ours."""

    def __init__(self, cost: float = 0.03, core: float = 1.0) -> None:
        self.state = RunState()
        self.state.stepped = True
        self.core, self.wall_s = core, 0.0
        """The share of a core that the training thread has, and the seconds on the wall."""
        self.governor = Governor(cost, self.state, lambda: (self.core * self.wall_s, self.wall_s))

    def go(self, steps: int, step_s: float, own_s: float, incident_s: float = 0.0) -> None:
        for _ in range(steps):
            self.state.step += 1
            self.state.step_s = step_s
            self.wall_s += step_s
            self.state.own_s += (own_s - incident_s) / (1 + UNSEEN) + incident_s
            self.state.incident_s += incident_s
            self.governor.step_closed()

    def working(self) -> list[Part]:
        return [part for part in Part if self.governor.affords(part)]


def test_the_first_steps_do_not_count():
    steps = Steps()
    steps.go(FIRST_STEPS, 0.06, 0.05)
    assert steps.governor.balance_s == GRACE_S
    assert steps.working() == list(Part)


def test_first_steps_of_seconds_count_once_as_much_was_ours_as_every_run_is_given():
    steps = Steps()
    steps.go(3, 2.0, 0.9)
    assert steps.governor.balance_s == GRACE_S
    while steps.working():
        steps.go(1, 2.0, 0.9)
        assert steps.state.step < 20
    assert FIRST_S + GRACE_S < steps.state.own_s * (1 + UNSEEN) < FIRST_S + GRACE_S + 2 * 0.9
    assert steps.state.step < 10


def test_on_a_full_machine_first_steps_are_given_as_many_seconds_of_a_core():
    steps = Steps(core=0.5)
    steps.go(FIRST_STEPS, 0.2, 0.11)
    assert steps.governor.pace == 0.5
    assert steps.governor.balance_s == GRACE_S


def test_on_a_full_machine_the_share_is_looked_at_before_the_sixteenth_step_where_it_decides():
    steps = Steps(core=0.4)
    steps.go(3, 5.0, 2.0)
    assert steps.governor.pace == 0.4
    assert steps.working() == list(Part)
    quiet = Steps()
    quiet.go(4, 5.0, 2.0)
    assert quiet.working() == []


def test_what_stays_under_the_promise_lets_nothing_rest():
    steps = Steps()
    steps.go(3000, 0.1, 0.0028)
    assert steps.working() == list(Part)
    assert steps.state.rested == {}


@pytest.mark.parametrize(("core", "times"), [(0.5, 2.0), (0.1, 3.0)])
def test_on_a_full_machine_a_run_keeps_what_it_is_given(core: float, times: float) -> None:
    quiet, full = Steps(), Steps(core=core)
    for steps in (quiet, full):
        steps.go(FIRST_STEPS, 0.002, 0.001)
        while steps.governor.affords(Part.OBSERVERS):
            steps.go(1, 0.002, 0.001)
    rests_after = [steps.state.step - FIRST_STEPS for steps in (quiet, full)]
    assert rests_after[1] / rests_after[0] == pytest.approx(times, rel=0.02)


def test_on_a_full_machine_the_share_is_the_same() -> None:
    steps = Steps(core=0.5)
    steps.go(3000, 0.1, 0.0028)
    assert steps.working() == list(Part)


def test_parts_rest_in_their_order_and_root_calls_last():
    steps, order = Steps(), []
    steps.go(FIRST_STEPS, 0.001, 0.001)
    while len(order) < len(Part):
        steps.go(1, 0.002, 0.001)
        order += [part for part in Part if part not in steps.working() and part not in order]
        assert steps.state.step < 13_000
    assert order == list(Part)
    assert list(steps.state.rested) == [WORDS[part] for part in order[:-1]], "the last is counted where it is left out"
    assert list(LIMITS_S.values()) == sorted(LIMITS_S.values(), reverse=True)


def test_norms_rest_for_what_is_too_much_while_all_else_rests_not_for_the_debt_from_before() -> None:
    steps = Steps()
    steps.go(FIRST_STEPS + 1, 0.002, 0.001)
    steps.go(1, 200.0, 100.0)
    assert steps.working() == [Part.GRADIENTS]
    steps.go(20_000, 0.002, 0.00005)
    assert steps.working() == [Part.GRADIENTS], "two and a half percent are promised"
    steps.go(20_000, 0.002, 0.0001)
    assert steps.working() == []
    steps.go(20_000, 0.002, 0.00002)
    assert Part.GRADIENTS in steps.working()


def test_what_is_kept_never_rests() -> None:
    steps = Steps()
    steps.governor = Governor(0.0, steps.state, lambda: (steps.wall_s, steps.wall_s), kept=(Part.GRADIENTS,))
    steps.go(FIRST_STEPS + 2, 0.002, 0.001)
    steps.go(10, 10.0, 9.0)
    assert steps.working() == [Part.GRADIENTS]


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
    assert steps.working() == [Part.GRADIENTS]
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


def test_a_look_in_which_the_machine_slept_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governors, "CLOCK_MOST_S", 1.0)
    monkeypatch.setattr(governors, "LOOK_SHARE", 0.02)  # a look of a millisecond on a busy machine is no stop
    looks: list[int] = []

    def stopped_once() -> tuple[float, float]:
        looks.append(1)
        time.sleep(0.05 if len(looks) == 1 else 0.0)
        return 0.0, 0.0

    governor = Governor(0.03, RunState(), read=lambda: (0.0, 0.0))
    governor.read = stopped_once
    for _ in range(200):
        governor.steps_closed(0.05, 16)
    assert len(looks) > 5, "50 ms would be a fiftieth of 2.5 s"


def test_clocks_that_are_dear_are_looked_at_rarely() -> None:
    looks: list[int] = []

    def dear() -> tuple[float, float]:
        looks.append(1)
        time.sleep(0.002)
        return 0.0, 0.0

    governor = Governor(0.03, RunState(), read=dear)
    looks.clear()
    for _ in range(40):
        governor.steps_closed(0.05, 16)  # seconds that are told, none that pass
    assert len(looks) <= 2, "one at once, the next once 2 ms are a thousandth of the steps"


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
    assert steps.working() == [Part.TAPE, Part.OBSERVERS, Part.CALLS, Part.GRADIENTS]


@pytest.mark.parametrize("part", LIMITS_S)
def test_a_part_works_from_its_limit_on_and_again_from_a_block_above_it(part: Part) -> None:
    steps = Steps()
    governor, limit_s = steps.governor, LIMITS_S[part]
    told = []
    for balance_s in (limit_s, limit_s - 1e-9, limit_s + 0.049, limit_s + 0.05 + 1e-9):
        governor.balance_s = governor.resting_s = balance_s
        governor.decide()
        told.append(governor.affords(part))
    assert told == [True, False, False, True]
    assert steps.state.rested.get(WORDS[part], 0) == (2 if part <= Part.CALLS else 0)


def test_a_look_at_the_clocks_tells_the_share_of_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu_s, wall_s, share, pace in (
        (0.5, 1.0, 0.5, 0.5),
        (0.1, 1.0, 0.1, 1 / 3),
        (0.0, 1.0, 0.02, 1 / 3),
        (2.0, 1.0, 1.0, 1.0),
        (0.0, 0.0, 1.0, 1.0),
    ):
        clock = iter([(0.0, 0.0), (cpu_s, wall_s)])
        governor = Governor(0.03, RunState(), read=lambda clock=clock: next(clock))  # type: ignore[misc]
        governor.look_at_clock()
        assert (governor.share, governor.pace, governor.is_pace_known) == (share, pytest.approx(pace), True)
        assert governor.clock_s == pytest.approx(0.05, abs=0.01)


def test_steps_of_one_kind_tell_what_the_clocks_inside_miss() -> None:
    steps = Steps(core=0.5)
    taken: list[tuple[object, float, float]] = []
    steps.state.unseen.take = lambda *told: taken.append(told)  # type: ignore[method-assign]
    governor, state = steps.governor, steps.state
    state.step = FIRST_STEPS + 1
    governor.block_steps, governor.block_own_s, governor.block_kinds = 4, 0.4, {True}
    state.incident_s, steps.wall_s = 0.2, 2.0
    governor.look_at_clock()
    assert taken == [(True, pytest.approx((1.0 - 0.5 * 0.2) / 4), pytest.approx(0.5 * 0.4 / 4))]
    assert (governor.block_steps, governor.block_own_s, governor.block_s, governor.block_kinds) == (0, 0.0, 0.0, set())
    for kinds in ({True, False}, set()):
        governor.block_kinds, steps.wall_s = kinds, steps.wall_s + 1.0
        governor.look_at_clock()
    assert len(taken) == 1, "steps of both kinds tell of neither"


def test_a_new_run_forgets_the_clocks_of_the_last_one() -> None:
    steps = Steps(core=0.5)
    steps.go(FIRST_STEPS + 40, 0.1, 0.09, incident_s=0.01)
    governor = steps.governor
    assert (governor.pace, governor.is_pace_known) == (0.5, True)
    governor.reset()
    assert (governor.pace, governor.share, governor.is_pace_known) == (1.0, 1.0, False)
    assert (governor.balance_s, governor.spared_s, governor.incident_s, governor.first_s) == (
        GRACE_S,
        GRACE_S,
        0.0,
        0.0,
    )
    assert (governor.seen_own_s, governor.seen_judge_s, governor.block_steps, governor.block_s) == (0.0, 0.0, 0, 0.0)
