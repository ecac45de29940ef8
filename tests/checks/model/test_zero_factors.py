"""Factors of a product that both are 0."""

from __future__ import annotations

from debugtracer.checks.model.zero_factors import ZeroFactors
from debugtracer.trace.facts.zero_parameters import ZeroParameter, ZeroParameters
from tests.checks.facts_at import judged, line, ref


def looks(*updates, names=("fc.down", "fc.up"), shape=(4, 32), flat=""):
    stuck = tuple(ZeroParameter(name=name, shape=shape, flat=flat, made=line(11)) for name in names)
    return [
        ZeroParameters(
            ref=ref(number - 1), optimizer=0, kind="AdamW", built=line(30), updates=number, looks=n + 1, stuck=stuck
        )
        for n, number in enumerate(updates)
    ]


def test_two_factors_that_stay_0_are_one_warning():
    (finding,) = judged(ZeroFactors(), looks(1, 2, 4, 8, 16, 32, 64))
    assert finding.message == (
        "step 0, rank 0: fc.down, fc.up are 0 everywhere and have gradients of exactly 0 in 64 updates of AdamW; "
        "expected one factor of a product that is not 0. Draw one of them at random."
    )
    assert (finding.severity, finding.kind, finding.iteration) == ("warning", "bad_init", 0)
    assert (finding.place.param, finding.place.module, finding.place.frame) == ("fc.down", "fc", line(11))


def test_others_are_counted():
    (finding,) = judged(ZeroFactors(), looks(1, 64, names=("a.down", "a.up", "b.down", "b.up")))
    assert "a.down, a.up and 2 more are 0 everywhere" in finding.message


def test_what_was_not_seen_for_long_and_a_lone_or_small_one_are_left_alone():
    assert judged(ZeroFactors(), looks(1, 2, 32)) == []
    assert judged(ZeroFactors(), looks(1, 64, names=("fc.up",))) == []
    assert judged(ZeroFactors(), looks(1, 64, shape=(64,))) == []
    assert judged(ZeroFactors(), looks(1, 64, shape=(2, 2))) == []
    assert judged(ZeroFactors(), looks(1, 64, flat="relu")) == []  # flat-start tells of it


def test_at_the_threshold():
    assert len(judged(ZeroFactors(apart=63), looks(1, 64))) == 1
    assert judged(ZeroFactors(apart=64), looks(1, 64)) == []
