"""Steps of a jump repeated unchanged: when it comes again, when the recorded steps do not lead to it, and when the size
of the update is looked for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.diagnosis import jump_trials as module
from debugtracer.diagnosis.jump_trials import LossJump, machine, moved_most, repeat, samples, search
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, settles
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.errors import ReplayRefused
from debugtracer.replay.trials.score import Score
from tests.diagnosis.test_jump_trials import a_finding

HIGH, LOW = Score(loss=9.0), Score(loss=1.0)


def a_jump(finding=None) -> LossJump:
    """A loss of 9 where 1 was expected."""
    return LossJump(finding or a_finding(), SimpleNamespace(steps=3), 1.0, 9.0, [1.0, 1.1])


class Trials:
    """Runs that give these scores; `bits` where the record came again to the bit."""

    def __init__(self, *scores, bits=False, departs=None) -> None:
        self.scores, self.reproduced_bits, self.departs = list(scores), bits, departs
        self.last, self.following, self.followed = SimpleNamespace(first_step=7), False, []

    def run(self, change):
        self.followed.append(self.following)
        return self.scores.pop(0)


def a_series(jump) -> TrialSeries:
    return TrialSeries(Belief({UNKNOWN: 0.0}, settles), None, jump.heals, TrialBudget(8, 60.0))


@pytest.mark.parametrize(
    ("score", "bits", "departs", "again"),
    [
        (HIGH, False, None, True),
        (HIGH, True, None, True),
        (LOW, False, None, False),
        (HIGH, False, 7, True),
    ],
)
def test_a_jump_that_comes_again_is_reproduced(score, bits, departs, again):
    jump, trials = a_jump(), Trials(score, bits=bits, departs=departs)
    series = a_series(jump)
    assert repeat(series, trials, jump) is again
    assert [one.outcome for one in series.trials] == ["reproduced" if again else "not reproduced"]
    assert series.tried == {"unchanged"} and trials.followed == [True] and trials.following is False


@pytest.mark.parametrize(
    ("trials", "why"),
    [
        (Trials(Score(refused="gone")), "gone"),
        (Trials(HIGH, departs=6), "they lead away from the recorded losses at step 6"),
        (Trials(LOW, bits=True), "the last step that is kept is healthy by itself"),
    ],
)
def test_steps_that_say_nothing_of_the_jump_are_refused(trials, why):
    jump = a_jump()
    with pytest.raises(ReplayRefused, match=why):
        repeat(a_series(jump), trials, jump)


def looked_at(*scores, unchanged=LOW, finding=None):
    """The verdict on steps that did not lead to the jump, and how often they were run."""
    jump = a_jump(finding)
    series, trials = a_series(jump), Trials(unchanged, *scores)
    repeat(series, trials, jump)
    return machine(jump, series, trials), series.trials[-1].repeats


def test_three_equal_runs_that_do_not_lead_to_the_loss_say_that_something_else_wrote():
    verdict, repeats = looked_at(LOW, LOW)
    assert (verdict.kind, verdict.status, repeats) == ("silent_data_corruption", "likely", 3)
    assert "the 4 recorded steps lead to a loss of 1 three times out of three, not to 9" in verdict.evidence[0]


@pytest.mark.parametrize(
    "scores",
    [(LOW, HIGH), (HIGH, LOW), (LOW, Score()), (Score(), LOW), (LOW, Score(loss=1.01)), (Score(loss=1.01),) * 2],
)
def test_runs_that_differ_or_give_no_loss_say_nothing(scores):
    assert looked_at(*scores)[0] is None


def test_neither_do_they_where_the_finding_leads_to_no_verdict(monkeypatch):
    monkeypatch.setattr(module, "lead", lambda found: None)
    assert looked_at(LOW, LOW)[0] is None


@pytest.mark.parametrize(("share", "searched"), [(0.05, True), (0.0499, False), (None, False)])
def test_the_largest_rate_is_looked_for_where_the_size_of_the_update_may_be_to_blame(monkeypatch, share, searched):
    monkeypatch.setattr(module, "critical_lr", lambda trials: ("searched", trials.following))
    trials = SimpleNamespace(following=False)
    shares = {} if share is None else {"lr-too-high": share}
    series = SimpleNamespace(belief=SimpleNamespace(shares=lambda: shares))
    assert search(trials, series) == (("searched", True) if searched else None)
    assert trials.following is False


def moves(*rows, segments=9):
    """What is said of parameters that moved so far in each update."""
    history = SimpleNamespace(segments=[SimpleNamespace(first_step=100 + n) for n in range(segments)])
    trials = SimpleNamespace(moves=list(rows), history=history, last=SimpleNamespace(first_step=7))
    context = SimpleNamespace(roots=SimpleNamespace(named_parameters=lambda: {1: "head.weight"}))
    return moved_most(trials, context)


def test_of_equal_moves_the_first_is_named():
    rows = [{1: 0.01, 2: 0.01}] * 3
    (said,) = moves(*rows, {1: 0.04, 2: 0.04})
    assert said.startswith("head.weight moved first: 4.00% of its norm in the update of step 104, 1.00%")
    assert moves(*rows, {2: 0.04}, {1: 0.04})[0].startswith("a parameter moved first")
    assert "of step 7," in moves(*rows, {1: 0.04}, segments=4)[0]
    assert moves(*rows[:2], {1: 0.04})[0].startswith("head.weight") and moves({1: 0.01}, {1: 0.04}) == []


@pytest.mark.parametrize(("last", "said"), [(0.03, True), (0.0299, False), (float("inf"), False)])
def test_a_move_of_three_times_its_own_measure_is_named(last, said):
    assert bool(moves({1: 0.01}, {1: 0.01}, {1: last})) is said
    assert moves({}, {}, {1: last}) == []


@pytest.mark.parametrize(
    ("rows", "of", "expected"), [(None, 3, [0, 1, 2]), ((1,), 3, [1]), ((), 2, [0, 1]), (None, None, [])]
)
def test_without_guilty_rows_all_samples_of_the_batch_are_meant(monkeypatch, rows, of, expected):
    batch = SimpleNamespace(rows=of, samples=list)
    monkeypatch.setattr(module, "batch_of", lambda trials, context: batch)
    assert samples(None, None, rows, "data-hard-samples") == expected
    assert samples(None, None, rows, "lr-too-high") is None
