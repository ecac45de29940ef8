"""Which trial comes next, and when it is enough."""

import math

from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, named
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.interventions.intervention import interventions
from debugtracer.replay.trials.score import Score


def a_series(healing=(), confidences=None, refused=(), budget=None, **more):
    """Trials that heal when their slug is in `healing`; the order they were run in is `ran`."""
    ran = []

    def run(intervention):
        ran.append(intervention.name)
        if intervention.slug in refused:
            return Score(refused="it cannot be tried here")
        return Score(loss=2.0 if intervention.slug in healing else math.nan, change=f"{intervention.slug} put in place")

    belief = Belief.of({"log-domain": 0.9} if confidences is None else confidences)
    return TrialSeries(belief, run, lambda score: score.finite, budget or TrialBudget(), **more), ran


def test_what_proves_the_leader_comes_first():
    series, ran = a_series({"stable-op"}, too_late=frozenset({"update"}))
    series.go()
    assert ran[0] == "stable-op=1e-06"
    assert series.done["stable-op"] is True
    assert series.leader == "log-domain"


def test_a_proof_climbs_its_ladder_until_it_heals():
    series, ran = a_series(named=frozenset({"stable-op"}))
    series.go()
    assert ran == ["stable-op=1e-06", "stable-op=0.001"]


def test_no_ladder_for_what_proves_nothing():
    series, ran = a_series(named=frozenset({"lower-lr"}))
    series.belief = Belief.of({"lr-too-high": 0.5, "log-domain": 0.95})
    series.attempt(interventions()["lower-lr"])
    assert ran == ["lower-lr=10"]


def test_a_trial_that_cannot_run_costs_nothing_and_says_why():
    series, _ = a_series(
        {"other-batch"},
        refused={"stable-op"},
        budget=TrialBudget(trials=1),
        named=frozenset({"stable-op", "other-batch"}),
    )
    series.go()
    assert [(t.intervention, t.outcome) for t in series.trials] == [
        ("stable-op=1e-06", "could not run"),
        ("other-batch", "healed"),
    ]
    assert series.trials[0].note == "it cannot be tried here"
    assert "stable-op" not in series.done


def test_the_budget_ends_it():
    series, ran = a_series(budget=TrialBudget(trials=2), confidences={})
    series.go()
    assert len(ran) == 2
    still, none = a_series(budget=TrialBudget(seconds=0.0))
    still.go()
    assert none == []


def test_a_ladder_ends_with_the_budget_too():
    series, ran = a_series(budget=TrialBudget(trials=1), named=frozenset({"stable-op"}))
    series.go()
    assert ran == ["stable-op=1e-06"]


def test_a_rung_that_cannot_run_does_not_hide_the_one_before():
    series, _ = a_series(named=frozenset({"stable-op"}))
    run = series.run
    series.run = lambda i: Score(refused="too large") if i.size > 1e-5 else run(i)
    series.go()
    assert [t.outcome for t in series.trials] == ["not healed", "could not run"]
    assert series.done == {"stable-op": False}


def test_what_acts_after_the_fault_is_not_tried():
    series, ran = a_series(too_late=frozenset({"update"}), confidences={})
    series.go()
    assert not {"lower-lr=10", "clipped-gradient=1", "fresh-moments"} & set(ran)


def test_only_what_can_tell_something_is_tried():
    series, ran = a_series(named=named("finite"), confidences={})
    series.go()
    assert {name.partition("=")[0] for name in ran} <= named("finite")


def test_random_order_is_for_the_baseline_and_touches_no_generator_of_the_user():
    import random

    random.seed(7)
    state = random.getstate()
    series, ran = a_series(budget=TrialBudget(order="random"))
    series.go()
    again, same = a_series(budget=TrialBudget(order="random"))
    again.go()
    assert ran == same
    assert random.getstate() == state


def test_without_a_cause_the_leader_is_unknown():
    series, _ = a_series(confidences={})
    assert series.leader is None
    assert list(series.belief.shares()) == [UNKNOWN]


def test_a_failed_alternative_refutes():
    series, _ = a_series({"stable-op"}, too_late=frozenset({"update"}))
    assert not series.refuted
    series.go()
    assert series.refuted


def test_a_proof_that_failed_refutes_no_alternative():
    series, _ = a_series({"stable-op"})
    for slug in ("stable-op", "other-batch"):
        series.attempt(interventions()[slug])
    assert series.leader == "log-domain"
    assert series.done == {"stable-op": True, "other-batch": False}
    assert not series.refuted
    series.attempt(interventions()["full-precision"])
    assert series.refuted
