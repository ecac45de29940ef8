"""Margin losses at their margin."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.model.loss_at_margin import LossAtMargin
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.hinge_level import HingeLevel
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import at, line


def hinge(step: int, off: float, **more: Any) -> HingeLevel:
    given = {"function": "triplet_margin_loss", "frame": line(9), "rows": 64, "margin": 0.2, "mean": 0.2, "right": 0.1}
    return HingeLevel(ref=at(step), off=off, **{**given, **more})


def said(facts: list[HingeLevel], losses: list[float], optimizers: int = 1) -> list[Finding]:
    """What the check says of these looks and losses."""
    check = LossAtMargin()
    judge, got, looks = Judge({check.slug: check}), [], {fact.ref.step: fact for fact in facts}
    adam = OptimizerWiring(kind="Adam", frame=None, held=2, strangers=0)
    for step, loss in enumerate(losses):
        given = [looks[step]] if step in looks else []
        wiring = [] if step else [Wiring(ref=at(0), params=(), optimizers=(adam,) * optimizers)]
        got += judge.judge(at(step), {"loss": loss}, [*wiring, *given])
    return got


COLLAPSED = [hinge(0, 0.64), hinge(100, 0.012)]


def test_rows_that_came_to_the_margin():
    (finding,) = said(COLLAPSED, [0.3] * 50 + [0.201] * 80)
    assert finding.message == (
        "step 100, rank 0: triplet_margin_loss (train.py:9) stands at its margin: in step 100 each of 64 rows is "
        "within 1.20% of 0.2, up to 0.64 times it away in step 0; expected two sides that differ. The outputs of all "
        "samples have become one point: look at the order of the arguments."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(9))


def test_a_second_look_is_enough_of_a_margin_loss_alone():
    twice = [*COLLAPSED, hinge(200, 0.01)]
    assert len(said(twice, [7.0] * 220)) == 1
    assert said([hinge(f.ref.step, float(f.off), by_hand=True) for f in twice], [7.0] * 220) == []
    assert len(said([hinge(f.ref.step, float(f.off), by_hand=True) for f in twice], [0.2] * 220)) == 1


def test_a_loss_that_began_at_its_margin_is_given_time():
    steps = [0, 100, 200, 300, 400]
    assert said([hinge(step, 0.01) for step in steps[:4]], [0.2] * 390) == []
    assert len(said([hinge(step, 0.01) for step in steps], [0.2] * 420)) == 1


@pytest.mark.parametrize(
    ("facts", "losses", "optimizers"),
    [
        (COLLAPSED, [0.3] * 50 + [0.201] * 80, 2),
        ([hinge(0, 0.64), hinge(100, 0.3)], [0.2] * 130, 1),
        (COLLAPSED, [0.3] * 110 + [0.05] * 20, 1),
        ([hinge(0, 0.64), hinge(2, 0.01)], [0.2] * 40, 1),
    ],
    ids=["two players", "rows apart", "left it since", "early"],
)
def test_silent(facts: list[HingeLevel], losses: list[float], optimizers: int):
    assert said(facts, losses, optimizers) == []


def random_rows(*steps: int, **more: Any) -> list[HingeLevel]:
    return [hinge(step, 2.0, **{"right": 0.53, **more}) for step in steps]


def test_outputs_that_differ_and_tell_nothing():
    (finding,) = said(random_rows(0, 100, 200, 300, 400, 500), [0.21] * 520)
    assert "is no better than for one point: no median of 16 of the 500 losses so far is below 0.21" in finding.message
    assert "the margin is 0.2, and 53% of 64 rows are right in step 400; expected" in finding.message


@pytest.mark.parametrize(
    ("facts", "losses"),
    [
        (random_rows(0, 100, 200, 300, 400, right=0.0), [0.21] * 520),
        (random_rows(0, 100, 200, 300, 400), [0.21] * 300 + [0.15] * 220),
        (random_rows(0, 100, 200, 300, 400), [0.4] * 520),
        (random_rows(0, 100, 200, 300, 400, by_hand=True), [0.21] * 520),
        (random_rows(0, 100, 200, 300, 400), [0.21] * 450),
    ],
    ids=["mined", "learns", "far above", "by hand", "not long"],
)
def test_silent_where_it_learns_or_is_mined(facts: list[HingeLevel], losses: list[float]):
    assert said(facts, losses) == []
