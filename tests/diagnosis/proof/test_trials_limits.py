"""A series of trials at its limits: when it ends, which trial is worth its time, and what one that ran has shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.diagnosis.proof import trials as module
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.replay.trials.score import Score


class Belief:
    """Says what the test wants, and keeps what it observes."""

    def __init__(self, gain=0.0, leader="log-domain", likelihood=0.5) -> None:
        self.gains, self.leading, self.likely = gain, leader, likelihood
        self.seen = []

    def gain(self, slug):
        return self.gains.get(slug, 0.0) if isinstance(self.gains, dict) else self.gains

    def shares(self):
        return {self.leading: 1.0}

    def likelihood(self, cause, slug):
        return self.likely

    def observe(self, slug, healed):
        self.seen.append((slug, healed))


def change(slug, *, cost=1.0, ladder=(), scope="op", by_training=False):
    """An intervention of that name."""

    class Change:
        def __init__(self, value=None) -> None:
            self.value = value
            self.name = slug if value is None else f"{slug}={value}"

    Change.slug, Change.cost, Change.ladder, Change.scope, Change.by_training = slug, cost, ladder, scope, by_training
    return Change()


def a_series(*scores, trials=8, seconds=30.0, belief=None, heals=lambda score: score.finite, **more):
    left = list(scores)
    budget = SimpleNamespace(trials=trials, seconds=seconds, order="")
    made = TrialSeries(belief or Belief(), lambda one: left.pop(0), heals, budget, **more)
    made.proofs = lambda slug: ["proof"]
    return made


@pytest.mark.parametrize(("now", "spent"), [(29.9, False), (30.0, True)])
def test_the_time_is_over_when_it_is_reached(now, spent):
    series = a_series()
    assert series.spent is False
    series.watch = SimpleNamespace(spent_s=now)
    assert series.spent is spent


@pytest.mark.parametrize(
    ("outcomes", "spent"), [(["healed"], False), (["healed", "not healed"], True), (["could not run"] * 5, False)]
)
def test_what_could_not_run_costs_nothing(outcomes, spent):
    series = a_series(trials=2)
    series.trials.extend(SimpleNamespace(outcome=one) for one in outcomes)
    assert series.spent is spent


@pytest.mark.parametrize(("gain", "chosen"), [(0.01, True), (0.0099, False)])
def test_a_trial_is_worth_a_hundredth_of_a_bit(monkeypatch, gain, chosen):
    one = change("x")
    monkeypatch.setattr(module, "interventions", lambda: {"x": one})
    assert (a_series(belief=Belief(gain)).next() is one) is chosen
    monkeypatch.setattr(module, "interventions", lambda: {})
    assert a_series().next() is None


@pytest.mark.parametrize(
    ("slug", "one", "more", "may"),
    [
        ("x", change("x"), {}, True),
        ("unchanged", change("unchanged"), {}, False),
        ("x", change("x", by_training=True), {}, False),
        ("x", change("x", scope="update"), {"too_late": frozenset({"update"})}, False),
        ("x", change("x"), {"named": frozenset({"x"})}, True),
        ("x", change("x"), {"named": frozenset({"y"})}, False),
    ],
)
def test_a_trial_is_chosen_where_it_can_decide_something(slug, one, more, may):
    assert a_series(**more).may(slug, one) is may


def worth(slug, done=(), leader="log-domain", likelihood=0.5, cost=1.0, gain=0.0):
    series = a_series(belief=Belief(gain, leader or module.UNKNOWN, likelihood))
    series.proofs = lambda slug: ["first", "second"]
    series.done.update(done)
    return series.worth(change(slug, cost=cost))


def test_a_proof_of_the_leader_is_worth_a_bit_and_the_next_half():
    assert worth("first") == 1.0 and worth("second") == 0.5 and worth("other") == 0.0
    assert worth("first", {"second": False}) == 1.0 and worth("first", {"second": True}) == 0.0
    assert worth("first", leader=None) == 0.0 and worth("first", cost=2.0) == 0.5 and worth("first", cost=0.0) == 10.0


@pytest.mark.parametrize(
    ("done", "likelihood", "expected"),
    [
        ({"first": True}, module.REFUTING, 0.01),
        ({"first": True}, module.REFUTING + 0.01, 0.0),
        ({"first": False}, 0.0, 0.0),
        ({"first": True, "else": False}, 0.0, 0.0),
        ({"first": True, "else": True}, 0.0, 0.01),
    ],
)
def test_what_would_refute_an_alternative_is_worth_a_little_once_the_leader_is_proved(done, likelihood, expected):
    assert worth("other", done, likelihood=likelihood) == expected


@pytest.mark.parametrize("slug", [module.BATCH, module.STATE])
def test_whether_batch_or_state_is_to_blame_is_worth_a_little_until_it_is_known(slug):
    assert worth(slug) == pytest.approx(0.02) and worth(slug, {module.BATCH: True}) == pytest.approx(0.02)
    assert worth(slug, {module.BATCH: True, module.STATE: False}) == 0.0


GOOD, BAD, REFUSED = Score(loss=1.0), Score(), Score(refused="not here")


def attempted(*scores, slug="proof", ladder=(1.0, 2.0), scope="op", leader="log-domain", heals=None, trials=8):
    belief = Belief(leader=leader)
    series = a_series(*scores, belief=belief, trials=trials, heals=heals or (lambda score: score.loss is not None))
    series.attempt(change(slug, ladder=ladder, scope=scope))
    return [trial.outcome for trial in series.trials], belief.seen


@pytest.mark.parametrize(
    ("told", "outcomes", "seen"),
    [
        ({"scores": [GOOD]}, ["healed"], [("proof", True)]),
        ({"scores": [BAD, GOOD]}, ["not healed", "healed"], [("proof", True)]),
        ({"scores": [BAD, BAD, BAD]}, ["not healed"] * 3, [("proof", False)]),
        ({"scores": [REFUSED]}, ["could not run"], []),
        ({"scores": [BAD, REFUSED]}, ["not healed", "could not run"], [("proof", False)]),
        ({"scores": [BAD], "slug": "other"}, ["not healed"], [("other", False)]),
        ({"scores": [BAD], "leader": module.UNKNOWN}, ["not healed"], [("proof", False)]),
        ({"scores": [BAD], "trials": 1}, ["not healed"], [("proof", False)]),
        ({"scores": [REFUSED], "trials": 0}, ["could not run"], []),
    ],
)
def test_a_proof_of_the_leader_is_climbed_until_it_heals(told, outcomes, seen):
    assert attempted(*told.pop("scores"), **told) == (outcomes, seen)


@pytest.mark.parametrize(
    ("scope", "score", "gone"),
    [("precision", GOOD, True), ("op", GOOD, False), ("precision", Score(loss=float("nan")), False)],
)
def test_what_a_wider_range_takes_away_is_gone_even_where_the_step_is_not_healed(scope, score, gone):
    never = lambda score: False  # noqa: E731
    assert attempted(score, ladder=(), scope=scope, heals=never)[1] == [("proof", gone)]
