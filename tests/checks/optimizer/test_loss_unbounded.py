"""Losses that fall without bound."""

from __future__ import annotations

from debugtracer.checks.optimizer.loss_unbounded import LossUnbounded
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from tests.checks.optimizer.seen import at, line, told


def curve(of, steps=96):
    return told(LossUnbounded(), ({"loss": of(step)} for step in range(steps)))


def test_a_loss_that_multiplies_below_zero_is_told_once():
    (finding,) = curve(lambda step: 10 - 1.2**step)
    assert (finding.severity, finding.kind, finding.step) == ("warning", "loss_unbounded", 47)
    assert finding.message == (
        "step 47, rank 0: the loss falls without bound: -2.78e+03, 4.35 times that of 8 steps before and 309 times the "
        "largest of the first 8; expected a loss that has a least value. Look at the sign of each of its terms."
    )


def test_the_most_negative_term_is_named():
    check = LossUnbounded()
    judge, got = Judge({check.slug: check}), []
    for step in range(96):
        terms = (Term(value=3.0, frame=line(81)), Term(value=-125.0, frame=line(82)))
        facts = [LossTerms(ref=at(step), terms=terms, frame=line(85))] if step == 2 else []
        got += judge.judge(at(step), {"loss": 10 - 1.2**step}, facts)
    (finding,) = got
    assert finding.place.frame == line(82)
    assert "; the term (train.py:82) was -125 when last looked at; expected" in finding.message


def test_a_log_that_leaves_steps_out_is_silent():
    check = LossUnbounded()
    judge = Judge({check.slug: check})
    assert [f for step in range(96) for f in judge.judge(at(100 * step), {"loss": 10 - 1.2**step})] == []


def test_a_likelihood_a_critic_and_a_loss_that_falls_evenly_are_silent():
    assert curve(lambda step: 5 - 0.5 * step, 400) == []
    assert curve(lambda step: -0.01 - 300 * (1 - 0.99**step), 600) == []
    assert curve(lambda step: 0.9**step - 1) == []
    assert curve(lambda step: 1.2**step) == []


def blocks(*levels, check=None, every=1):
    """Blocks of eight equal losses."""
    check = check or LossUnbounded()
    judge = Judge({check.slug: check})
    losses = [level for level in levels for _ in range(8)]
    return [f for step, loss in enumerate(losses) for f in judge.judge(at(every * step), {"loss": loss})]


def test_at_the_limits_of_the_fall_from_block_to_block():
    assert len(blocks(1.0, -10.0, -20.0, -40.0, -80.0, -160.0)) == 1
    assert blocks(1.0, -10.0, -20.0, -40.0, -79.9, -159.8) == []
    assert blocks(1.0, -10.0, -20.0, -40.0, -80.0) == []  # not a hundred times the first
    assert blocks(-1.6, -10.0, -20.0, -40.0, -80.0, -160.0) == []  # of which the first may be below 0 too
    assert len(blocks(-1.59, -10.0, -20.0, -40.0, -80.0, -160.0)) == 1
    assert len(blocks(0.1, -10.0, -20.0, -40.0, -80.0, -160.0)) == 1  # 1 where the first is less
    assert blocks(0.1, -5.0, -10.0, -20.0, -40.0, -80.0) == []
    assert blocks(1.0, 0.0, -200.0, -400.0, -800.0) == []
    assert len(blocks(1.0, -0.5, -200.0, -400.0, -800.0)) == 1


def test_a_loss_every_second_step_is_dense_enough_and_one_that_is_no_number_does_not_count():
    fall = (1.0, -10.0, -20.0, -40.0, -80.0, -160.0)
    assert len(blocks(*fall, every=2)) == 1
    assert blocks(*fall, every=3) == []
    check = LossUnbounded()
    judge, found = Judge({check.slug: check}), []
    for step, loss in enumerate(level for level in fall for _ in range(8)):
        found += judge.judge(at(2 * step), {"loss": loss})
        found += judge.judge(at(2 * step + 1), {"loss": float("nan")})
    assert len(found) == 1


def test_a_single_term_and_terms_above_zero_are_not_named():
    for values in ((-125.0,), (3.0, 5.0), (3.0, 0.0)):
        check = LossUnbounded()
        judge, got = Judge({check.slug: check}), []
        for step in range(96):
            terms = tuple(Term(value=value, frame=line(81)) for value in values)
            facts = [LossTerms(ref=at(step), terms=terms, frame=line(85))] if step == 2 else []
            got += judge.judge(at(step), {"loss": 10 - 1.2**step}, facts)
        (finding,) = got
        assert finding.message.endswith("Look at the sign of each of its terms.")
        assert finding.place.frame is None
