"""Resumed runs that multiply the rate of the file."""

from __future__ import annotations

from debugtracer.checks.optimizer.rate_raised_on_load import RateRaisedOnLoad
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import at, line, rate

LEVEL = [0.3, 0.05, 0.6, 0.1, 0.2] * 5


def judged(before: list[float], after: list[float], high: float = 0.4, loaded: float | None = 0.05) -> list[Finding]:
    """What the check says of losses around a load: the last of `before` is that of the first update."""
    check = RateRaisedOnLoad()
    judge, got = Judge({check.slug: check}), []
    for step, loss in enumerate([*before, *after]):
        first = step == len(before) - 1
        fact = rate(
            ref=at(step), high=high, loaded=loaded, loaded_frame=line(44), frame=line(40), rate_frame=line(38), number=0
        )
        got += judge.judge(at(step), {"loss": loss}, [fact] if first else [])
    return got


def test_a_rate_that_is_scaled_twice():
    (finding,) = judged(LEVEL, [1.1, 3.0, *[2.3] * 20])
    assert finding.message == (
        "step 24, rank 0: AdamW (train.py:40) was loaded (train.py:44) with a rate of 0.05 and its first update used "
        "0.4 (train.py:38), 8 times as much; the loss was 0.2 and 2.3 in the 20 steps after it; expected a rate that "
        "goes on. Set it once: from the file, or by the rule."
    )
    assert (finding.severity, finding.kind, finding.step) == ("warning", "resume_state", 24)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(38), line(44))


def test_a_process_that_begins_with_the_load():
    assert len(judged([0.1], [0.5] * 20)) == 1
    assert judged([0.1], [0.49] * 20) == []
    assert judged([0.1], [0.5] * 19) == []


def test_a_loss_that_stands_it_is_left_alone():
    assert judged(LEVEL, [0.25] * 30) == []
    assert judged(LEVEL, [0.61] * 30) != []  # above all and three times the median
    assert judged(LEVEL, [0.6] * 30) == []
    assert judged([0.3] * 25, [0.8] * 30) == []


def test_a_rate_that_goes_on_or_was_not_loaded_is_silent():
    assert judged(LEVEL, [2.3] * 30, loaded=None) == []
    assert judged(LEVEL, [2.3] * 30, high=0.14) == []
    assert len(judged(LEVEL, [2.3] * 30, high=0.16)) == 1
    assert judged(LEVEL, [2.3] * 30, loaded=0.0) == []
