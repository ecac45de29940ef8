"""Losses that leave for good."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from debugtracer.checks.optimizer.loss_divergence import LossDivergence
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import UNTRIED, Finding
from tests.spikes.series import falling, findings, loud, ref
from tests.spikes.test_sparse import DIVERGED, healthy


def stepped(times: float, at: int = 300, count: int = 500) -> list[float]:
    return [v * (times if step >= at else 1.0) for step, v in enumerate(falling(count))]


def test_fires_on_a_step_change():
    (warning,) = loud(findings(LossDivergence(), stepped(2.5)))
    assert (warning.iteration, warning.kind, warning.confidence) == (300, "loss_spike", 0.4)
    assert "33 steps: step change); expected at most 3 MAD. Go back to a checkpoint before step 300" in warning.message


def test_another_dataset_makes_it_a_note_and_a_small_rise_nothing():
    switch = OutlyingBatch(ref=ref(300), loss=2.0, indices=(1,), frame=None, backward=None, other_data=True)
    (note,) = findings(LossDivergence(), stepped(2.5), [switch])
    assert note.severity == "note"
    assert note.message.endswith("nothing, if that is another task or stage; else compare the two.")
    assert findings(LossDivergence(), stepped(1.12), [switch]) == []
    lr = [0.05] * 300 + [0.5] * 200
    assert loud(findings(LossDivergence(), stepped(2.5), [switch], lr=lr))


def test_a_loss_above_the_first_ones_of_another_task_is_none():
    rising = [2.0 * 1.06**step for step in range(64)]
    switch = OutlyingBatch(ref=ref(20), loss=2.0, indices=(1,), frame=None, backward=None, other_data=True)
    assert [f.severity for f in findings(LossDivergence(), rising, [switch])] == []


def test_fires_on_exponential_growth():
    losses = [v * (1.05 ** max(step - 300, 0)) for step, v in enumerate(falling(400))]
    first = loud(findings(LossDivergence(), losses))[0]
    assert (first.kind, first.severity) == ("lr_too_high", "warning")
    assert 300 <= first.iteration <= 345


def test_a_jump_of_the_learning_rate_is_the_likely_cause():
    lr = [0.05] * 300 + [0.5] * 200
    (warning,) = loud(findings(LossDivergence(), stepped(2.5), lr=lr))
    assert (warning.kind, warning.confidence) == ("lr_too_high", 0.75)
    assert "; the learning rate had just risen 10-fold;" in warning.message


def test_fires_in_the_first_steps_without_any_history():
    (warning,) = findings(LossDivergence(), [2.0 * 1.06**step for step in range(64)])
    assert (warning.severity, warning.step) == ("warning", 47)
    assert "expected a loss below where it began" in warning.message


def test_a_creeping_rise_is_a_note_until_all_that_was_learnt_is_lost():
    little = findings(LossDivergence(), stepped(1.12))
    assert [f.severity for f in little] == ["note"]
    noisy = falling(500, start=3.0, end=0.1, noise=0.5)
    lost = [v if step < 300 else 3.0 for step, v in enumerate(abs(v) for v in noisy)]
    assert [f.severity for f in findings(LossDivergence(), lost)] == ["warning"]


@pytest.mark.parametrize("seed", range(3))
def test_stays_silent_on_a_healthy_loss(seed):
    assert not loud(findings(LossDivergence(), falling(800, seed=seed)))


def by_turns(ends: list[tuple[float, float]]) -> list[float]:
    """Fifteen losses from the first to the second number of each pair."""
    return [first + (last - first) * step / 14 for first, last in ends for step in range(15)]


def test_a_rise_that_the_series_had_before_and_came_back_from_is_a_note():
    start = [(0.36, 0.27), (0.66, 0.56), (0.49, 0.45), (0.55, 0.36), (0.5, 0.46), (0.39, 0.28), (0.61, 0.44)]
    low, high = [(0.21, 0.12), (0.14, 0.05)], [(0.5, 0.31), (0.8, 0.67), (0.7, 0.68)]
    assert [f.severity for f in findings(LossDivergence(), by_turns(start + low + high))] == [
        "note"
    ]  # updates of a PPO
    falling_once = [(0.5, 0.45), (0.45, 0.4), (0.4, 0.35), (0.35, 0.3), (0.3, 0.25), (0.25, 0.22), (0.22, 0.21)]
    assert loud(findings(LossDivergence(), by_turns(falling_once + low + high)))


def test_a_loss_that_fell_through_the_level_it_is_back_at_has_not_come_back_before():
    losses = [*falling(200, start=2.8, end=1.5, noise=0.02), *falling(100, start=2.3, end=2.1, noise=0.02)]
    assert loud(findings(LossDivergence(), losses))


def test_a_level_that_is_left_again_and_again_is_noted_once_and_again_when_it_rises_twice_as_far():
    for rises, told in (((0.02, 0.025, 0.03), 1), ((0.02, 0.025, 0.048), 2)):
        at = dict(zip((200, 350, 500), rises, strict=True))
        losses = [
            v - 0.99 + sum(r for step, r in at.items() if 0 <= n - step < 60)
            for n, v in enumerate(falling(650, noise=0.001))
        ]
        assert len(findings(LossDivergence(), losses)) == told


def test_stays_silent_on_a_generator_whose_loss_rises():
    chance = random.Random(7)
    losses = [0.7 + 0.5 * step / 800 + 0.02 * chance.gauss(0, 1) for step in range(800)]
    assert not loud(findings(LossDivergence(), losses))


def test_stays_silent_on_a_curriculum_that_costs_little():
    losses = [v - 0.99 + (0.02 if step >= 300 else 0.0) for step, v in enumerate(falling(500, noise=0.001))]
    assert not loud(findings(LossDivergence(), losses))


def logged(losses: list[float], every: int = 500, **beside: float) -> list[Finding]:
    """What is said of a log with a row each so many steps."""
    judge = Judge({LossDivergence().slug: LossDivergence()})
    found = [f for n, loss in enumerate(losses, 1) for f in judge.judge(ref(every * n), {"loss": loss, **beside})]
    return [*found, *judge.end(ref(every * len(losses)))]


def test_fires_on_a_log_of_few_rows_that_left_its_best():
    (warning,) = logged(DIVERGED)
    assert (warning.severity, warning.step, warning.kind) == ("warning", 20_000, "lr_too_high")
    assert (
        "the loss left its best for good: 1.416 at step 19000, 19.26 at step 29500 (medians of 3 logged values; "
        in warning.message
    )
    assert "Go back to a checkpoint before step 20000" in warning.message
    assert not logged(DIVERGED, every=1) or all("medians of 3" not in f.message for f in logged(DIVERGED, every=1))


def test_stays_silent_on_healthy_logs_of_few_rows():
    assert not [seed for seed in range(60) if logged(healthy(seed))]


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("logged/rollout/ep_rew_mean", "note"),
        ("logged/train/g_loss", "note"),
        ("logged/grew", "warning"),
        ("logged/acc", "warning"),
    ],
)
def test_a_loss_that_chases_a_moving_target_gets_a_note(name, severity):
    assert [f.severity for f in logged(DIVERGED, **{name: 1.0})] == [severity]


def test_a_rise_is_nothing_where_the_target_moves_unless_the_gradient_explodes():
    follower = Wiring(ref=ref(0), params=(), optimizers=(), follower=True)
    assert findings(LossDivergence(), stepped(2.5))
    assert not findings(LossDivergence(), stepped(2.5), [follower])
    assert not findings(LossDivergence(), [2.0 * 1.06**step for step in range(64)], [follower])
    growing = [1.1 ** max(step - 300, 0) for step in range(400)]
    losses = [v * g for v, g in zip(falling(400), growing, strict=True)]
    assert loud(findings(LossDivergence(), losses, [follower], grad_l2=growing))


PROGRAM = Wiring(ref=ref(0), params=(), optimizers=())  # there is a program, whose steps can be tried


def tried(at: int = 300, **known: Any) -> LossComparison:
    return LossComparison(ref=ref(at), batches=3, **known)


def test_a_warning_of_a_program_waits_for_its_trial():
    (waits,) = findings(LossDivergence(), stepped(2.5), [PROGRAM])
    assert (waits.severity, waits.evidence[UNTRIED]) == ("note", 1.0)
    assert waits.message.endswith("Not tried: the weights of before on the same batches.")
    judge = Judge({LossDivergence().slug: LossDivergence()})
    known = tried(earlier_step=290, now=2.9, earlier=1.2)
    steps = [(loss, [PROGRAM] if step == 0 else []) for step, loss in enumerate(stepped(2.5))]
    found = [f for step, (loss, facts) in enumerate(steps) for f in judge.judge(ref(step), {"loss": loss}, facts)]
    found += judge.judge(ref(499), {}, [known])
    assert [(f.severity, UNTRIED in f.evidence) for f in found] == [("note", True), ("warning", False)]
    assert "On the last 3 batches the weights of step 290 give 1.2, those of now 2.9." in found[1].message


@pytest.mark.parametrize(
    ("known", "severity", "said"),
    [
        ({"earlier_step": 290, "now": 2.9, "earlier": 1.2}, "warning", "Go back to a checkpoint"),
        (
            {"earlier_step": 290, "now": 2.9, "earlier": 2.9},
            "note",
            "data, targets or what else has no gradient are others",
        ),
        (
            {"earlier_step": 290, "now": 2.9, "earlier": 40.0},
            "note",
            "data, targets or what else has no gradient are others",
        ),
        (
            {"earlier_step": 290, "now": 1.0, "earlier": 0.9},
            "note",
            "data, targets or what else has no gradient are others",
        ),
        ({"refused": "no steps are kept"}, "note", "Not tried: the weights of before on the same batches (no steps"),
    ],
    ids=["earlier-better", "same", "moved-target", "fell-again", "refused"],
)
def test_the_weights_of_before_decide(known, severity, said):
    (found,) = findings(LossDivergence(), stepped(2.5), [PROGRAM, tried(**known)])
    assert found.severity == severity and said in found.message
    assert UNTRIED not in found.evidence


def test_a_loss_that_leaves_in_a_search_for_the_rate_is_a_note():
    losses = [2.0 * 0.98**n for n in range(120)] + [4.0 * 1.3**n for n in range(60)]
    searched = [1e-6 * 1.1**n for n in range(180)]
    assert {f.severity for f in findings(LossDivergence(), losses, lr=[1e-3] * 180)} == {"warning"}
    notes = findings(LossDivergence(), losses, lr=searched)
    assert {f.severity for f in notes} == {"note"}
    assert notes[0].message.endswith("a search for a rate ends so. Nothing if it is one.")


def test_a_loss_that_is_computed_otherwise_since_is_a_note_at_its_line():
    frame = Frame("train.py", 31, "main")
    own = LoopChange(ref=ref(300), function="mul", before=0.1, after=10.0, of_loss=True, steps=25, frame=frame)
    (note,) = findings(LossDivergence(), stepped(40.0), [own, PROGRAM])
    assert (note.severity, note.place.frame, UNTRIED in note.evidence) == ("note", frame, False)
    assert "and is computed otherwise since: `mul` at train.py:31 was given 10, in the 25 steps before" in note.message
    elsewhere = msgspec.structs.replace(own, of_loss=False)
    assert "Look at train.py:31 first" in findings(LossDivergence(), stepped(40.0), [elsewhere])[0].message
    lr = [0.05] * 300 + [0.5] * 200
    assert loud(findings(LossDivergence(), stepped(40.0), [own], lr=lr))
