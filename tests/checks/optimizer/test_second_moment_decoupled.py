"""A second moment that only decays."""

from __future__ import annotations

import math

from debugtracer.checks.optimizer.second_moment_decoupled import SecondMomentDecoupled
from debugtracer.trace.facts.health import Health
from debugtracer.trace.window import Window
from tests.checks.test_snapshots import a_snapshot, an_update, judged


def calm(step, lag=1e-4, beta2=0.999, rate=1.0, **more):
    row = an_update("fc.weight", beta2=beta2, lag=lag, log_v=-5.0 + rate * step * math.log(beta2), **more)
    return a_snapshot(step, params=(row,))


def run(*snapshots, loss=(2.0, 1.8)):
    return judged(SecondMomentDecoupled(), *snapshots, loss=loss)


def test_a_second_moment_that_falls_by_itself_for_longer_than_its_memory_is_a_note_once():
    (finding,) = run(*(calm(step) for step in range(400, 2000, 100)))
    assert (finding.severity, finding.step, finding.kind) == ("note", 1500, "adam_instability")
    assert finding.message == (
        "step 1500, rank 0: since step 400 exp_avg_sq of 1 of 1 parameters (100% of the elements, Adam) only decays at "
        "rate beta2 = 0.999, the median of g^2/v "
        "is 0.0001; expected about 1. The next larger gradient meets a v far too small: lower beta2 to 0.95."
    )


def test_up_to_its_memory_it_says_nothing():
    assert run(*(calm(step) for step in range(400, 1401, 100))) == []


def test_a_gradient_that_is_heard_ends_the_calm():
    assert run(*(calm(step, lag=0.0101 if step == 1000 else 1e-4) for step in range(400, 1900, 100))) == []
    assert run(*(calm(step, lag=None if step == 1000 else 1e-4) for step in range(400, 1900, 100))) == []


def test_another_rate_than_beta2_is_no_decay_of_its_own():
    assert run(*(calm(step, rate=0.7) for step in range(400, 2400, 100))) == []
    assert run(*(calm(step, rate=1.3) for step in range(400, 2400, 100))) == []
    assert run(*(calm(step, rate=0.85) for step in range(400, 2400, 100)))


def test_a_small_part_of_the_model_is_left_alone():
    pairs = [
        (calm(step).params[0], an_update("body.weight", numel=5000, beta2=0.999, lag=1.0, log_v=-3.0))
        for step in range(400, 2000, 100)
    ]
    assert run(*(a_snapshot(step, params=rows) for step, rows in zip(range(400, 2000, 100), pairs, strict=True))) == []


def test_a_rate_that_was_let_down_is_left_alone():
    assert run(*(calm(step, lr=1e-3 if step < 900 else 5e-5) for step in range(400, 2000, 100))) == []


def test_a_converged_loss_is_left_alone():
    check, memories = SecondMomentDecoupled(), {}
    found = []
    for step in range(0, 2000, 100):
        snapshot = calm(step)
        loss = 2.0 if step < 400 else 0.19
        seen = {"facts": {Health: [snapshot]}, "came": {Health: 1}, "memories": memories}
        window = Window(ref=snapshot.ref, series={"loss": (loss,)}, fresh=frozenset({"loss"}), **seen)
        found += check.judge(window)
    assert found == []
