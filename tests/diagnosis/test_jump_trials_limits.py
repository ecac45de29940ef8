"""What the trials of a jump are worth, one condition at a time: belief before them, the word after them, where to
edit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from debugtracer import session
from debugtracer.causes.cause import causes
from debugtracer.diagnosis import jump_trials
from debugtracer.diagnosis.jump_trials import (
    LossJump,
    believe,
    line_of,
    moved_most,
    samples,
    status_of,
    suspects_of,
    verdict_of,
)
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, settles
from debugtracer.diagnosis.proof.settings_delta import SettingDelta
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.replay.trials.score import Score
from debugtracer.trace.birth import Frame
from debugtracer.trace.place import Place
from debugtracer.trace.verdict import Outcome, Trial, Verdict
from tests.diagnosis.test_jump_trials import a_finding, sgd
from tests.replay.pasts import Loop, trained


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def a_series(
    *trials: tuple[str, Outcome], done: dict[str, bool] | None = None, bits: dict[str, float] | None = None
) -> TrialSeries:
    return TrialSeries(
        Belief(bits or {UNKNOWN: 0.0, "lr-too-high": 6.0}, settles),
        lambda intervention: Score(),
        lambda score: False,
        TrialBudget(8, 600.0),
        trials=[Trial(intervention=name, outcome=outcome, note=f"{name} tried") for name, outcome in trials],
        done=done or {},
    )


PROVED, IN_VAIN = ("lower-lr=0.1", "healed"), {"lower-lr": True, "other-batch": False}


@pytest.mark.parametrize(
    ("trials", "done", "shares", "status"),
    [
        ((PROVED,), IN_VAIN, {"lr-too-high": 0.9, UNKNOWN: 0.1}, "confirmed"),
        ((PROVED,), IN_VAIN, {"lr-too-high": 0.899, UNKNOWN: 0.101}, "likely"),
        ((PROVED,), IN_VAIN, {"lr-too-high": 0.95, "adam-instability": 0.05}, "likely"),
        ((PROVED,), IN_VAIN, {"lr-too-high": 0.951, "adam-instability": 0.049}, "confirmed"),
        ((PROVED,), {"lower-lr": True}, {"lr-too-high": 0.95, UNKNOWN: 0.05}, "likely"),
        ((PROVED,), {"lower-lr": True, "other-batch": True}, {"lr-too-high": 0.95, UNKNOWN: 0.05}, "likely"),
        ((("other-batch", "healed"),), IN_VAIN, {"lr-too-high": 0.95, UNKNOWN: 0.05}, "likely"),
        ((("lower-lr", "not healed"),), IN_VAIN, {"lr-too-high": 0.95, UNKNOWN: 0.05}, "likely"),
        ((PROVED,), IN_VAIN, {"lr-too-high": 0.69, UNKNOWN: 0.31}, "possible"),
    ],
)
def test_confirmed_needs_a_proof_that_heals_an_alternative_in_vain_and_no_rival(trials, done, shares, status):
    assert status_of("lr-too-high", causes()["lr-too-high"], a_series(*trials, done=done), shares) == status


def facts(**more: Any) -> Any:
    """What believe() asks of trials."""
    known = {
        "guilty_rows": None,
        "row_losses": None,
        "whole_batch": False,
        "optimizers": [],
        "uses_half": lambda: False,
    }
    return SimpleNamespace(**{**known, **more})


def believed(*changed: SettingDelta, kind: str | None = "loss_spike", **more: Any) -> dict[str, float]:
    """The bits before any trial that are not 0."""
    series = a_series(bits={UNKNOWN: 0.0})
    believe(series, facts(**more), list(changed), kind)
    return {slug: bits for slug, bits in series.belief.bits.items() if bits}


def rose(times: float, name: str = "lr") -> SettingDelta:
    return SettingDelta(name=name, before=0.1, after=0.1 * times, step=3, group=0)


ADAM = SimpleNamespace(state={"w": {"exp_avg_sq": 0}, "b": {}})


def test_rows_that_stand_out_speak_for_hard_samples_and_rows_that_do_not_against_them():
    assert believed(optimizers=[ADAM]) == {}
    assert believed(optimizers=[ADAM], guilty_rows=(3,), row_losses=[1.0]) == {"data-hard-samples": 2.0}
    assert believed(optimizers=[ADAM], row_losses=[1.0]) == {"data-hard-samples": -1.0}
    assert believed(optimizers=[ADAM], row_losses=[1.0], whole_batch=True) == {}


def test_a_rate_that_rose_is_worth_twice_its_doublings_and_three_bits_at_most():
    assert believed(rose(2.0), optimizers=[ADAM]) == {"lr-too-high": pytest.approx(2.0)}
    assert believed(rose(1.5), rose(2.0), optimizers=[ADAM]) == {"lr-too-high": pytest.approx(2.0)}
    assert believed(rose(16.0), optimizers=[ADAM]) == {"lr-too-high": 3.0}
    assert believed(rose(0.5), optimizers=[ADAM]) == {}
    assert believed(rose(0.0), optimizers=[ADAM]) == {}
    assert believed(rose(4.0, "momentum"), optimizers=[ADAM]) == {}


def test_what_the_check_says_and_which_optimizer_it_is_count_too():
    assert believed(kind="label_noise", optimizers=[ADAM]) == {}
    assert believed(kind="adam_instability", optimizers=[ADAM]) == {"adam-instability": 2.0}
    assert believed(kind=None) == {"adam-instability": -4.0}
    assert believed(optimizers=[SimpleNamespace(state={"w": {"momentum_buffer": 0}})]) == {"adam-instability": -4.0}


def test_float16_is_to_blame_only_where_it_is_used():
    for half in (True, False):
        series = a_series(bits={UNKNOWN: 0.0})
        believe(series, facts(uses_half=lambda half=half: half), [], None)
        assert ("fp16-overflow" in series.belief.bits) is half


def concluded(tmp_path, bits: dict[str, float], **finding: Any) -> Verdict:
    with trained(tmp_path, Loop(sgd)) as (watching, past, context):
        told = msgspec.structs.replace(a_finding(), **finding)
        jump = LossJump(told, past, 1.0, 9.0, [1.0])
        with watching.stack.paused(), HistoryTrials(past, context, None) as trials:
            return verdict_of(jump, a_series(bits=bits), trials, [], context, watching.state.optimizers, None)


def test_a_cause_is_named_from_six_tenths_on_and_else_the_finding_stands(tmp_path):
    verdict = concluded(tmp_path, {UNKNOWN: 0.0, "lr-too-high": 0.6})
    assert (verdict.kind, verdict.cause, verdict.layer, verdict.status) == (
        "lr_too_high",
        "lr-too-high",
        "optimizer",
        "possible",
    )
    assert concluded(tmp_path, {UNKNOWN: 0.0, "lr-too-high": 0.5}).kind == "loss_spike"
    assert concluded(tmp_path, {UNKNOWN: 3.0, "lr-too-high": 0.0}).kind == "loss_spike"


def test_a_note_without_a_class_is_a_loss_spike_until_a_cause_is_known(tmp_path):
    verdict = concluded(tmp_path, {UNKNOWN: 3.0, "lr-too-high": 0.0}, severity="note", kind=None)
    assert (verdict.kind, verdict.summary) == ("loss_spike", a_finding().message)


def test_rows_and_samples_of_the_finding_belong_to_a_cause_in_the_data_alone(tmp_path):
    place = Place(batch_rows=(3,), sample_index=(103,))
    hard = concluded(tmp_path, {UNKNOWN: 0.0, "data-hard-samples": 3.0}, place=place)
    assert (hard.batch_rows, hard.sample_index) == ((3,), (103,))
    rate = concluded(tmp_path, {UNKNOWN: 0.0, "lr-too-high": 3.0}, place=place)
    assert (rate.batch_rows, rate.sample_index) == (None, None)


def test_other_causes_are_suspects_from_one_in_a_hundred_on():
    shares = {"lr-too-high": 0.9, UNKNOWN: 0.05, "adam-instability": 0.0123456, "exploding-gradients": 0.01}
    (one,) = suspects_of(shares, "lr-too-high")
    assert (one.kind, one.cause, one.confidence, one.status) == (
        "adam_instability",
        "adam-instability",
        0.012,
        "unknown",
    )


def test_where_to_edit_is_the_finding_s_line_and_else_that_of_the_optimizer():
    built, at = Frame("/p/train.py", 9), Frame("/p/train.py", 4)
    optimizer = object()
    context: Any = SimpleNamespace(frames=lambda made: (built,) if made else ())
    trials: Any = SimpleNamespace(optimizers=[optimizer])
    known: Any = {optimizer: "made at 9"}

    def told(leader: str, frame: Frame | None, trials: Any = trials, known: Any = known) -> Frame | None:
        jump = LossJump(msgspec.structs.replace(a_finding(), place=Place(frame=frame)), None, 1.0, 9.0, [])  # type: ignore[arg-type]
        return line_of(leader, jump, trials, context, known)

    assert [told("lr-too-high", at), told("data-hard-samples", at)] == [at, at]
    assert (told("lr-too-high", None), told("data-hard-samples", None)) == (built, None)
    assert told("lr-too-high", None, known={}) is None
    assert told("lr-too-high", None, trials=SimpleNamespace(optimizers=[])) is None


def moved(*shares: float) -> list[str]:
    segments = [SimpleNamespace(first_step=10 + n) for n in range(len(shares))]
    trials: Any = SimpleNamespace(
        moves=[{7: share} for share in shares],
        history=SimpleNamespace(segments=segments),
        last=SimpleNamespace(first_step=99),
    )
    context: Any = SimpleNamespace(roots=SimpleNamespace(named_parameters=lambda: {7: "up.weight"}))
    return moved_most(trials, context)


def test_the_parameter_that_moved_three_times_its_own_measure_is_named():
    assert moved(0.1, 0.1, 0.25, 0.1) == []
    assert moved(0.125, 0.125, 0.375, 0.1) == [
        "up.weight moved first: 37.50% of its norm in the update of step 13, 12.50% in those before"
    ]
    assert moved(0.125, 0.125, 0.5)[0].startswith("up.weight moved first: 50.00% of its norm in the update of step 99,")
    assert moved(0.1, 9.0) == []
    assert moved(0.0, 0.0, 9.0) == []
    assert moved(0.1, 0.1, float("inf")) == []


def test_samples_are_named_where_the_data_is_to_blame(monkeypatch):
    batch = SimpleNamespace(rows=3, samples=lambda rows: tuple(100 + row for row in rows))
    monkeypatch.setattr(jump_trials, "batch_of", lambda trials, context: batch)
    nothing: Any = None
    assert samples(nothing, nothing, (1,), "data-hard-samples") == (101,)
    assert samples(nothing, nothing, None, "data-label-noise") == (100, 101, 102)
    assert samples(nothing, nothing, (1,), "lr-too-high") is None
    monkeypatch.setattr(jump_trials, "batch_of", lambda trials, context: None)
    assert samples(nothing, nothing, (1,), "data-hard-samples") is None


def test_a_healthy_batch_may_be_as_bad_as_the_worst_of_the_last_losses():
    nothing: Any = None
    jump = LossJump(a_finding(), nothing, expected=1.0, value=11.0, recent=[9.0])
    assert jump.heals(Score(loss=1.0, probe_loss=9.0))
    assert not jump.heals(Score(loss=1.0, probe_loss=9.1))
    assert not jump.heals(Score(loss=9.0, probe_loss=1.0))
    assert LossJump(a_finding(), nothing, expected=1.0, value=11.0, recent=[]).heals(Score(loss=1.0, probe_loss=4.0))
