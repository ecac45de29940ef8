"""A loss that jumped: what the trials of its last steps say of it."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer import session
from debugtracer.diagnosis.jump_trials import LossJump, diagnose
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.errors import ReplayRefused
from debugtracer.replay.trials.score import Score
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import Finding
from debugtracer.trace.verdict import Verdict
from tests.replay.pasts import STEPS, Loop, bits, trained
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def sgd(p: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(p, lr=0.05)


def a_finding(kind: str | None = "loss_spike", step: int = STEPS - 1) -> Finding:
    return Finding(
        check="optimizer/loss-spike",
        layer="optimizer",
        severity="warning",
        iteration=step,
        step=step,
        message=f"step {step}, rank 0: the loss jumped",
        kind=kind,
        symptom="loss_spike",
        confidence=0.5,
    )


def diagnosed(out: Path, loop: Loop, kind: str | None = "loss_spike", trials: int = 8) -> Verdict | None:
    """The verdict on the last loss of a loop; the world is compared bit for bit."""
    with trained(out, loop) as (watching, past, context):
        usual = loop.losses[:-1]
        jump = LossJump(a_finding(kind), past, statistics.median(usual), loop.losses[-1], usual)
        before = bits(loop)
        with watching.stack.paused():
            verdict = diagnose(jump, context, TrialBudget(trials, 600.0), None, watching.state.optimizers)
        assert all(map(same_bits, bits(loop), before))
    return verdict


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {t.intervention.partition("=")[0]: t.outcome for t in verdict.trials}


def test_rows_that_stand_out_are_the_cause_and_leaving_them_out_is_seen_to_heal(tmp_path):
    loop = Loop(sgd)
    loop.data[-1][1][3], loop.data[-1][1][6] = 80.0, -90.0
    verdict = diagnosed(tmp_path, loop)
    assert (verdict.kind, verdict.cause, verdict.status, verdict.layer) == (
        "data_hard_samples",
        "data-hard-samples",
        "confirmed",
        "data",
    )
    assert verdict.batch_rows == (3, 6)
    assert outcomes(verdict)["without-sample"] == "healed"
    assert "not healed" in outcomes(verdict).values()
    assert verdict.tested.startswith("with rows 3, 6 replaced by row ")
    assert "it lies in this batch: another batch heals the step, older weights do not" in verdict.evidence


def test_a_rate_that_rose_is_the_cause_with_the_largest_one_that_would_do(tmp_path):
    loop = Loop(sgd)
    loop.at[STEPS - 2] = lambda: loop.optimizer.param_groups[0].update(lr=3.0)
    loop.at[STEPS - 1] = lambda: loop.optimizer.param_groups[0].update(lr=0.05)
    verdict = diagnosed(tmp_path, loop)
    assert (verdict.kind, verdict.cause, verdict.status) == ("lr_too_high", "lr-too-high", "likely")
    assert verdict.confidence == calibrated("likely", True, 0.9, "lr_too_high")  # a proof has healed it
    assert outcomes(verdict)["lower-lr"] == "healed"
    assert f"lr of group 0 went from 0.05 to 3 at step {STEPS - 2}" in verdict.evidence
    moved = [text for text in verdict.evidence if " moved first: " in text]
    assert len(moved) == 1
    assert f"in the update of step {STEPS - 2}, " in moved[0]


def test_a_weight_changed_outside_the_calls_is_said_with_its_three_repeats(tmp_path):
    loop = Loop(sgd)
    loop.at[STEPS - 1] = lambda: loop.model[2].bias.detach().numpy().fill(30.0)
    verdict = diagnosed(tmp_path, loop)
    assert (verdict.kind, verdict.status) == ("silent_data_corruption", "likely")
    assert verdict.confidence == calibrated("likely", True, 0.85, "silent_data_corruption")
    assert (verdict.cause, verdict.layer, verdict.suspects) == ("silent-data-corruption", "device", ())
    assert [(t.intervention, t.outcome, t.repeats) for t in verdict.trials] == [("unchanged", "not reproduced", 3)]
    (told,) = verdict.evidence
    assert told.endswith(f", not to {loop.losses[-1]:.4g}: a weight or a moment was changed outside the recorded calls")


def test_steps_that_part_from_the_record_before_the_jump_are_no_evidence(tmp_path):
    loop = Loop(sgd)
    loop.at[STEPS - 3] = lambda: loop.model[2].bias.detach().numpy().fill(30.0)
    with pytest.raises(ReplayRefused, match=f"they lead away from the recorded losses at step {STEPS - 3}"):
        diagnosed(tmp_path, loop)


def test_without_trials_left_nothing_is_claimed(tmp_path):
    loop = Loop(sgd)
    loop.data[-1] = (loop.data[-1][0], loop.data[-1][1] * 60.0)
    verdict = diagnosed(tmp_path, loop, trials=1)
    assert outcomes(verdict) == {"unchanged": "reproduced"}
    assert (verdict.kind, verdict.status, verdict.tested) == ("loss_spike", "possible", "")


@pytest.mark.parametrize(
    ("score", "heals"),
    [
        (Score(loss=1.0, probe_loss=1.0), True),
        (Score(loss=4.0), True),
        (Score(loss=4.1), False),
        (Score(loss=1.0, probe_loss=4.1), False),
        (Score(loss=float("nan")), False),
        (Score(loss=1.0, finite_update=False), False),
        (Score(refused="no batch"), False),
        (Score(), False),
    ],
)
def test_healed_is_less_than_a_third_of_the_jump_and_a_healthy_batch_unharmed(score, heals):
    jump = LossJump(a_finding(), None, expected=1.0, value=11.0, recent=[0.9, 1.0, 1.2])  # type: ignore[arg-type]
    assert jump.heals(score) is heals
