"""Which trainings a training experiment runs, when its time is over, and what it refuses."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.diagnosis import training_experiment as module
from debugtracer.diagnosis.proof.arms import Arm
from debugtracer.diagnosis.training_experiment import TrainingExperiment
from debugtracer.errors import ReplayRefused
from debugtracer.replay.trials.score import Score


def an_experiment(seconds=30.0, suspects=()):
    made = TrainingExperiment([], seconds)
    made.suspects = list(suspects)
    return made


class Trials:
    """Trainings with these scores, one after the other."""

    def __init__(self, *scores) -> None:
        self.scores, self.orders = list(scores), []

    def take_order(self, repeat):
        self.orders.append(repeat)

    def run(self, change):
        return self.scores.pop(0)

    def rerun(self):
        return "rerun"


def trained(*scores, seconds=30.0, clock=None):
    experiment, arm = an_experiment(seconds), Arm("x")
    if clock is not None:
        experiment.watch = SimpleNamespace(spent_s=clock)
    trials = Trials(*scores)
    experiment.train(trials, arm, "change")
    return arm, trials.orders


def test_each_change_is_trained_in_three_orders():
    scores = [Score(loss=1.0 + n, seconds=0.5, change=f"change {n}") for n in range(3)]
    arm, orders = trained(*scores)
    assert (arm.losses, arm.seconds, arm.note, arm.refused, orders) == ([1.0, 2.0, 3.0], 1.5, "change 2", "", [0, 1, 2])


@pytest.mark.parametrize(
    ("score", "why"),
    [
        (Score(refused="it cannot"), "it cannot"),
        (Score(), "it gave no loss"),
        (Score(loss=1.0, refused="late"), "late"),
    ],
)
def test_a_training_that_gives_nothing_ends_its_arm(score, why):
    arm, orders = trained(Score(loss=1.0, seconds=0.5), score)
    assert (arm.losses, arm.refused, orders) == ([1.0], why, [0, 1])


@pytest.mark.parametrize(("clock", "over"), [(30.0, False), (30.1, True)])
def test_no_training_begins_when_the_time_is_over(clock, over):
    arm, orders = trained(*[Score(loss=1.0)] * 3, clock=clock)
    assert (arm.refused == "trials_s (30) were over") is over and orders == ([0] if over else [0, 1, 2])


@pytest.mark.parametrize(
    ("step_s", "suspects", "steps"),
    [(30 / (5 * 3) / 20, 2, 20), (30 / (5 * 3) / 19, 2, None), (30 / (4 * 3) / 25, 1, 25), (0.0, 2, 40), (1e-9, 1, 40)],
)
def test_as_many_updates_as_the_time_allows(step_s, suspects, steps):
    experiment = an_experiment(suspects=[("finding", "cause")] * suspects)
    if steps is None:
        with pytest.raises(ReplayRefused, match="20 steps of"):
            experiment.steps(step_s)
    else:
        assert experiment.steps(step_s) == steps


def may_try(monkeypatch, *reasons, leads=True):
    """Whether a cause may be tried whose changes are refused for these reasons."""
    known = {str(n): SimpleNamespace(refuses=lambda rerun, why=why: why) for n, why in enumerate(reasons)}
    monkeypatch.setattr(module, "interventions", lambda: known)
    cause = SimpleNamespace(proved_by_training=tuple(known))
    first = cause if leads else SimpleNamespace()
    return an_experiment(suspects=[("finding", first), ("other", cause)]).may_try(Trials(), cause)


def test_a_cause_is_tried_where_one_change_of_it_can_be_made(monkeypatch):
    assert may_try(monkeypatch, "no", "") is True and may_try(monkeypatch, "") is True
    assert may_try(monkeypatch, "no", "never", leads=False) is False
    with pytest.raises(ReplayRefused, match=r"^no$"):
        may_try(monkeypatch, "no", "never")


def test_the_first_change_that_heals_is_taken(monkeypatch):
    experiment = an_experiment()
    monkeypatch.setattr(module, "interventions", lambda: {"a": "a", "b": "b", "c": "c"})
    monkeypatch.setattr(module, "heals", lambda plain, arm: arm.name == "b")
    experiment.arm = lambda trials, change: Arm(change)
    assert experiment.tried(None, SimpleNamespace(proved_by_training=("a", "b", "c"))).name == "b"
    assert experiment.tried(None, SimpleNamespace(proved_by_training=("a", "c"))).name == "c"
    assert experiment.tried(None, SimpleNamespace(proved_by_training=())).name == ""
