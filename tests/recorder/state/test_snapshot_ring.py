"""The snapshot ring: how far it reaches, what it keeps and lets go, what it costs."""

from __future__ import annotations

import gc
import itertools
import os
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.recorder.state import snapshot_ring as ring_of
from debugtracer.recorder.state.snapshot_ring import EVERY, MAX_ROLLBACK_STEPS, REACH, SLOTS, STALE, TAPES
from tests.recorder.ringed import Training
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


@pytest.fixture
def training(tmp_path):
    made: list[Training] = []

    def make(**more: Any) -> Training:
        made.append(Training(tmp_path, **more))
        return made[-1]

    yield make
    for one in made:
        one.watch.__exit__(None, None, None)


def test_the_past_of_a_step_begins_some_updates_before_and_ends_with_it(training):
    one = training()
    for step in range(3 * EVERY + 3):
        one.go(1)
        past = one.ring.past(step)
        if step < 3:
            assert past is None
            continue
        assert past is not None
        assert past.segments[0].number == past.snapshot.number
        assert [s.first_step for s in past.segments] == list(range(past.snapshot.step, step + 1))
        assert past.steps >= 2
        assert past.steps >= min(REACH, step - 1)
    assert one.ring.past(3 * EVERY + 3) is None, "a step that is still to come"


def test_a_bounded_number_of_snapshots_and_tapes_is_held(training):
    one = training()
    one.go(80)
    assert len(one.ring.held) == SLOTS
    assert len(one.ring.tapes) == len(one.ring.bytes) == TAPES
    steps = [s.step for s in one.ring.held]
    assert [b - a for a, b in itertools.pairwise(steps)] == [EVERY] * (SLOTS - 1)
    longest = one.ring.longest()
    assert longest is not None
    assert longest.snapshot is one.ring.held[0]
    assert longest.segments[-1] is one.ring.tapes[-1]


def test_a_snapshot_gives_back_weights_moments_and_buffers(training):
    one = training()
    one.go(EVERY + 1)
    before, at = one.state(), one.ring.held[-1].step
    assert at == EVERY + 1
    one.go(4)
    assert not all(map(same_bits, one.state(), before))
    one.ring.held[-1].restore()
    assert all(map(same_bits, one.state(), before))
    held = sum(t.nbytes for t in before)
    assert one.ring.held[-1].nbytes == held


def test_what_is_pinned_stays_although_training_goes_on(training):
    one = training()
    one.go(20)
    one.ring.pin(19, 1.0)
    pinned = one.ring.pinned
    kept = [v.clone() for c in pinned.snapshot.copies for v in c.values]
    one.go(60)
    assert one.ring.past(19) is None
    assert all(map(same_bits, (v for c in pinned.snapshot.copies for v in c.values), kept))
    taken = one.ring.take_pinned(19)
    assert taken is not None
    assert taken.snapshot is pinned.snapshot
    assert taken.segments == pinned.segments
    assert one.ring.pinned is None
    assert one.ring.take_pinned(19) is None


@pytest.mark.parametrize("asked", [20, 25])
def test_a_higher_loss_soon_after_keeps_the_one_that_came_first(training, asked):
    """A divergence is told by its first step long after a later one stood out further."""
    one = training()
    one.go(21)
    one.ring.pin(20, 1.0)
    first = one.ring.pinned.snapshot
    one.go(5)
    one.ring.pin(25, 2.0)
    assert one.ring.pinned.snapshot is first
    one.go(60)
    past = one.ring.take_pinned(asked)
    assert past is not None
    assert past.snapshot is first
    assert past.segments[-1].first_step == asked
    assert REACH <= past.steps <= TAPES


def test_a_loss_that_stood_out_further_takes_the_place_of_one_that_nobody_asked_for(training):
    one = training()
    one.go(20)
    one.ring.pin(19, 1.0)
    one.go(TAPES)
    one.ring.pin(18 + TAPES, 0.5)
    assert one.ring.pinned.segments[-1].first_step == 19
    one.ring.pin(19 + TAPES, 2.0)
    assert one.ring.pinned.segments[-1].first_step == 19 + TAPES
    assert one.ring.pinned.steps < TAPES
    one.ring.pinned.segments[-1].first_step -= STALE + 5
    one.ring.pin(17 + TAPES, 0.1)
    assert one.ring.pinned.segments[-1].first_step == 17 + TAPES


def test_no_graph_of_the_users_is_kept_alive(training):
    one = training()
    alive: list[weakref.ref[Any]] = []

    class Mark:
        """Dies with the node of the graph that carries it."""

    carried = torch.zeros(5, 4)
    for _ in range(12):
        one.optimizer.zero_grad()
        hidden = torch.tanh(one.model[0](torch.randn(5, 4)) + carried)
        carried = hidden * 0.5  # goes on into the next step with its graph, cut there
        mark = Mark()
        hidden.grad_fn.metadata["mark"] = mark
        alive.append(weakref.ref(mark))
        (one.model[3](hidden).square().mean() + carried.mean() * 0).backward()
        carried = carried.detach()
        one.optimizer.step()
        del hidden, mark
    gc.collect()
    assert len(one.ring.tapes) == 12
    assert sum(m() is not None for m in alive) <= 1


