"""Averages that are never written."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_unmoved import CopyUnmoved
from debugtracer.trace.facts.blended_copy import BlendedCopy
from tests.checks.optimizer.seen import at, found, line


def test_a_copy_that_does_not_follow():
    fact = BlendedCopy(ref=at(2), param="c1.weight", kept=0.98, taken=0.02, frame=line(16), looks=3, moved=0.012)
    (finding,) = found(CopyUnmoved(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_not_updated", line(16))
    assert finding.message == (
        "step 2, rank 0: train.py:16 averages a copy of c1.weight (0.98 of it, 0.02 of the parameter), and after 3 "
        "looks the copy is bit for bit what it was though the parameter moved by 0.012 of its norm; expected a copy "
        "that follows. Write in place: s.lerp_(p, 0.02)."
    )


def test_a_copy_of_which_little_is_kept_was_exchanged_with_its_parameter():
    fact = BlendedCopy(ref=at(2), param="fc.weight", kept=0.02, taken=0.98, frame=line(16), looks=3, moved=0.012)
    (finding,) = found(CopyUnmoved(), [fact])
    assert finding.message.endswith(
        "expected a copy that follows. A copy that follows keeps most of itself: the parameter and its copy are "
        "exchanged, and the parameter is pulled to the copy. Exchange them where this is called."
    )
    assert finding.remedy[0].startswith("exchange the two networks where the average is called")


def test_a_written_parameter_is_told_at_the_line_that_calls():
    fact = BlendedCopy(
        ref=at(2),
        param="fc.weight",
        kept=0.9,
        taken=0.1,
        frame=line(16),
        looks=2,
        moved=0.01,
        called=line(40),
        written=True,
    )
    (finding,) = found(CopyUnmoved(), [fact])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(40), line(16))
    assert finding.message.endswith(
        "The average is written to the parameter: the parameter and its copy are exchanged, and the parameter is "
        "pulled to the copy. Exchange them where train.py:40 calls this."
    )


def test_without_a_fact_it_is_silent():
    assert found(CopyUnmoved(), [], ended=True) == []


def test_one_that_takes_over_nearly_all():
    given = {"param": "0.weight", "kept": 0.005, "taken": 0.995, "frame": line(40), "looks": 3, "moved": 0.0}
    (finding,) = found(CopyUnmoved(), [BlendedCopy(ref=at(2), forgets=True, **given)])
    assert finding.message == (
        "step 2, rank 0: train.py:40 averages a copy of 0.weight (0.005 of it, 0.995 of the parameter) in 3 updates "
        "running: the copy is nearly the parameter itself; expected one that keeps most of itself. Exchange the two "
        "factors: s.lerp_(p, 0.005)."
    )
    assert (finding.severity, finding.kind) == ("warning", "average_forgets")
