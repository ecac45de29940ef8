"""A stored run judged again."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from debugtracer.checks.check import Check, checks
from debugtracer.diagnosis.judging.recheck import Rechecked, recheck
from debugtracer.testing import AT, a_finding, a_masked_row, a_trace, an_incident
from debugtracer.trace.events import Found, Judged, Noted, Observed, RankEnded
from debugtracer.trace.facts.fact import Fact, to_plain
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.trace.window import Window
from debugtracer.views.view import findings

FAULTS = Path(__file__).resolve().parents[3] / "faults"


class Watcher(Check, frozen=True):
    """Says what it was shown."""

    needs: ClassVar[tuple[str | type[Fact], ...]] = ("loss", Wiring)
    at_end: ClassVar[bool] = True
    below: float = 0.0  # loss

    slug = "optimizer/watcher"  # type: ignore[assignment]

    def judge(self, window: Window) -> Iterator[Finding]:
        loss = window.now("loss")
        if (loss is not None and loss < self.below) or window.new(Wiring) or window.ended:
            yield self.finding(
                window,
                "note" if window.ended else "warning",
                f"{loss} {len(window.new(Wiring))} {window.ref.iteration} {'end' if window.ended else ''}",
                ref=window.ref,
            )

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        yield self.finding(windows[0], "note", f"ranks {sorted(windows)}")


def messages(trace, check):
    return [e.finding.message for e in recheck(trace, {check.slug: check}) if isinstance(e, Found)]


def wiring(step, iteration=None):
    ref = StepRef(iteration=step if iteration is None else iteration, step=step)
    return Observed(at=AT, word=Wiring.word(), fact=to_plain(Wiring(ref=ref, params=(), optimizers=())))


def test_numbers_and_facts_come_in_the_order_of_the_steps_and_the_end_last(tmp_path):
    trace = open_trace(a_trace(tmp_path, wiring(3, 7), wiring(60), steps=6))
    assert messages(trace, Watcher(below=0.0)) == ["step 3, rank 0: 0.25 1 7 ", "step 5, rank 0: None 1 5 end"]


def test_an_option_changes_the_answer(tmp_path):
    trace = open_trace(a_trace(tmp_path, steps=4))
    assert messages(trace, Watcher(below=0.3))[0] == "step 3, rank 0: 0.25 0 3 "


def test_which_checks_were_asked_is_told_too(tmp_path):
    (told,) = [
        e for e in recheck(open_trace(a_trace(tmp_path, steps=4)), {Watcher().slug: Watcher()}) if isinstance(e, Judged)
    ]
    assert told.asked == {"optimizer/watcher": 5}


def test_several_ranks_are_judged_each_and_together(tmp_path):
    trace = open_trace(a_trace(tmp_path, steps=2, ranks=2))
    assert messages(trace, Watcher()) == [
        "step 1, rank 0: None 0 1 end",
        "step 1, rank 1: None 0 1 end",
        "step 1, rank 0: ranks [0, 1]",
    ]


def test_accumulated_steps_count_their_backwards(tmp_path):
    trace = a_log(tmp_path, {3: {"loss": 0.25}}, RankEnded(at=AT, steps=4, iterations=16))
    assert messages(trace, Watcher(below=0.3))[0] == "step 3, rank 0: 0.25 0 15 "


def test_stored_findings_give_way_and_those_of_an_incident_stay(tmp_path):
    stored = (
        Found(at=AT, finding=a_finding("optimizer/watcher", "warning", 2)),
        Found(at=AT, trace_id="run-1-0-48", finding=a_finding()),
    )
    facts = a_masked_row()
    trace = open_trace(a_trace(tmp_path, *stored, an_incident(facts, None), steps=4))
    judged = Rechecked(trace, {Watcher().slug: Watcher()})
    assert [e.finding.message for e in judged.events() if isinstance(e, Found)] == [
        a_finding().message,
        "step 3, rank 0: None 0 3 end",
    ]
    assert judged.events(0) == judged.events()
    assert judged.events(1) == []


def test_a_fact_of_another_version_is_left_out(tmp_path):
    strange = Observed(at=AT, word="wiring/Unknown", fact={}), Observed(at=AT, word=Wiring.word(), fact={"params": 3})
    assert messages(open_trace(a_trace(tmp_path, *strange, steps=1)), Watcher()) == ["step 0, rank 0: None 0 0 end"]


def a_log(folder, points, *events):
    run = create_run(folder, "log", ["x"], "observe")
    writer = TraceWriter(run, 0)
    for event in events:
        writer.event(event)
    for step, values in points.items():
        writer.point(step, values)
    writer.close()
    return open_trace(run)


FOREIGN = Noted(at=AT, what="imported", text="somewhere")


def numerics(trace):
    return [
        (e.finding.check, e.finding.step)
        for e in recheck(trace, checks())
        if isinstance(e, Found) and e.finding.layer == "numerics"
    ]


def test_non_finite_numbers_of_a_foreign_log_are_judged_at_their_step(tmp_path):
    trace = a_log(
        tmp_path,
        {
            50: {"loss": 0.7, "grad_l2": 1.0},
            100: {"loss": math.nan, "grad_l2": math.nan},
            150: {"loss": math.nan, "grad_l2": math.nan},
        },
        FOREIGN,
    )
    assert numerics(trace) == [("numerics/nan-loss", 100), ("numerics/nonfinite-gradient", 100)]
    message = next(e.finding.message for e in recheck(trace, checks()) if isinstance(e, Found))
    assert message.endswith("expected a finite number. Run it under `debug-tracer run` to learn where it is born.")


def test_of_a_run_of_ours_they_belong_to_the_incidents(tmp_path):
    assert numerics(a_log(tmp_path, {50: {"loss": math.nan}})) == []


@pytest.mark.parametrize("norm", [math.inf, math.nan])
def test_a_gradient_that_is_finite_again_was_skipped_by_a_scaler(tmp_path, norm):
    assert (
        numerics(a_log(tmp_path, {1: {"loss": 0.7, "grad_l2": norm}, 2: {"loss": 0.7, "grad_l2": 1.0}}, FOREIGN)) == []
    )


def test_it_needs_no_torch():
    code = "import sys; sys.modules['torch'] = None; import debugtracer.diagnosis.judging.recheck"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("fault", ["optimizer/replaced_head", "model/list_of_stages", "numerics/log0_entropy"])
def test_a_watched_run_judged_again_says_what_was_said_live(run_watched, fault):
    watched = run_watched(FAULTS / fault / "train.py", cwd=FAULTS / fault)
    trace = open_trace(watched.run)
    live, again = findings(trace), findings(Rechecked(trace, checks()))
    assert live
    assert again == live
