"""Work that no checkpoint holds."""

from __future__ import annotations

from debugtracer.checks.rollback.stale import Stale
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.checkpoint import CheckpointMark, OtherSave
from debugtracer.trace.step import StepRef
from tests.checks.crashes import a_crash


def judged(steps, step_s, saves=(), crash=False, rank=0, kind=CheckpointMark):
    check = Stale()
    judge, found = Judge({check.slug: check}), []
    for step in range(steps):
        ref = StepRef(iteration=step, step=step, rank=rank)
        save = kind(
            ref=ref,
            slot=step % 64,
            **({"tensors": 4, "total": 1.5} if kind is CheckpointMark else {"means": "safetensors"}),
        )
        found += judge.judge(ref, {"step_s": step_s}, [save] if step in saves else [])
    return [*found, *judge.end(StepRef(iteration=steps, step=steps, rank=rank), [a_crash("boom")] if crash else [])]


def test_an_hour_without_a_save_is_a_note_once():
    (finding,) = judged(1000, 6.0)
    assert finding.message == (
        "step 599, rank 0: 600 updates in 1.0 h and no checkpoint was seen; expected one every 15 minutes. A crash now "
        "would lose all of them: save weights, "
        "optimizer and step every few hundred updates."
    )
    assert finding.severity == "note"


def test_at_the_threshold_of_an_hour_and_of_100_updates():
    assert judged(599, 6.0) == []
    assert len(judged(600, 6.0)) == 1
    assert judged(99, 60.0) == []
    assert len(judged(100, 60.0)) == 1


def test_a_crash_long_after_the_last_save():
    (finding,) = judged(400, 6.0, saves=(100,), crash=True)
    assert (
        "the program died 30 minutes and 300 updates after its last checkpoint; expected one every 15 minutes."
        in finding.message
    )
    assert judged(400, 6.0, saves=(100, 300), crash=True) == []
    assert judged(400, 6.0, saves=(100,), crash=False) == []


def test_a_crash_without_any_save():
    (finding,) = judged(200, 6.0, crash=True)
    assert "the program died after 20 minutes and 200 updates without a checkpoint" in finding.message


def test_a_save_by_other_means_counts_and_other_ranks_are_not_asked():
    assert judged(1000, 6.0, saves=(50,), kind=OtherSave) == []
    assert judged(1000, 6.0, rank=1) == []
    assert judged(200, 0.01) == []