def test_a_fake_reused_in_the_next_update_lets_its_graph_go_afterwards(training):
    one = training()
    critic = nn.Linear(1, 1)
    second = torch.optim.SGD(critic.parameters(), lr=0.1)

    def both() -> weakref.ref[Tensor]:
        fake = one.model(torch.randn(5, 4))
        critic(fake.detach()).mean().backward()
        second.step()
        critic(fake).mean().backward()
        one.optimizer.step()
        return weakref.ref(fake)

    nodes = [both() for _ in range(8)]
    gc.collect()
    held = [leaf.tensor for tape in list(one.ring.tapes)[:-1] for leaf in tape.leaves.values()]
    assert held
    assert all(t.grad_fn is None for t in held)
    assert [n() is not None for n in nodes] == [False] * 7 + [True]


def test_too_many_bytes_switch_it_off_with_a_reason(training):
    one = training(ring_bytes=1000)
    one.go(EVERY + 2)
    size = sum(p.nbytes for p in one.model.parameters()) * 4 * (SLOTS + 1)
    assert one.ring.off == (
        f"{SLOTS + 1} snapshots of parameters, moments and gradients need about {size} bytes, more than ring_bytes "
        "(1000)"
    )
    assert not one.ring.held
    assert not one.ring.tapes
    assert one.ring.past(EVERY) is None


def test_steps_of_very_many_calls_switch_it_off(training, monkeypatch):
    monkeypatch.setattr(ring_of, "MOST_ENTRIES", 4)
    one = training()
    one.go(3)
    assert one.ring.off == "a step makes more than 4 torch calls outside modules"


def test_the_oldest_tapes_go_when_their_batches_take_too_much(training, monkeypatch):
    monkeypatch.setattr(ring_of, "TAPE_BYTES", 10 * 5 * 4 * 4)
    one = training()
    given = [torch.randn(5, 4) for _ in range(20)]
    for x in given:
        one.optimizer.zero_grad()
        one.model(x).square().mean().backward()
        one.optimizer.step()
    assert list(one.ring.bytes) == [80] * 10
    assert [t.first_step for t in one.ring.tapes] == list(range(10, 20))


def test_a_forked_child_starts_from_nothing(training):
    one = training()
    one.go(20)
    one.ring.pin(19)
    child = os.fork()
    if child == 0:
        ring = one.ring
        empty = not ring.held and not ring.tapes and not ring.bytes and ring.pinned is None
        os._exit(0 if empty else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert one.ring.pinned is not None
    assert len(one.ring.held) == SLOTS


def test_two_dear_snapshots_are_no_reason_to_stop_and_the_third_is(training):
    ring = training().ring
    ring.cost_s = []
    assert [bool(type(ring).judge(ring, 1.0, 1e-9)) for _ in range(3)] == [False, False, True]
    assert ring.off


def test_several_ranks_take_theirs_at_the_same_steps_whatever_they_cost(training, monkeypatch):
    monkeypatch.setattr(ring_of, "several_ranks", lambda: True)
    loop = training()
    taken = []
    for number, dear in enumerate((1, 3, 9)):  # shares of a step that a snapshot takes on three ranks
        ring = ring_of.SnapshotRing(loop.ring.parameters, loop.ring.roots, 2**30)
        for _ in range(2):
            ring.judge(dear * EVERY * ring_of.SHARE, 1.0)
        monkeypatch.setattr(ring, "judge", lambda cost_s, step_s: None)
        taken.append(set())
        for step in range(1, 600):
            ring.consider(step, step, [loop.optimizer], 1.0)
            taken[number] |= {snapshot.step for snapshot in ring.held}
    assert len(taken[2]) > 3 and taken[2] < taken[1] < taken[0]


def test_what_came_after_a_snapshot_that_was_put_back_goes_and_older_ones_stay(training):
    loop = training()
    loop.go(SLOTS * EVERY + 2)
    older, middle, newer = list(loop.ring.held)
    loop.ring.begin_with(middle)
    assert list(loop.ring.held) == [older, middle] and not loop.ring.tapes
    assert loop.ring.newest_good(0) is middle and loop.ring.oldest_good(0) is older
    assert loop.ring.longest() is None, "the steps since the older one are not kept any more"
    went_to = middle.step
    loop.go(2 * EVERY)
    assert newer not in loop.ring.held and loop.ring.held[-1].step > went_to


def test_at_the_end_of_what_is_of_use_ranks_still_share_their_steps(training, monkeypatch):
    ring = training().ring
    for ranks, expected in ((False, 500), (True, 512)):
        monkeypatch.setattr(ring_of, "several_ranks", lambda ranks=ranks: ranks)
        monkeypatch.setattr(ring, "max_interval", lambda: MAX_ROLLBACK_STEPS)
        ring.cost_s, ring.every = [], EVERY
        for _ in range(2):
            assert type(ring).judge(ring, 300 * ring_of.SHARE, 1.0) is None
        assert ring.every == expected
