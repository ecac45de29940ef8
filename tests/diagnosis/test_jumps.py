"""Losses that stand out: what is kept, what is tried, and how often."""

from types import SimpleNamespace

import pytest

from debugtracer.diagnosis.jumps import LEAST, MOST, STAYS, Jumps, is_worth, level
from debugtracer.trace.finding import Finding


def a_finding(step=9, severity="warning", check="optimizer/loss-spike", **more):
    known = {"layer": "optimizer", "iteration": step, "message": "jumped", "kind": "loss_spike", "symptom": "loss_spike"}
    return Finding(**{"check": check, "severity": severity, "step": step, **known, **more})


def some_jumps(ring=None):
    return Jumps(SimpleNamespace(ring=ring, budget=SimpleNamespace(trials=8, seconds=30.0), step_s=lambda: 0.01))


def fed(jumps, *losses, begin=0):
    for step, loss in enumerate(losses, begin):
        jumps.seen(step, {"loss": loss})
    return jumps


def test_a_loss_that_stands_out_is_remembered_and_not_learnt():
    jumps = fed(some_jumps(), *[1.0, 1.1] * LEAST, 5.0)
    assert list(jumps.stood_out) == [2 * LEAST]
    expected, value, recent = jumps.stood_out[2 * LEAST]
    assert (value, max(recent)) == (5.0, 1.1)
    assert 1.0 <= expected <= 1.1
    assert 5.0 not in jumps.recent


def test_too_few_losses_tell_nothing():
    assert fed(some_jumps(), *[1.0] * (LEAST - 1), 50.0).stood_out == {}


def test_a_level_that_stays_is_learnt():
    jumps = fed(some_jumps(), *[1.0, 1.1] * LEAST, *[5.0] * (STAYS + 3))
    assert 5.0 in jumps.recent
    again = len(jumps.stood_out)
    fed(jumps, 5.0, begin=100)
    assert len(jumps.stood_out) == again


@pytest.mark.parametrize(("z", "severity", "worth"), [(20.0, "note", True), (12.0, "note", False), (0.0, "warning", True)])
def test_a_remark_alone_costs_no_trials(z, severity, worth):
    assert is_worth(a_finding(severity=severity, evidence={"z": z, "threshold": 8.0})) is worth


def test_an_exact_finding_needs_no_trial():
    jumps = some_jumps()
    jumps.found(a_finding(exact=True))
    jumps.found(a_finding(check="optimizer/lr-jump"))
    assert list(jumps.waiting) == []


def test_a_broken_invariant_that_a_line_cures_waits_for_steps():
    jumps = some_jumps()
    jumps.found(a_finding(check="optimizer/zero-grad-missing", kind="stale_gradients", exact=True))
    assert [f.kind for f in jumps.to_fix] == ["stale_gradients"]


def test_steps_that_would_take_too_long_are_not_executed_again():
    jumps = some_jumps()
    jumps.incidents.step_s = lambda: 4.0
    assert jumps.too_long(SimpleNamespace(steps=9)) == "10 steps of 4 s executed 3 times take longer than trials_s (30)"
    jumps.incidents.step_s = lambda: 0.1
    assert jumps.too_long(SimpleNamespace(steps=9)) == ""


def test_a_left_level_knows_what_was_expected():
    assert level(a_finding(evidence={"expected": 0.7, "loss": 2.4}), [0.8]) == (0.7, 2.4, [0.7, 0.8])


def test_a_fork_starts_from_nothing():
    jumps = fed(some_jumps(), *[1.0, 1.1] * LEAST, 5.0)
    jumps.done = MOST
    jumps.forget()
    assert (list(jumps.recent), jumps.stood_out, jumps.done) == ([], {}, 0)
