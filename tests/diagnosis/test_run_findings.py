"""What the checks say of a real run: kept as evidence, written down, said when it is grave, and led by one verdict at
its end."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.checks.selection import select
from debugtracer.diagnosis.judging.recheck import recheck
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.run_findings import KEPT, MOST_SAID
from debugtracer.spikes.level import BLOCK
from debugtracer.trace.events import Diagnosed, Found, Judged, Observed, RankEnded
from debugtracer.trace.finding import Finding
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.window import LOSS
from tests.watching import batches, events, incidents, seeded, train, under_watch


def a_finding(severity: str, number: int) -> Finding:
    return Finding(
        check="model/test",
        layer="model",
        severity=severity,
        message=f"where - finding {number}",
        step=0,
        iteration=0,
        rank=0,
    )


def test_the_last_values_of_each_series_are_kept(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        losses = train(seeded(lambda: nn.Linear(4, 4)), batches(KEPT + 5))
        kept = session.incidents.findings.recent["loss"]
    assert list(kept) == [pytest.approx(float(loss)) for loss in losses[5:]]


def test_grave_findings_are_said_a_few_times_and_all_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(2))
        findings = session.incidents.findings
        for number in range(MOST_SAID + 2):
            findings.report(a_finding("warning", number))
        findings.report(a_finding("note", 99))
    said = [line for line in capsys.readouterr().err.splitlines() if "model/test" in line or "where - finding" in line]
    assert len([line for line in said if line.startswith("debug-tracer: warning: ")]) == MOST_SAID
    assert not [line for line in said if "finding 99" in line]
    written = [
        e.finding.message for e in events(tmp_path / "runs") if isinstance(e, Found) and e.finding.check == "model/test"
    ]
    assert len(written) == MOST_SAID + 3


def test_the_end_of_a_run_says_which_checks_were_asked_and_who_leads(tmp_path: Path) -> None:
    def without_step() -> None:
        torch.manual_seed(0)
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        for x in batches(40):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()

    with under_watch(tmp_path / "runs"):
        without_step()
    found = events(tmp_path / "runs")
    (judged,) = [e for e in found if isinstance(e, Judged)]
    assert judged.asked
    assert found.index(judged) > max(n for n, e in enumerate(found) if isinstance(e, Found))
    led = [e for e in found if isinstance(e, Diagnosed)]
    assert [e.verdict.kind for e in led] == ["lr_zero"]


def test_nothing_is_known_after_a_reset(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(3))
        findings = session.incidents.findings
        findings.report(a_finding("note", 1))
        findings.reset()
        assert (findings.recent, findings.found, findings.said) == ({}, [], 0)


def test_the_time_of_the_judge_is_counted_as_ours(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(20))
        state, live = session.state, session.incidents.findings.live
    assert state.judge_s == live.judge_s > 0
    last = [e for e in events(tmp_path / "runs") if isinstance(e, RankEnded) and e.final]
    assert [e.own_s for e in last] == [pytest.approx(state.steady_s + state.incident_s + state.end_s)]


def test_an_incident_knows_what_was_to_be_said_before_it(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(3))
        findings = session.incidents.findings
        assert findings.caught_up() is findings.found
        assert findings.live.steps == 3
        assert not findings.live.queue


def scaled_training(bad: set[int], steps: int) -> None:
    """Train under a GradScaler; the gradients of the bad steps overflow at any scale, their losses are finite."""
    model = nn.Linear(4, 1)
    nn.init.constant_(model.weight, 1e-3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=1000)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.full((2, 4), 3e38 if step in bad else 1.0)).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def test_after_an_incident_the_checks_go_on_live(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs", inspect_steps=0):
        scaled_training(bad=set(range(20, 27)), steps=40)
    found = [
        e for e in events(tmp_path / "runs") if isinstance(e, Found) and not e.finding.check.startswith("numerics/non")
    ]
    assert incidents(tmp_path / "runs")
    live = [f.finding.message for f in found if f.judged]
    assert any("the scaler has skipped 5 updates in a row, after 20 that went through" in text for text in live)
    trace = open_trace(tmp_path / "runs")
    again = [e.finding.message for e in recheck(trace, select()) if isinstance(e, Found)]
    assert sorted(again) == sorted(live)


def test_losses_that_are_not_finite_are_counted_live(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs"):
        torch.manual_seed(0)
        weight = nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([weight], lr=1e-3)
        for step in range(12):
            optimizer.zero_grad()
            (weight * (float("nan") if 4 <= step < 9 else 1.0)).sum().backward()
            if not 4 <= step < 9:
                optimizer.step()
            else:
                weight.grad = torch.zeros(4)
                optimizer.step()
    live = [e.finding for e in events(tmp_path / "runs") if isinstance(e, Found) and e.judged]
    rows = [f for f in live if "in a row" in f.message]
    assert [(f.check, f.step, f.severity) for f in rows] == [("numerics/nan-loss", 6, "error")]
    assert open_trace(tmp_path / "runs").series("nonfinite_losses") == ([4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 0])


def test_facts_and_findings_name_their_step(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs"):
        train(seeded(lambda: nn.Linear(4, 4)), batches(40), lr=0.0)
    run = open_trace(tmp_path / "runs").path.name
    told = [e for e in events(tmp_path / "runs") if isinstance(e, Observed | Found | Diagnosed)]
    assert {type(e) for e in told} == {Observed, Found, Diagnosed}
    for event in told:
        place = event.fact["ref"] if isinstance(event, Observed) else None
        iteration = (
            place["iteration"] if place else (event.finding if isinstance(event, Found) else event.verdict).iteration
        )
        assert event.trace_id == f"{run}-0-{iteration}"


def test_the_level_of_the_loss_is_the_median_of_enough_losses_that_are_all_numbers(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        findings = session.incidents.findings
        for number in range(BLOCK - 1):
            findings.step_done(number, {LOSS: 9.0})
        assert findings.loss_level() == math.inf
        for number in range(BLOCK - 1, 2 * BLOCK):
            findings.step_done(number, {LOSS: float(number % 2)})
        assert findings.loss_level() == statistics.median(float(number % 2) for number in range(BLOCK, 2 * BLOCK))
        findings.step_done(2 * BLOCK, {LOSS: math.nan})
        assert findings.loss_level() == math.inf


def test_what_is_loud_is_written_at_once_and_counted_and_a_note_is_neither(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(2))
        findings = session.incidents.findings
        session.output.writer.flush()
        counted = session.state.anomalies
        for severity, written in (("note", False), ("warning", True)):
            findings.tell(a_finding(severity, 7))
            told = [e for e in events(tmp_path / "runs") if isinstance(e, Found) and e.finding.severity == severity]
            assert any(e.finding.check == "model/test" for e in told) is written
        assert session.state.anomalies == counted + 1


def test_the_time_of_judging_a_step_is_in_microseconds(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs") as session:
        train(seeded(lambda: nn.Linear(4, 4)), batches(20))
        live = session.incidents.findings.live
    (judged,) = [e for e in events(tmp_path / "runs") if isinstance(e, Judged)]
    assert judged.judge_us == pytest.approx(live.judge_s / live.steps * 1e6)


def test_an_experiment_needs_trials_a_finding_and_no_verdict_of_other_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def experiment(found: list[Finding], seconds: float) -> SimpleNamespace:
        asked.append(len(found))
        return SimpleNamespace(suspects=[])

    monkeypatch.setattr("debugtracer.diagnosis.training_experiment.TrainingExperiment", experiment)
    with under_watch(tmp_path / "runs") as session:
        findings = session.incidents.findings
        findings.experiment()
        assert asked == []
        findings.found.append(a_finding("warning", 1))
        findings.experiment()
        assert asked == [1]
        findings.jumps.verdicts.append(SimpleNamespace(trials=(1,)))  # type: ignore[arg-type]
        findings.experiment()
        assert asked == [1]
        findings.jumps.verdicts.clear()
        findings.budget = TrialBudget(0, findings.budget.seconds)
        findings.experiment()
        assert asked == [1]
