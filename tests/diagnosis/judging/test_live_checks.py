"""The judge beside the training: a queue, a thread, an end."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.diagnosis.judging.live_checks import FIRST_STEPS, LATE, REST, SOON, Handed, LiveChecks
from debugtracer.diagnosis.judging.pace import REST_SHARE, SHARE
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from tests.diagnosis.judging.test_judge import LossJump, Reader, Seen


def test_what_is_handed_over_is_judged_in_order_off_this_thread_and_the_end_waits_for_it():
    told: list[tuple[Finding, str]] = []
    live = LiveChecks(lambda finding: told.append((finding, threading.current_thread().name)))
    live.judge = Judge({"numerics/loss-jump": LossJump(), "data/reader": Reader()})
    for step, loss in enumerate((1.0, 1.0, 9.0)):
        live.step(StepRef(iteration=step, step=step), {"loss": loss}, ())
    assert live.finish([Seen(ref=StepRef(iteration=3, step=3), number=7)])
    assert [(f.step, thread) for f, thread in told] == [(2, "debug-tracer-judge")]
    assert live.judge.memories["data/reader"]["asked"] == [([7], [7], True)]
    assert live.steps == 3
    assert live.judge_s > 0


def test_the_checks_that_were_chosen_are_asked_also_after_a_fork():
    live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
    live.reset()
    assert [type(check) for check in live.judge.checks] == [Reader]


def test_a_run_without_a_step_still_has_an_end():
    live = LiveChecks(lambda finding: None)
    live.judge = Judge({"data/reader": Reader()})
    assert live.finish()
    assert live.judge.memories["data/reader"]["asked"] == [([], [], True)]
    assert live.judge.asked == {}  # it got nothing that it needs


def test_steps_that_were_dropped_are_counted_as_our_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("debugtracer.diagnosis.judging.live_checks.BACKLOG", 0)
    live = LiveChecks(lambda finding: None)
    live.judge = Judge({"data/reader": Reader()})
    for step in range(3):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
    live.finish()
    assert "3 steps were not judged" in capsys.readouterr().err


def test_a_forked_child_starts_from_nothing():
    live = LiveChecks(lambda finding: None)
    live.step(StepRef(iteration=0, step=0), {"loss": 1.0}, ())
    live.finish()
    live.reset()
    assert live.thread is None
    assert live.judge.series == {}


def test_a_run_under_watch_asks_a_new_check(run_watched: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\n"
        "from debugtracer.diagnosis.judging import judge\n"
        "from tests.diagnosis.judging.test_judge import LossJump\n"
        "from debugtracer.session import active\n"
        "active().incidents.findings.live.judge = judge.Judge({'numerics/loss-jump': LossJump()})\n"
        "w = torch.nn.Linear(1, 1); o = torch.optim.SGD(w.parameters(), 0.0)\n"
        "for scale in (1.0, 1.0, 9.0, 1.0):\n"
        "    o.zero_grad(); (w(torch.ones(1, 1)) ** 2 * scale).sum().backward(); o.step()\n"
    )
    root = Path(__file__).resolve().parents[3]
    script.write_text(f"import sys; sys.path.insert(0, {str(root)!r})\n" + script.read_text())
    watched = run_watched(script)
    assert watched.status == 0, watched.stderr
    assert [(f["check"], f["step"]) for f in watched.report["findings"]] == [("numerics/loss-jump", 2)]
    assert "debug-tracer: warning: step 2, rank 0: the loss has doubled\n" in watched.stderr


def still(live: LiveChecks) -> None:
    """Let the judge rest for as long as the test takes."""
    live.start = lambda: None  # type: ignore[method-assign]


def test_the_first_steps_are_judged_as_they_come():
    live = LiveChecks(lambda finding: None, {})
    live.start = lambda: None  # type: ignore[method-assign]
    woken = []
    for step in range(FIRST_STEPS + 3):
        live.wake.clear()
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
        woken.append(live.wake.is_set())
    assert woken == [True] * FIRST_STEPS + [False] * 3


def test_the_judge_is_not_woken_by_a_later_step_but_by_somebody_who_waits_for_it():
    told: list[int] = []
    live = LiveChecks(lambda finding: told.append(finding.step), {"numerics/loss-jump": LossJump()})
    live.given = FIRST_STEPS
    for step, loss in enumerate((1.0, 1.0, 9.0)):
        live.step(StepRef(iteration=step, step=step), {"loss": loss}, ())
        assert not live.wake.is_set()
    assert live.catch_up()
    assert told == [2]
    assert not live.urgent
    live.finish()
    assert live.catch_up()  # nobody is left to wait for


def test_a_judge_that_is_late_takes_every_other_step_and_all_that_have_facts():
    live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
    still(live)
    for step in range(LATE + 10):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
    ref = StepRef(iteration=9, step=9)
    assert live.every == 2
    live.queue.clear()
    live.skipped = 0
    live.step(ref, {"loss": 1.0}, ())
    live.step(ref, {"loss": 1.0}, ())
    live.step(ref, {"loss": 1.0}, [Seen(ref=ref, number=1)])
    live.step(ref, {"loss": 1.0}, [Seen(ref=ref, number=2)])
    assert [(len(item.facts), item.skipped) for item in live.queue if isinstance(item, Handed)] == [
        (0, 1),
        (1, 0),
        (1, 0),
    ]


def test_a_judge_that_stands_still_has_about_twice_as_many_steps_waiting_at_most():
    live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
    still(live)
    for step in range(20 * LATE):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
    assert LATE < len(live.queue) <= 2 * LATE + 20  # halves of halves, each rounded up


def test_a_judge_that_has_caught_up_takes_all_steps_again():
    live = LiveChecks(lambda finding: None)
    still(live)
    live.every = 2
    for step in range(2 * LATE):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
        live.queue.clear()
    assert live.every == 1
    assert 0 < live.thinned <= LATE


def test_steps_that_were_not_judged_are_known_to_the_next_window():
    live = LiveChecks(lambda finding: None)
    windows: list[int] = []

    class Counting(Judge):
        def judge(self, *given: Any, skipped: int = 0, **more: Any) -> Any:
            windows.append(skipped)
            return super().judge(*given, skipped=skipped, **more)

    live.judge = Counting({})
    live.every = 3
    for step in range(9):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
    live.finish()
    assert windows == [2, 2, 2, 0]


def test_what_waits_at_the_end_of_a_long_run_is_judged_in_part():
    judged: list[tuple[int, int, int]] = []

    class Noting(Judge):
        def judge(self, ref: StepRef, values: Any, facts: Any, skipped: int = 0, **more: Any) -> Any:
            judged.append((ref.step, len(facts), skipped))
            return super().judge(ref, values, facts, skipped=skipped, **more)

    def run(steps: int) -> LiveChecks:
        judged.clear()
        live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
        live.judge = Noting({})
        still(live)
        for step in range(steps):
            ref = StepRef(iteration=step, step=step)
            live.step(ref, {"loss": 1.0}, [Seen(ref=ref, number=1)] if step == 101 else (), stands_out=step == 103)
        live.over = True
        live.work()
        return live

    live = run(2 * LATE)
    steps = [step for step, _, _ in judged]
    assert steps == sorted(steps)
    assert {101, 103} <= set(steps)
    assert steps[-1] >= 2 * LATE - 2
    assert SOON < len(steps) <= REST + 3
    assert len(steps) + live.thinned == live.given
    assert sum(1 + skipped for _, _, skipped in judged) + live.skipped == live.given
    run(LATE)
    assert len(judged) == LATE  # a run of a few thousand steps is judged whole


def test_a_step_that_stands_out_is_judged_however_late_the_judge_is():
    live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
    still(live)
    for step in range(LATE + 10):
        live.step(StepRef(iteration=step, step=step), {"loss": 1.0}, ())
    live.queue.clear()
    ref = StepRef(iteration=9, step=9)
    for _ in range(4):
        live.step(ref, {"loss": 1.0}, (), stands_out=True)
    assert len(live.queue) == 4


def test_steps_that_are_handed_over_together_are_left_out_or_judged_as_one_by_one():
    values = [{"loss": float(step)} for step in range(12)]
    stand_out = [step in (4, 5) for step in range(12)]
    given = []
    for together in (False, True):
        live = LiveChecks(lambda finding: None, {"data/reader": Reader()})
        still(live)
        live.every = 3
        if together:
            live.hand_over(1, [(step, step + 1, values[step]) for step in range(12)], stand_out)
        else:
            for step in range(12):
                live.step(StepRef(iteration=step, step=step, rank=1), values[step], (), stand_out[step])
        given.append((list(live.queue), live.given, live.thinned, live.skipped))
    assert given[0] == given[1]
    assert [item.ref.step for item in given[0][0]] == [2, 4, 5, 8, 11]


def test_while_all_rests_it_has_a_smaller_share():
    live = LiveChecks(lambda finding: None, {})
    live.rest(True)
    assert live.share == REST_SHARE < SHARE
    live.rest(False)
    assert live.share == SHARE
