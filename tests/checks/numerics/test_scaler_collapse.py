"""Scales that shrink for ever."""

from __future__ import annotations

import msgspec

from debugtracer.checks.numerics.scaler_collapse import ScalerCollapse
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.amp import ScalerSetup
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import at, line, told


def said(pattern: str, scale: float = 65536.0) -> list[Finding]:
    values = []
    for c in pattern:
        values.append({"scaler_skipped": float(c == "x"), "loss_scale": scale})
        scale *= 0.5 if c == "x" else 1.0
    return told(ScalerCollapse(), values)


def test_all_updates_skipped_below_a_scale_of_one():
    (finding,) = said("..." + "x" * 60)
    assert finding.message == (
        "step 3, rank 0: the scaler has skipped the last 18 updates since step 3 and its scale is 0.5; expected a "
        "scale of 1 or more that lets updates "
        "through. Run one step without autocast to see what is not finite."
    )
    assert (finding.kind, finding.iteration) == ("amp_scaler_collapse", 3)


def test_a_scale_of_zero_and_a_long_row_at_any_scale():
    assert [f.evidence["row"] for f in said("x", scale=0.0)] == [1]
    assert [f.evidence["row"] for f in said("x" * 60, scale=2.0**60)] == [40]


def test_the_search_for_the_scale_is_healthy():
    assert said("x" * 16 + "." * 5 + "x" + "." * 90) == []


def a_scaler(number: int) -> ScalerSetup:
    """Built in line 13 and below."""
    frame = line(13 + number)
    return ScalerSetup(
        ref=at(0),
        scaler=number,
        frame=frame,
        enabled=True,
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.99,
        growth_interval=2000,
    )


def test_the_one_scaler_of_the_run_is_named_and_of_two_none():
    for count, want in ((1, 13), (2, None)):
        judge = Judge({ScalerCollapse().slug: ScalerCollapse()})
        got = list(
            judge.judge(
                at(0), {"scaler_skipped": 1.0, "loss_scale": 0.0}, [a_scaler(number) for number in range(count)]
            )
        )
        assert [finding.place.frame.line if finding.place.frame else None for finding in got] == [want]
        assert ("(train.py:13)" in got[0].message) == (want is not None)


def rows(pattern: str, scale: float) -> list[tuple[int, float]]:
    """What is told at a scale that stays: where the row begun, and how long it is."""
    values = [{"scaler_skipped": float(c == "x"), "loss_scale": scale} for c in pattern]
    return [(f.step, f.evidence["row"]) for f in told(ScalerCollapse(), values)]


def test_at_the_limits_of_a_row_and_of_the_scale():
    assert rows("." + "x" * 9, 0.5) == []
    assert rows("." + "x" * 10, 0.5) == [(1, 10)]
    assert rows("." + "x" * 39, 1.0) == []
    assert rows("." + "x" * 40, 1.0) == [(1, 40)]


def test_each_row_is_told_once_at_its_own_begin():
    assert rows("x" * 12 + "." * 600 + "x" * 30, 0.5) == [
        (0, 10),
        (612, 10),
    ]  # far apart: a judge says it once in a while


def test_without_a_scale_a_long_row_alone_is_told():
    assert told(ScalerCollapse(), [{"scaler_skipped": 1.0}] * 39) == []
    assert [f.evidence["row"] for f in told(ScalerCollapse(), [{"scaler_skipped": 1.0}] * 60)] == [40]


def test_a_scaler_that_is_switched_off_is_not_the_one():
    judge = Judge({ScalerCollapse().slug: ScalerCollapse()})
    setups = [a_scaler(0), msgspec.structs.replace(a_scaler(1), enabled=False)]
    (finding,) = judge.judge(at(0), {"scaler_skipped": 1.0, "loss_scale": 0.0}, setups)
    assert finding.place.frame == line(13)


def test_a_row_that_goes_on_is_told_once() -> None:
    assert rows("." + "x" * 3000, 0.5) == [(1, 10)]
