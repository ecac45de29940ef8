"""Models that answer the same whatever they are given."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.answers_alike import FIRST, AnswersAlike
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.answer_spread import AnswerSpread
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.window import LOSS
from tests.checks.optimizer.seen import at, line, rate
from tests.checks.test_snapshots import a_snapshot, an_update
from tests.trace.facts.test_health import a_row


def judged(now=1e-8, loss=1.3, change=0.2, at_step=0, built=1, rates=1, kind="Adam", calls=()):
    check = AnswersAlike()
    judge = Judge({check.slug: check})
    update = an_update("fc.weight", weight_l2=1.0, update_l2=change)
    adam = OptimizerWiring(kind=kind, frame=line(30), held=1, strangers=0)
    first: list = [
        Wiring(ref=at(0), params=(), optimizers=(adam,) * built),
        *[rate(ref=at(0), high=0.02, low=0.02)] * rates,
        a_snapshot(at_step, a_row("fc.weight", shape=(8, 8)), params=(update,)),
        *calls,
    ]  # fmt: skip
    found = list(judge.judge(at(0), {LOSS: 1.4}, first))
    for step in range(1, 64):
        found += judge.judge(at(step), {LOSS: loss}, [])
    for step in (64, 128):
        spread = AnswerSpread(ref=at(step), root="Net", samples=4, first=0.1, now=now, scale=0.3)
        found += judge.judge(at(step), {LOSS: loss}, [spread])
    return found


def test_a_rate_that_has_thrown_the_model_is_a_warning_at_the_optimizer():
    (finding,) = judged()
    assert finding.message == (
        "step 0, rank 0: the outputs of Net for 4 samples are 1e-07 times as far apart as at the start, and the loss, "
        "1.3, is not half of 1.4; the first updates changed the weights by 0.2 of their norm each (Adam, rate 0.02); "
        "expected outputs that depend on the input. Lower the rate."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "lr_too_high", line(30))


SUM = LossCall(ref=at(0), loss="cross_entropy", frame=line(34), input_shape=(64, 10), reduction="sum")
MEAN = LossCall(ref=at(0), loss="mse_loss", frame=line(35), input_shape=(64, 10))


def test_a_loss_that_adds_up_its_rows_is_told_at_its_line():
    (finding,) = judged(kind="SGD", calls=[SUM])
    assert finding.message.endswith(
        "(SGD, rate 0.02); cross_entropy (train.py:34) adds up 64 rows, so its gradient is 64 times their mean; "
        "expected outputs that depend on the input. Take the mean over the rows: reduction='mean'."
    )
    assert finding.place.frame == line(34)


@pytest.mark.parametrize("given", [{"kind": "Adam", "calls": [SUM]}, {"kind": "SGD", "calls": [SUM, MEAN]}])
def test_where_the_sum_does_not_set_the_size_of_updates_the_rate_is_told(given):
    (finding,) = judged(**given)
    assert finding.place.frame == line(30)
    assert finding.message.endswith("Lower the rate.")


def test_small_updates_make_it_a_note():
    (finding,) = judged(change=1e-3)
    assert (finding.severity, finding.step) == ("note", 64)
    assert finding.message.endswith("expected outputs that depend on the input. Follow the input through forward.")


@pytest.mark.parametrize("given", [{"now": 0.05}, {"loss": 0.6}, {"now": 1.1e-4}])
def test_outputs_that_differ_and_a_loss_that_has_fallen_are_silent(given):
    assert judged(**given) == []


def test_at_the_threshold():
    assert len(judged(now=0.9e-4)) == 1
    assert [f.severity for f in judged(change=0.0201)] == ["warning"]
    assert isinstance(rate(), Rate)


def test_optimizer_and_rate_are_named_where_both_are_known():
    for given in ({"built": 2}, {"built": 0}, {"rates": 0}):
        (finding,) = judged(**given)
        assert "changed the weights by 0.2 of their norm each; expected" in finding.message


def test_at_the_limits_of_spread_loss_and_first_updates():
    assert judged(now=1e-4 * 0.1 / 0.1, loss=1.3) == []  # not less than a thousandth of the first
    assert judged(loss=0.7 - 1e-9) == []
    assert len(judged(loss=0.7)) == 1  # half of the first, 1.4
    assert [f.severity for f in judged(change=0.02)] == ["warning"]
    assert [f.severity for f in judged(change=0.0199)] == ["note"]
    assert [f.severity for f in judged(at_step=FIRST)] == ["note"]
    assert [f.severity for f in judged(at_step=FIRST - 1)] == ["warning"]
