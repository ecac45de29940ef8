"""Which trial comes next, and when it is enough."""

import math

import pytest

from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, named
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import (
    ATTRIBUTION,
    LEAST_GAIN,
    PROOF_GAIN,
    PROVES,
    REFUTING,
    TrialSeries,
    narrowest,
)
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


def plain(series, slug):
    """What a trial decides, for its price alone."""
    return series.belief.gain(slug) / max(interventions()[slug].cost, 0.1)


def more(series, slug):
    """What a trial is worth beyond that, in bits."""
    return (series.worth(interventions()[slug]) - plain(series, slug)) * max(interventions()[slug].cost, 0.1)


def test_a_proof_of_the_leader_is_worth_a_bit_divided_by_its_rank_until_one_has_healed():
    series, _ = a_series()
    assert series.proofs("log-domain") == ["stable-op", "without-sample", "other-batch"]
    assert more(series, "stable-op") == pytest.approx(PROOF_GAIN)
    assert more(series, "without-sample") == pytest.approx(PROOF_GAIN / 2)
    assert more(series, "other-batch") == pytest.approx(PROOF_GAIN / 3 + ATTRIBUTION)
    assert more(series, "older-weights") == pytest.approx(ATTRIBUTION)
    series.done["without-sample"] = False
    assert more(series, "stable-op") == pytest.approx(PROOF_GAIN)
    series.done["without-sample"] = True
    assert more(series, "stable-op") == pytest.approx(0.0)


def test_an_alternative_is_worth_little_once_a_proof_has_healed_and_nothing_once_one_was_in_vain():
    series, _ = a_series()
    assert series.belief.likelihood("log-domain", "lower-lr") <= REFUTING
    assert more(series, "lower-lr") == pytest.approx(0.0)
    series.done["stable-op"] = True
    assert more(series, "lower-lr") == pytest.approx(LEAST_GAIN)
    series.done["fresh-moments"] = False
    assert more(series, "lower-lr") == pytest.approx(0.0)


def test_batch_and_state_are_worth_knowing_until_both_are_known():
    series, _ = a_series(confidences={})
    assert [more(series, slug) for slug in ("other-batch", "older-weights")] == [pytest.approx(ATTRIBUTION)] * 2
    series.done["other-batch"] = False
    assert more(series, "older-weights") == pytest.approx(ATTRIBUTION)
    series.done["older-weights"] = False
    assert more(series, "older-weights") == pytest.approx(0.0)


def test_a_cause_without_proofs_is_proved_by_what_it_is_all_but_sure_of():
    series, _ = a_series(confidences={})
    series.belief.likelihood = lambda cause, slug: {"other-batch": PROVES, "older-weights": PROVES - 0.01}.get(
        slug, 0.1
    )
    assert series.proofs("a cause of nobody") == ["other-batch"]


def test_what_may_be_tried():
    series, _ = a_series(named=frozenset({"stable-op", "unchanged", "without-decay"}), too_late=frozenset({"op"}))
    known = interventions()
    assert [series.may(slug, known[slug]) for slug in ("stable-op", "unchanged", "other-batch")] == [False] * 3
    series.too_late = frozenset()
    assert series.may("stable-op", known["stable-op"])
    assert not series.may("unchanged", known["unchanged"])
    series.named = None
    assert series.may("other-batch", known["other-batch"])
    by_training = [slug for slug, one in known.items() if one.by_training]
    assert by_training
    assert not any(series.may(slug, known[slug]) for slug in by_training)


def test_a_precision_that_makes_all_finite_has_done_its_part_and_another_change_has_not():
    for slug, gone in (("full-precision", True), ("other-batch", False)):
        series, _ = a_series()
        series.run = lambda intervention: Score(loss=2.0)
        series.heals = lambda score: False
        series.attempt(interventions()[slug])
        assert series.done == {slug: gone}
        assert [t.outcome for t in series.trials] == ["not healed"]


def test_the_narrowest_of_those_that_healed():
    order = ("op", "sample", "batch")
    assert narrowest({"other-batch": True, "without-sample": True, "stable-op": False}, order) == "without-sample"
    assert narrowest({"stable-op": False}, order) is None
