"""Gradients used twice."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.zero_grad_missing import ZeroGradMissing
from tests.checks.optimizer.seen import call, found, line, order

STALE = {"stale": ("0.weight",), "stale_count": 4, "grads": 4, "stale_frame": line(53), "stale_iteration": 1}


def test_two_updates_running_with_used_gradients_are_a_proof_at_the_backward():
    clean, first, second = order(0), order(1, **STALE), order(2, **{**STALE, "stale_iteration": 2})
    (finding,) = found(ZeroGradMissing(), [clean, first, second], ended=True)
    assert finding.message == (
        "step 1, rank 0: 0.weight and 3 more of 4 gradients were already used by the update before and never cleared; "
        "the backward (train.py:53) adds to them, so each update applies the sum of all batches so far; expected "
        "gradients of this update only. Call optimizer.zero_grad() before each new update."
    )
    assert (finding.severity, finding.exact, finding.kind, finding.iteration, finding.place.frame) == (
        "error",
        True,
        "stale_gradients",
        1,
        line(53),
    )


def test_one_such_update_among_healthy_ones_says_nothing():
    assert (
        found(ZeroGradMissing(), [order(0), order(1, **STALE), order(2), order(3, **STALE), order(4)], ended=True) == []
    )


def test_updates_far_apart_are_not_running():
    assert found(ZeroGradMissing(), [order(99, **STALE), order(200, **STALE)], ended=True) == []


def test_a_run_of_two_updates_is_judged_when_it_ends():
    facts = [order(0), order(1, **STALE)]
    assert found(ZeroGradMissing(), facts) == []
    assert [f.iteration for f in found(ZeroGradMissing(), facts, ended=True)] == [1]


def test_each_optimizer_is_judged_on_its_own():
    facts = [order(1, **STALE), order(1, call("backward", live=True), optimizer=1), order(2, **STALE)]
    assert len(found(ZeroGradMissing(), facts)) == 1


def test_the_line_to_edit_is_that_of_the_update_and_the_backward_shows_it():
    stale = {**STALE, "step_frame": line(54)}
    (finding,) = found(ZeroGradMissing(), [order(0), order(1, **stale), order(2, **stale)], ended=True)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(54), line(53))
    assert "so each update (train.py:54) applies the sum of all batches so far" in finding.message


def test_a_backward_in_a_function_of_its_own_is_where_to_clear():
    closure = msgspec.structs.replace(line(53), function="closure")
    told = {**STALE, "stale_frame": closure, "step_frame": line(60)}
    (finding,) = found(ZeroGradMissing(), [order(1, **told), order(2, **told)], ended=True)
    assert (finding.place.frame, finding.place.symptom_frame) == (closure, line(60))
    told["stale_frame"] = line(53)
    (finding,) = found(ZeroGradMissing(), [order(1, **told), order(2, **told)], ended=True)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(60), line(53))


AGAIN = {"repeated": 4, "grads": 4, "step_frame": line(15), "kind": "Adam"}


def test_a_second_step_for_one_backward_is_told_once_it_came_again():
    facts = [order(0), order(1, **AGAIN), order(2), order(3, **AGAIN), order(5, **AGAIN)]
    (finding,) = found(ZeroGradMissing(), facts, ended=True)
    assert finding.message == (
        "step 1, rank 0: Adam is stepped a second time (train.py:15) with the gradients of the update before it: 4 of "
        "4 are the same, and no backward was called in between; expected one step for one backward. Remove one of the "
        "two calls."
    )
    assert (finding.exact, finding.kind, finding.place.frame) == (True, "stale_gradients", line(15))


def test_a_single_second_step_says_nothing():
    assert found(ZeroGradMissing(), [order(0), order(1, **AGAIN), order(2), order(3)], ended=True) == []
