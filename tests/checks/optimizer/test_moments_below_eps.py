"""sqrt(v) against eps."""

from __future__ import annotations

from debugtracer.checks.optimizer.moments_below_eps import MomentsBelowEps
from tests.checks.test_snapshots import a_snapshot, an_update, judged


def steps(*shares):
    return [
        a_snapshot(
            i + 1, params=(an_update("emb.weight", under_eps=s), an_update("out.weight", numel=64, under_eps=0.0))
        )
        for i, s in enumerate(shares)
    ]


def test_most_elements_below_eps_twice_are_a_note():
    (finding,) = judged(MomentsBelowEps(), *steps(0.72, 0.9))
    assert finding.severity == "note"
    assert finding.message == (
        "step 1, rank 0: sqrt(v) is below eps for 71% of the touched elements of 2 parameters (Adam), most in "
        "emb.weight; "
        "expected below 50%. Use a smaller eps."
    )


def test_once_or_less_than_half_is_left_alone():
    assert judged(MomentsBelowEps(), *steps(0.9, 0.2)) == []
    assert judged(MomentsBelowEps(), *steps(0.4, 0.4)) == []
    assert judged(MomentsBelowEps(), *steps(None, None)) == []


def test_a_run_that_has_converged_has_small_gradients_by_right():
    assert judged(MomentsBelowEps(), *steps(0.72, 0.9), loss=(2.0, 1.0, 0.3))
    assert judged(MomentsBelowEps(), *steps(0.72, 0.9), loss=(2.0, 1.0, 0.1)) == []


def test_the_parameter_with_most_elements_below_eps_is_named():
    facts = [
        a_snapshot(
            step,
            params=(
                an_update("none.at.all"),
                an_update("few.weight", numel=100, under_eps=1.0),
                an_update("many.weight", numel=1000, under_eps=0.9),
            ),
        )
        for step in (1, 2)
    ]
    (finding,) = judged(MomentsBelowEps(), *facts)
    assert (finding.place.param, finding.place.module) == ("many.weight", "many")
    assert "91% of the touched elements of 2 parameters (Adam), most in many.weight" in finding.message


def test_at_the_threshold_of_half():
    def halves(share):
        return [a_snapshot(step, params=(an_update("w", numel=1000, under_eps=share),)) for step in (1, 2)]

    assert judged(MomentsBelowEps(), *halves(0.5)) == []
    assert len(judged(MomentsBelowEps(), *halves(0.501))) == 1
