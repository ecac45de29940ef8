"""A silent fault decided by training, through the whole tool: confirmed where taking it away heals, never where another
cause is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.diagnosis.proof.arms import Arm, heals
from debugtracer.diagnosis.training_experiment import LEAST, MOST, TrainingExperiment, suspects
from debugtracer.errors import ReplayRefused
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.events import Diagnosed, Noted
from debugtracer.trace.finding import UNTRAINED, Finding
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def a_finding(
    kind: str, exact: bool = False, confidence: float = 0.9, severity: Any = "warning", **evidence: float
) -> Finding:
    return Finding(
        check=f"optimizer/{kind}",
        layer="optimizer",
        severity=severity,
        iteration=2,
        step=2,
        message=f"step 2, rank 0: {kind}",
        kind=kind,
        exact=exact,
        confidence=confidence,
        evidence=dict(evidence),
    )


def fit(decay: float, learnable: bool, eager: bool = False) -> None:
    """A regression with a strong decay; without anything to learn its removal can heal nothing."""
    torch.manual_seed(3)
    x = torch.rand(640, 10)
    y = (x[:, :5].prod(1) * 20 + x[:, 5])[:, None] if learnable else torch.randn(640, 1)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=decay)
    for _ in range(5):
        for rows in torch.randperm(640).split(32):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if eager:
        model.eval()


def verdict_of(out: Path, **settings: Any) -> tuple[Verdict | None, list[str]]:
    run = next(path.parent for path in out.rglob("run.json"))
    events = Trace(run).events()
    found = [e.verdict for e in events if isinstance(e, Diagnosed)]
    return (found[-1] if found else None), [e.text for e in events if isinstance(e, Noted) and e.what == "no-trials"]


def test_a_decay_that_keeps_the_loss_up_is_confirmed(tmp_path):
    with under_watch(tmp_path, mode="dev", cost=1.0, trials_s=120.0):  # a busy machine thins and cuts off nothing
        fit(10.0, learnable=True, eager=True)
        session.stop()
    verdict, notes = verdict_of(tmp_path)
    assert verdict is not None, notes
    assert (verdict.kind, verdict.status) == ("weight_decay_too_high", "confirmed")
    assert [(t.intervention, t.outcome) for t in verdict.trials][:2] == [
        ("unchanged", "reproduced"),
        ("without-decay", "healed"),
    ]
    asis, without = verdict.trials[:2]
    assert asis.repeats == without.repeats == 3
    assert float(asis.loss or 0) > float(without.loss or 0) + 3 * float(asis.spread or 0)
    assert verdict.tested.startswith(f"with weight_decay=0 for {MOST} steps, 3 times: mean loss of batches held back ")


def test_the_same_suspicion_without_anything_to_learn_persists(tmp_path):
    with under_watch(tmp_path, mode="dev", cost=1.0, trials_s=120.0):  # a busy machine thins and cuts off nothing
        fit(10.0, learnable=False)
        session.stop()
    verdict, notes = verdict_of(tmp_path)
    assert verdict is not None, notes
    assert (verdict.kind, verdict.status) == ("weight_decay_too_high", "likely")
    assert [(t.intervention, t.outcome) for t in verdict.trials] == [
        ("unchanged", "reproduced"),
        ("without-decay", "not healed"),
    ]
    assert verdict.tested == ""
    assert [t for t in verdict.against if t.startswith("it persists with weight_decay=0: 40 steps of training end at")]


def test_no_trials_are_made_where_none_are_asked_for(tmp_path):
    with under_watch(tmp_path, mode="dev", trials=0):
        fit(10.0, learnable=True)
        session.stop()
    verdict, _ = verdict_of(tmp_path)
    assert verdict is not None
    assert (verdict.status, verdict.trials) == ("likely", ())


def test_after_ctrl_c_nothing_is_trained_again(tmp_path):
    with under_watch(tmp_path, mode="dev", cost=1.0) as watched:
        fit(10.0, learnable=True)
        watched.finished(interrupted=True)
        watched.finished()  # as the session does once more where the process ends
    verdict, _ = verdict_of(tmp_path)
    assert verdict is not None
    assert (verdict.status, verdict.trials) == ("likely", ())


def test_the_two_likeliest_that_a_training_can_tell_apart_are_tried():
    decay, dead, other = (
        a_finding("weight_decay_too_high", confidence=0.97),
        a_finding("dead_relu"),
        a_finding("label_leak"),
    )
    assert [c.slug for _, c in suspects([decay, dead])] == ["weight-decay-too-high", "dead-relu"]
    assert [c.slug for _, c in suspects([decay, a_finding("bad_init", confidence=0.7), dead])][1] == "dead-relu"
    assert suspects([a_finding("label_leak", severity="error"), decay]) == []  # what leads, no training can show
    assert [f.kind for f, _ in suspects([decay, a_finding("label_leak", confidence=0.7)])] == ["weight_decay_too_high"]
    assert suspects([a_finding("bad_init", exact=True), dead]) == []
    assert suspects([a_finding("dead_relu", severity="note"), other]) == []
    assert suspects([]) == []
    skipped = a_finding("scheduler_misuse", confidence=0.98, **{UNTRAINED: 1.0})
    assert suspects([skipped, decay]) == []
    assert [
        f.kind for f, _ in suspects([decay, a_finding("scheduler_misuse", confidence=0.7, **{UNTRAINED: 1.0})])
    ] == ["weight_decay_too_high"]


def test_dear_steps_are_fewer_or_refused():
    experiment = TrainingExperiment([a_finding("weight_decay_too_high")], seconds=30.0)
    assert experiment.steps(0.001) == MOST
    assert LEAST <= experiment.steps(0.1) < MOST
    with pytest.raises(ReplayRefused, match=r"20 steps of 2 s trained 12 times take longer than trials_s \(30\)"):
        experiment.steps(2.0)


PLAIN = [1.0, 1.0, 1.0]
SECOND = a_finding("dead_relu", confidence=0.8)


def judged(
    first: list[float], second: list[float] | None = None, rival: list[float] | None = None, refused: str = ""
) -> Verdict:
    """The verdict where these were the losses with the changes of the leading cause, of the second, and of a rival."""
    experiment = TrainingExperiment(
        [a_finding("weight_decay_too_high"), *[SECOND] * (second is not None)], seconds=30.0
    )
    experiment.plain = Arm("unchanged", "as it was", PLAIN)
    proofs = {"weight-decay-too-high": Arm("without-decay", "weight_decay=0", first, refused=refused)}
    if second is not None:
        proofs["dead-relu"] = Arm("other-activation", "LeakyReLU", second)
    good = [cause for _, cause in experiment.suspects if heals(experiment.plain, proofs[cause.slug])]
    others = [Arm("higher-lr", "ten times the rate", rival)] if rival is not None else []
    return experiment.verdict(proofs, good, others, 40)


def word(verdict: Verdict) -> tuple[str | None, str]:
    return verdict.kind, verdict.status


def test_confirmed_is_what_one_change_heals_and_no_other_does_half_as_well():
    assert word(judged([0.5] * 3)) == ("weight_decay_too_high", "confirmed")
    assert word(judged([0.5] * 3, rival=[0.76] * 3)) == ("weight_decay_too_high", "confirmed")
    assert word(judged([0.5] * 3, rival=[0.75] * 3)) == ("weight_decay_too_high", "likely")
    assert word(judged([0.5] * 3, second=[0.76] * 3)) == ("weight_decay_too_high", "confirmed")
    assert word(judged([0.5] * 3, second=[0.75] * 3)) == ("weight_decay_too_high", "likely")
    assert word(judged([0.96] * 3)) == ("weight_decay_too_high", "likely")
    assert word(judged([], refused="it failed")) == ("weight_decay_too_high", "likely")


def test_where_the_second_cause_s_change_alone_heals_it_is_the_one_and_the_reader_finds_it_by_the_first():
    verdict = judged([1.0] * 3, second=[0.5] * 3)
    assert word(verdict) == ("dead_relu", "confirmed")
    assert (verdict.step, verdict.symptom) == (2, a_finding("x").symptom)
    assert [s.kind for s in verdict.suspects] == ["weight_decay_too_high"]
    assert verdict.tested.startswith("with LeakyReLU for 40 steps, 3 times")
    assert verdict.against == (
        "it persists with weight_decay=0: 40 steps of training end at loss 1 ± 0, as it was 1 ± 0",
    )
    assert word(judged([1.0] * 3, second=[0.5] * 3, rival=[0.5] * 3)) == ("weight_decay_too_high", "likely")


def test_what_was_seen_is_said_only_where_it_proves_something():
    proved, rivalled, vain = judged([0.5] * 3), judged([0.5] * 3, rival=[0.5] * 3), judged([1.0] * 3)
    assert proved.evidence == (proved.tested,)
    assert [(v.tested, v.evidence) for v in (rivalled, vain)] == [("", ())] * 2
    assert rivalled.against == ("ten times the rate lets the loss fall as well: 0.5 ± 0 after 40 steps",)
    assert proved.against == ()
    assert proved.confidence == calibrated("confirmed", True, 0.9, "weight_decay_too_high")
    assert vain.confidence == calibrated("likely", False, judged([1.0] * 3).confidence, "weight_decay_too_high")


def test_a_gain_that_is_sure_and_small_is_a_row_that_says_so():
    small = judged([0.96] * 3, rival=[0.5] * 3)
    assert [(t.intervention, t.outcome) for t in small.trials] == [
        ("unchanged", "reproduced"),
        ("without-decay", "not healed"),
        ("higher-lr", "healed"),
    ]
    assert small.trials[1].note == "weight_decay=0 (better by 0.04 of the loss, expected 0.05 at least)"
    assert small.against == ()
    assert judged([], refused="it failed").against == ()


def test_as_many_steps_as_the_time_allows_are_trained():
    one, two = (
        TrainingExperiment([a_finding("weight_decay_too_high"), *[SECOND] * more], seconds=12.0 * LEAST)
        for more in (0, 1)
    )
    assert one.steps(1.0) == LEAST
    with pytest.raises(ReplayRefused):
        one.steps(1.1)
    with pytest.raises(ReplayRefused, match="trained 15 times"):
        two.steps(1.0)
    assert one.steps(0.0) == MOST
