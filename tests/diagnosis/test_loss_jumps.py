"""Which losses are put to trials, when, and how often."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer import session
from debugtracer.diagnosis.loss_jumps import (
    ABOVE,
    FIX_STEPS,
    LEAST,
    MOST,
    STAYS,
    LossJumps,
)
from debugtracer.diagnosis.reported_jump import level
from debugtracer.session import Session
from debugtracer.trace.events import Diagnosed, Noted
from debugtracer.trace.finding import Finding
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import LOSS, STEP_S
from tests.watching import events, under_watch

AT = LEAST + 3


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def a_finding(check: str = "optimizer/loss-spike", step: int = AT, **more: Any) -> Finding:
    known: dict[str, Any] = {"severity": "warning", "kind": "loss_spike", "symptom": "loss_spike", "confidence": 0.5}
    layer: Any = check.partition("/")[0]
    return Finding(
        check=check,
        layer=layer,
        iteration=step,
        step=step,
        message=f"step {step}, rank 0: the loss jumped",
        **{**known, **more},
    )


class Spiky:
    """A loop whose batch `AT` has two foreign rows, and the jumps of its session."""

    def __init__(self, watching: Session) -> None:
        self.session, self.jumps = watching, watching.incidents.findings.jumps
        self.session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        torch.manual_seed(3)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02)
        self.data = [(torch.randn(32, 4), torch.randn(32, 1)) for _ in range(120)]
        self.data[AT][1][3] = 90.0
        self.step = 0
        self.clears = True

    def go(self, steps: int) -> None:
        for x, y in self.data[self.step : self.step + steps]:
            if self.clears:
                self.optimizer.zero_grad()
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
        self.step += steps


def verdicts(out: Path) -> list[Verdict]:
    """Those that trials have reached."""
    return [e.verdict for e in events(out) if isinstance(e, Diagnosed) and e.verdict.trials]


def notes(out: Path) -> list[str]:
    return [e.text for e in events(out) if isinstance(e, Noted) and e.what == "no-trials"]


@pytest.fixture
def jumps(tmp_path):
    with under_watch(tmp_path) as watching:
        yield watching.incidents.findings.jumps


def fed(jumps: LossJumps, *losses: float) -> None:
    for step, loss in enumerate(losses):
        jumps.seen(step, {LOSS: loss})


def test_a_loss_stands_out_only_beside_enough_others(jumps):
    fed(jumps, *[1.0, 1.1] * (LEAST // 2 - 1), 50.0)
    assert jumps.stood_out == {}
    fed(jumps, *[1.0] * 32, float("nan"), 1.2)
    assert jumps.stood_out == {}


def test_one_that_stands_out_is_kept_with_what_was_expected_and_is_not_learnt(jumps):
    fed(jumps, *[1.0, 1.1] * (LEAST // 2), 2.0, 1.0)
    assert jumps.stood_out == {LEAST: (1.05, 2.0, [1.0, 1.1] * (LEAST // 2))}
    assert 2.0 not in jumps.recent
    assert jumps.to_pin == (LEAST, pytest.approx(0.9 / 0.1))


def test_a_level_that_stays_is_learnt_and_the_first_step_of_it_is_the_one_to_keep(jumps):
    fed(jumps, *[1.0, 1.1] * (LEAST // 2), *[5.0] * (STAYS - 1))
    assert 5.0 not in jumps.recent
    jumps.seen(90, {LOSS: 5.0})
    assert jumps.recent[-1] == 5.0
    assert jumps.to_pin[0] == LEAST
    jumps.seen(91, {LOSS: 5.1})
    assert 91 not in jumps.stood_out


@pytest.mark.parametrize(
    ("finding", "waits"),
    [
        (a_finding(), True),
        (a_finding("data/hard-samples"), True),
        (a_finding("model/dead-units"), False),
        (a_finding(exact=True), False),
        (a_finding(severity="note"), False),
        (a_finding(severity="note", evidence={"z": 90.0, "threshold": 6.0}), True),
        (a_finding("optimizer/loss-divergence", severity="note", evidence={"z": 90.0, "threshold": 6.0}), False),
    ],
)
def test_only_what_is_loud_and_speaks_of_the_loss_is_worth_a_look(jumps, finding, waits):
    jumps.found(finding)
    assert bool(jumps.waiting) == waits
    assert not jumps.to_fix


def test_a_finding_that_a_line_cures_waits_for_steps_to_try_it_on(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.clears = False
        loop.go(3)
        assert not verdicts(tmp_path)
        loop.go(FIX_STEPS + 8)
    told = [v for v in verdicts(tmp_path) if v.kind == "stale_gradients"]
    assert told
    assert {t.intervention for t in told[0].trials} == {"unchanged", "one-line-fix"}


def test_the_end_of_a_short_run_is_enough_for_a_line(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.clears = False
        loop.go(7)
    assert [v.kind for v in verdicts(tmp_path)][:1] == ["stale_gradients"]


def test_a_jump_is_tried_between_two_steps_and_its_verdict_is_written_down(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        loop.jumps.found(a_finding())
        loop.go(1)
        assert [v.kind for v in loop.jumps.verdicts] == ["data_hard_samples"]
        assert loop.jumps.done == 1
    verdict = verdicts(tmp_path)[0]
    assert (verdict.kind, verdict.batch_rows, verdict.step) == ("data_hard_samples", (3,), AT)
    assert verdict.seconds > 0


def test_a_judge_that_speaks_late_still_finds_the_steps(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.go(AT + 60)
        assert loop.session.ring.past(AT) is None
        loop.jumps.found(a_finding())
        loop.go(1)
        assert [v.batch_rows for v in loop.jumps.verdicts] == [(3,)]
        assert loop.session.ring.pinned is None


def test_no_more_than_a_few_jumps_are_tried_per_run(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        loop.jumps.done = MOST
        loop.jumps.found(a_finding())
        loop.go(1)
        assert not loop.jumps.verdicts
        assert not loop.jumps.waiting


def test_with_no_trials_asked_for_nothing_is_executed_again(tmp_path):
    with under_watch(tmp_path, trials=0) as watching:
        loop = Spiky(watching)
        loop.clears = False
        loop.go(AT + 2)
        loop.jumps.found(a_finding())
        loop.go(20)
        assert not loop.jumps.verdicts
    assert verdicts(tmp_path) == []


def test_steps_that_cannot_be_executed_again_are_noted_with_the_reason(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        loop.data[AT - 1][0].numpy().fill(0.0)  # the tape cannot see this write
        loop.data[AT - 1][0].add_(1.0)
        loop.jumps.found(a_finding())
        loop.go(1)
        assert not loop.jumps.verdicts
    assert len(notes(tmp_path)) == 1
    assert notes(tmp_path)[0].startswith(f"the steps before step {AT} cannot be executed again: ")


def test_steps_that_would_take_too_long_are_noted_with_the_numbers(tmp_path):
    with under_watch(tmp_path, trials_s=1.0) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        watching.incidents.findings.recent[STEP_S] = deque([7.0])
        past = watching.ring.past(AT)
        loop.jumps.found(a_finding())
        loop.jumps.look()
        assert not loop.jumps.verdicts
    assert notes(tmp_path) == [
        f"step {AT}: {past.steps + 1} steps of 7 s executed 3 times take longer than trials_s (1)"
    ]


def test_a_level_that_was_left_knows_what_was_expected():
    assert level(a_finding(evidence={"expected": 0.7, "loss": 2.4}), [0.8]) == (0.7, 2.4, [0.7, 0.8])


def test_a_forked_child_starts_from_nothing(jumps):
    fed(jumps, *[1.0, 1.1] * (LEAST // 2), 5.0)
    jumps.found(a_finding())
    jumps.found(a_finding(kind="stale_gradients"))
    jumps.done = 2
    jumps.reset()
    assert vars(jumps) == vars(
        LossJumps(
            jumps.output,
            jumps.state,
            jumps.stack,
            jumps.context,
            jumps.budget,
            jumps.series,
            jumps.tell_compared,
            jumps.tell_changed,
        )
    )


def test_a_step_without_a_loss_that_is_a_number_is_not_learnt(jumps):
    fed(jumps, 1.0, float("nan"), float("inf"))
    jumps.seen(3, {})
    assert list(jumps.recent) == [1.0]


def test_at_the_limit_of_a_loss_that_stands_out(jumps):
    """Above all of the last ones by more than half of what they differ by, or of their size (ABOVE)."""
    usual = [1.0, 1.5] * (LEAST // 2)
    top = 1.5 + ABOVE * 1.5
    fed(jumps, *usual, top)
    assert jumps.stood_out == {}
    fed(jumps, *usual, *usual, *usual, top + 0.01 + ABOVE * (top - 1.5))
    assert len(jumps.stood_out) == 1


def test_while_a_run_is_not_healthy_again_no_jump_is_tried(tmp_path):
    with under_watch(tmp_path) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        past = watching.ring.past(AT)
        watching.state.quiet_until_healthy = True
        loop.jumps.attempt(a_finding(), past, 1.0, 9.0, [1.0])
        watching.state.quiet_until_healthy = False
        loop.jumps.attempt(a_finding(), None, 1.0, 9.0, [1.0])
        assert (loop.jumps.done, loop.jumps.verdicts) == (0, [])
    assert notes(tmp_path) == []


def test_as_many_steps_as_the_time_allows_are_not_too_many(tmp_path):
    with under_watch(tmp_path, trials_s=60.0) as watching:
        loop = Spiky(watching)
        loop.go(AT + 2)
        past = watching.ring.past(AT)
        watching.incidents.findings.recent[STEP_S] = deque([20.0 / (past.steps + 1)])
        assert loop.jumps.too_long(past) == ""
        watching.incidents.findings.recent[STEP_S] = deque([20.1 / (past.steps + 1)])
        assert "executed 3 times take longer than trials_s (60)" in loop.jumps.too_long(past)
