"""The words for the seven layers."""

from __future__ import annotations

from debugtracer.testing import AT, a_finding, a_trace
from debugtracer.trace.events import Found, Judged, RankEnded, RankStarted
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import findings
from debugtracer.views.words.layer_states import layer_states, named
from debugtracer.views.words.log_read import LogRead

LOG = LogRead(
    source="trainer_state.json", rows=59, first=500, last=29_500, series={"grad_l2": 59, "loss": 59}, short={}, bad=""
)


def states(folder, *events, log=None, **more):
    trace = open_trace(a_trace(folder, *events, **more))
    return layer_states(trace, findings(trace), lead(findings(trace)), log)


def test_a_layer_that_fired_names_its_checks_the_gravest_first():
    found = [a_finding("optimizer/exploding-grad", "warning")] * 2 + [a_finding("optimizer/zero-grad-missing", "error")]
    assert named(found) == "zero-grad-missing (1 error), exploding-grad (2 warnings)"
    assert named([a_finding(f"optimizer/c{n}") for n in range(6)]).endswith("c3 (1 error) and 2 more")


def test_a_note_is_counted_and_does_not_fire(tmp_path):
    judged = Judged(at=AT, asked={"rollback/stale": 9, "rollback/other": 1}, fed=("rollback/stale",))
    told = states(tmp_path, judged, Found(at=AT, finding=a_finding("rollback/stale", "note")))
    assert told["rollback"] == "silent but for 1 note (2 checks asked)"


def test_a_verdict_without_a_finding_of_its_layer_is_said(tmp_path):
    trace = open_trace(a_trace(tmp_path))
    verdict = Verdict(
        kind="data_nonfinite",
        cause="",
        symptom="nan_loss",
        layer="data",
        iteration=1,
        step=1,
        status="likely",
        confidence=0.9,
        summary="",
    )
    assert layer_states(trace, [], verdict, None)["data"] == "fired: the verdict (data_nonfinite)"


def test_a_layer_none_of_whose_checks_got_what_they_need_is_not_measurable(tmp_path):
    judged = Judged(at=AT, asked={"data/hard-samples": 9, "numerics/nan-loss": 9}, fed=("numerics/nan-loss",))
    assert states(tmp_path / "a", judged)["data"] == "not measurable: no batch of a DataLoader was seen"
    told = states(tmp_path / "b", judged, log=LOG)
    assert (told["data"], told["numerics"]) == (
        "not measurable: the log holds only grad_l2, loss",
        "silent (1 check asked)",
    )
    older = Judged(at=AT, asked={"data/hard-samples": 9})
    assert states(tmp_path / "c", older)["data"] == "silent (1 check asked)"
    assert states(tmp_path / "d", judged, steps=0)["numerics"] == "not measurable: no training step was seen"


def test_of_a_run_that_still_goes_or_was_killed_nothing_is_said_to_be_missing(tmp_path):
    run = create_run(tmp_path, "run-1", ["train.py"], "dev")
    writer = TraceWriter(run, 0)
    writer.event(RankStarted(at=AT, rank=0, pid=1, world_size=1))
    writer.point(0, {"loss": 1.0})
    writer.close()
    assert set(layer_states(open_trace(run), [], None, None).values()) == {
        "not measurable: what was asked is told when a run ends; this one still runs, or was killed"
    }


def test_what_could_not_be_asked_is_told_with_its_reason(tmp_path):
    asked = {"optimizer/loss-spike": 9, "optimizer/sched-order": 1, "optimizer/no-update": 1}
    lacks = {
        "optimizer/sched-order": "a scheduler",
        "optimizer/no-update": "an optimizer",
        "optimizer/x": "an optimizer",
    }
    judged = Judged(at=AT, asked=asked, fed=("optimizer/loss-spike",), unseen=lacks)
    assert states(tmp_path / "a", judged)["optimizer"] == (
        "silent (1 check asked; not measurable: 2 without an optimizer, 1 without a scheduler)"
    )
    other = Judged(at=AT, asked=asked, fed=("optimizer/loss-spike",), unseen={})
    assert states(tmp_path / "b", judged, other)["optimizer"] == "silent (3 checks asked)"


def test_a_run_without_an_update_says_nothing_of_its_optimizer(tmp_path):
    judged = Judged(at=AT, asked={"optimizer/loss-spike": 9}, fed=("optimizer/loss-spike",))
    still = RankEnded(at=AT + 20, rank=0, steps=9, iterations=9, own_updates=0)
    assert states(tmp_path, judged, still)["optimizer"] == "not measurable: no update was seen"
