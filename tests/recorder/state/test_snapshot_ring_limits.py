"""The ring at its limits: what is good to go back to, which past is pinned, and how dear a snapshot may be."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.recorder.state import snapshot_ring as module
from debugtracer.recorder.state.snapshot_ring import SnapshotRing

# the limits as they are promised
EVERY, HABIT, MAX_INTERVAL, MOST_ENTRIES, REACH, STALE, TAPES = 8, 4, 200, 2000, 4, 500, 26
FREE_S, SHARE = 3e-4, 0.004


def a_ring(**more):
    return SnapshotRing(lambda optimizer: optimizer.held, list, 1 << 20, **more)


def a_snapshot(step, finite=True):
    return SimpleNamespace(step=step, is_finite=lambda: finite, copies=[])


def test_only_a_later_snapshot_that_fits_and_is_finite_is_good():
    ring = a_ring()
    ring.fits = lambda snapshot: snapshot.step != 12
    ring.held.extend([a_snapshot(4), a_snapshot(8), a_snapshot(12), a_snapshot(16, finite=False), a_snapshot(20)])
    assert ring.good_steps(4) == (8, 20) and ring.good_steps(3) == (4, 8, 20) and ring.good_steps(20) == ()
    assert ring.newest_good(-1).step == 20 and ring.oldest_good(4).step == 8


@pytest.mark.parametrize("same", [True, False])
def test_a_snapshot_fits_while_its_optimizers_hold_the_same_parameters(same):
    held = [object()]
    optimizer = SimpleNamespace(held=held if same else [object()])
    ring = a_ring()
    copy = SimpleNamespace(optimizer=lambda: optimizer, parameters=held)
    gone = SimpleNamespace(optimizer=lambda: None, parameters=held)
    assert ring.fits(SimpleNamespace(copies=[copy])) is same
    assert ring.fits(SimpleNamespace(copies=[copy, gone])) is False


def pinning(height=1.0, last=100, prolonged=None, past="past"):
    ring = a_ring()
    ring.pinned, ring.height = SimpleNamespace(segments=[SimpleNamespace(first_step=last)]), height
    ring.prolonged, ring.past = lambda step: prolonged, lambda step: past
    return ring, ring.pinned


@pytest.mark.parametrize(
    ("step", "height", "taken"),
    [(110, 1.0, False), (110, 1.1, True), (100 + STALE, 0.0, False), (101 + STALE, 0.0, True)],
)
def test_a_past_gives_way_to_a_higher_loss_or_after_long(step, height, taken):
    ring, before = pinning()
    ring.pin(step, height)
    assert (ring.pinned, ring.height) == (("past", height) if taken else (before, 1.0))


def test_a_pinned_past_is_led_on_and_stays_where_there_is_none():
    ring, before = pinning(prolonged="led on")
    ring.pin(110, 2.0)
    assert ring.pinned == "led on"
    ring, before = pinning(past=None)
    ring.pin(110, 2.0)
    assert ring.pinned is before
    ring = a_ring()
    ring.past = lambda step: "past"
    ring.pin(3)
    assert (ring.pinned, ring.height) == ("past", 0.0)


@pytest.mark.parametrize(("number", "led"), [(TAPES, True), (TAPES + 1, False)])
def test_a_pinned_past_is_led_on_as_far_as_a_trial_reaches(number, led):
    ring = a_ring()
    ring.pinned = SimpleNamespace(segments=[SimpleNamespace(number=0, first_step=0)], snapshot="snapshot")
    ring.between = lambda *asked: "led on"
    ring.tapes.append(SimpleNamespace(number=number, first_step=50))
    assert ring.prolonged(50) == ("led on" if led else None)
    assert ring.prolonged(51) is None
    ring.pinned = None
    assert ring.prolonged(50) is None


@pytest.mark.parametrize(
    ("pinned", "here", "expected"),
    [(REACH, REACH + 1, REACH), (REACH - 1, REACH + 1, REACH + 1), (REACH + 2, REACH, REACH), (2, 3, 2)],
)
def test_the_shorter_past_that_reaches_far_enough_is_taken(pinned, here, expected):
    ring = a_ring()
    ring.pinned = SimpleNamespace(up_to=lambda step: SimpleNamespace(steps=pinned))
    ring.past = lambda step: SimpleNamespace(steps=here)
    assert ring.take_pinned(9).steps == expected and ring.pinned is None
    ring.past = lambda step: None
    assert ring.take_pinned(9) is None


@pytest.mark.parametrize(("steps", "long"), [(REACH, True), (REACH - 1, False)])
def test_the_longest_past_reaches_some_updates_back(steps, long):
    ring = a_ring()
    ring.held.extend(["nothing", "short"])
    ring.between = lambda snapshot, last, numbers: None if snapshot == "nothing" else SimpleNamespace(steps=steps)
    assert (ring.longest() is not None) is long


def test_a_snapshot_leads_on_where_every_optimizer_that_stepped_is_in_it():
    optimizer, other = SimpleNamespace(held=[]), SimpleNamespace(held=[])
    copy = SimpleNamespace(optimizer=lambda: optimizer, parameters=[])
    snapshot = SimpleNamespace(number=0, copies=[copy], gradients=[])
    segment = SimpleNamespace(entries=[SimpleNamespace(kind="step", args=[optimizer])])
    strange = SimpleNamespace(entries=[SimpleNamespace(kind="step", args=[other])])
    ring = a_ring()
    assert ring.between(snapshot, 0, {0: segment}) is not None
    assert ring.between(snapshot, 0, {0: strange}) is None and ring.between(snapshot, 1, {0: segment}) is None
    ring.fits = lambda snapshot: False
    assert ring.between(snapshot, 0, {0: segment}) is None


@pytest.mark.parametrize(("calls", "off"), [(MOST_ENTRIES, False), (MOST_ENTRIES + 1, True)])
def test_a_step_of_too_many_calls_ends_the_ring(monkeypatch, calls, off):
    monkeypatch.setattr(module, "batch_bytes", lambda closed: 0)
    ring = a_ring()
    ring.segment(SimpleNamespace(entries=[None] * calls, number=0))
    assert bool(ring.off) is off and len(ring.tapes) == (0 if off else 1)


@pytest.mark.parametrize(("elapsed", "doubtful"), [(FREE_S * 0.99, False), (FREE_S, True)])
def test_what_only_the_clock_calls_dear_is_told_by_the_next_one(elapsed, doubtful):
    ring = a_ring()
    assert ring.cost(elapsed, None) == (None if doubtful else elapsed) and ring.doubtful is doubtful


def test_what_others_take_from_the_machine_is_no_cost(monkeypatch):
    monkeypatch.setattr(module, "thread_time", lambda: 2.0)
    ring = a_ring()
    assert ring.cost(5.0, 1.0) == 1.0 and ring.cost(5.0, 1.0, 3) == 3.0 and ring.cost(0.5, 1.0) == 0.5


@pytest.mark.parametrize(
    ("cost_s", "step_s", "expected"), [(FREE_S * 0.99, 1e-6, EVERY), (1.0, 0.0, EVERY), (1.0, -1.0, EVERY)]
)
def test_a_snapshot_that_costs_nothing_is_taken_as_often_as_may_be(cost_s, step_s, expected):
    ring = a_ring()
    for _ in range(3):
        assert ring.judge(cost_s, step_s) is None
    assert ring.every == expected and bool(ring.cost_s) is (step_s > 0)


@pytest.mark.parametrize(("wanted", "off"), [(MAX_INTERVAL, False), (MAX_INTERVAL + 1, True)])
def test_a_ring_that_would_reach_no_spike_in_time_is_switched_off(wanted, off):
    ring = a_ring()
    for number in range(3):
        why = ring.judge((wanted - 0.5) * SHARE * 10.0, 10.0)
        assert bool(why) is (off and number == 2)


@pytest.mark.parametrize(
    ("tapes", "cleared", "none"), [(HABIT, True, True), (HABIT - 1, True, False), (HABIT, False, False)]
)
def test_gradients_are_kept_unless_each_of_some_segments_has_cleared_its_own(monkeypatch, tapes, cleared, none):
    monkeypatch.setattr(module, "cleared_first", lambda segments: cleared)
    ring = a_ring()
    ring.tapes.extend(range(tapes))
    assert (ring.carried([SimpleNamespace(held=[a_parameter()])]) is None) is none
    assert ring.carried([SimpleNamespace(held=[])]) == []


def a_parameter():
    import torch

    made = torch.nn.Parameter(torch.ones(1))
    made.grad = torch.ones(1)
    return made
