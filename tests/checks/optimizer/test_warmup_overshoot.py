"""Warm-ups that end above what follows them."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.optimizer.warmup_overshoot import WarmupOvershoot, place
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.place import Place
from tests.checks.optimizer.seen import at, line, rate, schedule, told


def judged(rates):
    """The last rate stays for one more update."""
    return told(WarmupOvershoot(), [{"lr": rate} for rate in (*rates, rates[-1])])


def climb(by, steps):
    return [by * (step + 1) for step in range(steps)]


def test_a_warm_up_that_is_not_divided_by_its_length():
    (finding,) = judged([*climb(0.001, 50), 0.001, 0.00099])
    assert (finding.severity, finding.kind, finding.step) == ("warning", "scheduler_misuse", 50)
    assert finding.message == (
        "step 50, rank 0: the learning rate rose by 0.001 in each of 49 updates to 0.05 and fell to 0.001 in one; "
        "expected a warm-up that ends at the rate after it. Divide it by the number of its steps."
    )


@pytest.mark.parametrize(
    "healthy",
    [
        [*climb(0.001 / 50, 50), 0.001, 0.00099],  # divided
        [*climb(0.01, 50), 0.001],  # a search for a rate: it falls back to another one
        [0.1] * 50 + [0.001] * 50,  # milestones
        [1e-5 * 1.3**step for step in range(40)] + [1e-5],  # a search by factors
        [*climb(0.001, 50), *reversed(climb(0.001, 50))],  # triangles
        [*climb(0.001, 4), 0.0001],
        [*climb(0.001, 20), 0.0],
        [*climb(0.001, 50), 0.001, 0.052, 0.053],  # another schedule set one rate
    ],
)
def test_schedules_that_people_use_are_silent(healthy):
    assert judged(healthy) == []


def test_a_fall_to_a_tenth_is_the_least():
    assert judged([*climb(0.001, 9), 0.001]) == []
    assert len(judged([*climb(0.001, 10), 0.001])) == 1


def test_it_is_said_once():
    assert len(judged([*climb(0.001, 50), *climb(0.001, 50), 0.001])) == 1


def test_the_rate_after_the_fall_is_what_it_rose_by_to_a_tenth():
    rising = climb(0.001, 50)
    assert len(judged([*rising, 0.00091])) == 1
    assert judged([*rising, 0.00089]) == []
    assert len(judged([*rising, 0.0011])) == 1
    assert judged([*rising, 0.00112]) == []


def test_a_rise_of_five_updates_is_the_least():
    assert len(judged([0.0101, *[0.0101 + 0.001 * n for n in range(1, 6)], 0.001])) == 1
    assert judged([0.0101, *[0.0101 + 0.001 * n for n in range(1, 5)], 0.001]) == []
    flat = [0.01] * 10
    assert judged([*flat, *[0.01 + 0.001 * n for n in range(1, 5)], 0.001]) == []
    assert len(judged([*flat, *[0.01 + 0.001 * n for n in range(1, 6)], 0.001])) == 1


def test_the_line_is_that_of_the_rate_after_the_fall():
    fact = rate(high=0.001, value_frame=None, rate_frame=None, scheduler_frame=None, frame=line(5))
    assert place(fact, 0.001) == Place(frame=line(5))
    for name, number in (("scheduler_frame", 6), ("rate_frame", 7), ("value_frame", 8)):
        fact = msgspec.structs.replace(fact, **{name: line(number)})
        assert place(fact, 0.001) == Place(frame=line(number))
    assert place(fact, 0.002) is None
    assert place(None, 0.001) is None
    plain = rate(high=0.001, value_frame=None, rate_frame=None, scheduler_frame=line(6), frame=line(5))
    assert place(plain, 0.001, line(25)) == Place(frame=line(25))


def test_the_line_of_a_class_of_ones_own_is_the_one_before_the_fall():
    check = WarmupOvershoot()
    judge, found = Judge({check.slug: check}), []
    begin = rate(ref=at(0), number=0, low=0.001, high=0.001, scheduler="Warm", scheduler_frame=line(6))
    facts = {
        0: [begin, schedule("Warm", ref=at(0), frame=line(6), computed=line(25))],
        50: [
            rate(ref=at(50), number=50, low=0.001, high=0.001, before=0.05, scheduler="Warm", scheduler_frame=line(6)),
            schedule("Warm", ref=at(50), frame=line(6), computed=line(29)),
        ],
    }
    for step, lr in enumerate([*climb(0.001, 50), 0.001, 0.001]):
        found += judge.judge(at(step), {"lr": lr}, facts.get(step, []))
    assert [finding.place.frame for finding in found] == [line(25)]
