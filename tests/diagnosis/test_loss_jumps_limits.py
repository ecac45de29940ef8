"""At which step, how often and for how long a loss that stood out is looked at."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from debugtracer.diagnosis import compared_weights, loop_fix, loss_jumps
from debugtracer.diagnosis.loss_jumps import LEAST, LossJumps
from debugtracer.diagnosis.reported_jump import LEVEL
from debugtracer.trace.finding import UNTRIED, Finding

# the limits as they are promised
FIX_STEPS, HOLD, MOST, MOST_COMPARED, MOST_READ = 12, 64, 3, 8, 32

USUAL = [1.0, 2.0] * LEAST


def jumps(trials=True, seconds=10.0, step_s=0.0, past="past"):
    """Jumps over a ring that pins nothing."""
    notes, told = [], []
    output = SimpleNamespace(note=lambda *said: notes.append(said), rank=0)
    state = SimpleNamespace(step_s=step_s, quiet_until_healthy=False, investigated=contextlib.nullcontext)
    ring = SimpleNamespace(longest=lambda: past, take_pinned=lambda step: f"pinned {step}", tapes=(), pin=None)
    context = SimpleNamespace(ring=ring, batches=SimpleNamespace(last=lambda: None))
    stack = SimpleNamespace(paused=contextlib.nullcontext)
    budget = SimpleNamespace(trials=trials, seconds=seconds)
    made = LossJumps(output, state, stack, context, budget, {}, told.append, told.append)
    made.seen_all(enumerate(USUAL))
    return made, notes, told


def a_finding(step=30, severity="warning", check="optimizer/loss-spike", evidence=None) -> Finding:
    return Finding(
        check=check, layer="optimizer", severity=severity, kind="loss_spike", symptom="loss_spike", confidence=0.5,
        iteration=step, step=step, message="m", evidence=evidence or {},
    )  # fmt: skip


def test_a_loss_stands_out_above_the_largest_by_a_quarter_of_the_larger_of_range_and_value():
    one, _, _ = jumps()
    assert one.seen_all([(30, 2.5)]) == [0] and not one.stood_out
    two, _, _ = jumps()
    assert two.seen_all([(30, 2.51)]) == [1] and list(two.stood_out) == [30]
    assert two.to_pin == (30, pytest.approx(0.51)) and two.to_read == 30


def test_sixteen_losses_that_stood_out_are_known_at_once():
    one, _, _ = jumps()
    for step in range(17):
        one.stands_out(step, 9.0, 2.0)
        assert len(one.stood_out) == min(step + 1, 16)
    assert next(iter(one.stood_out)) == 1


def test_a_past_is_kept_for_the_first_of_a_row_and_while_trials_are_left():
    one, _, _ = jumps()
    one.seen_all([(30, 9.0)])
    one.to_pin = None
    one.seen_all([(31, 9.0)])
    assert one.to_pin is None
    for done, pinned in ((MOST - 1, True), (MOST, False)):
        other, _, _ = jumps()
        other.done = done
        other.seen_all([(30, 9.0)])
        assert (other.to_pin is not None) is pinned


def test_so_many_tapes_are_read():
    for changes, read in ((MOST_READ - 1, True), (MOST_READ, False)):
        one, _, _ = jumps()
        one.changes = changes
        one.seen_all([(30, 9.0)])
        assert (one.to_read == 30) is read and one.changes == changes + read


def test_what_made_a_batch_is_kept_for_some_steps():
    one, _, _ = jumps()
    one.pipeline = (30, "pipeline")
    one.seen_all([(30 + HOLD, 1.0)])
    assert one.pipeline == (30, "pipeline")
    one.seen_all([(31 + HOLD, 1.0)])
    assert one.pipeline == (0, None)


def looked(finding, known=False, done=0, trials=True, verdicts=()):
    """What is put to trials."""
    one, _, _ = jumps(trials=trials)
    tried = []
    one.attempt = lambda finding, past, *rest: tried.append(past)
    one.done = done
    one.verdicts.extend(SimpleNamespace(step=step) for step in verdicts)
    if known:
        one.stood_out[finding.step] = (1.0, 9.0, [])
    one.look_into(finding)
    return tried


def test_a_loss_that_stood_out_is_tried_from_its_own_past():
    assert looked(a_finding(), known=True) == ["pinned 30"]
    assert looked(a_finding(), known=True, done=MOST - 1) == ["pinned 30"]
    assert looked(a_finding(), known=True, done=MOST) == [] and looked(a_finding(), known=True, trials=False) == []


def test_a_level_that_was_left_is_tried_from_the_longest_past(monkeypatch):
    monkeypatch.setattr(loss_jumps, "level", lambda finding, recent: (1.0, 9.0, []))
    assert looked(a_finding(check=LEVEL)) == ["past"] and looked(a_finding(check=LEVEL), verdicts=[29]) == ["past"]
    assert looked(a_finding()) == [] and looked(a_finding(check=LEVEL, severity="note")) == []
    assert looked(a_finding(check=LEVEL), verdicts=[29, 30]) == []


def compared(monkeypatch, comparisons=0, step_s=0.0, trials=True, quiet=False):
    """The facts and notes of a comparison of weights."""
    monkeypatch.setattr(compared_weights, "compared", lambda *asked: "fact")
    one, notes, told = jumps(trials=trials, step_s=step_s, seconds=4.0 * compared_weights.BATCHES)
    one.comparisons, one.state.quiet_until_healthy = comparisons, quiet
    one.look_into(a_finding(evidence={UNTRIED: 1.0}))
    return told, len(notes), one.comparisons


def test_weights_are_compared_where_there_is_time(monkeypatch):
    assert compared(monkeypatch) == (["fact"], 0, 1)
    assert compared(monkeypatch, step_s=1.0) == (["fact"], 0, 1) and compared(monkeypatch, step_s=1.001) == ([], 1, 0)
    assert compared(monkeypatch, MOST_COMPARED - 1) == (["fact"], 0, MOST_COMPARED)
    assert compared(monkeypatch, MOST_COMPARED) == ([], 1, MOST_COMPARED)
    assert compared(monkeypatch, trials=False) == ([], 0, 0) and compared(monkeypatch, quiet=True) == ([], 0, 0)


@pytest.mark.parametrize(
    ("past", "least", "trials", "tried"),
    [(None, 4, True, False), (3, 4, True, False), (4, 4, True, True), (4, 4, False, False)],
)
def test_a_fix_of_the_loop_wants_steps_to_try_it_on(monkeypatch, past, least, trials, tried):
    asked = []
    monkeypatch.setattr(loop_fix, "mended", lambda *given: asked.append(given))
    one, _, _ = jumps(trials=trials)
    one.to_fix.append(a_finding())
    one.fix(SimpleNamespace(steps=past) if past is not None else None, least)
    assert bool(asked) is tried and bool(one.to_fix) is not tried


def test_at_the_end_fewer_steps_will_do():
    one, _, _ = jumps()
    asked = []
    one.to_fix.append(a_finding())
    one.fix = lambda past, least: asked.append(least)
    one.look()
    one.look(over=True)
    assert asked == [FIX_STEPS, 4]


@pytest.mark.parametrize(("steps", "seconds", "why"), [(9, 30.0, False), (9, 29.9, True)])
def test_steps_that_take_longer_than_trials_may_are_not_tried(steps, seconds, why):
    one, _, _ = jumps(seconds=seconds, step_s=1.0)
    assert bool(one.too_long(SimpleNamespace(steps=steps))) is why
