"""Random numbers that are the same in each step."""

from __future__ import annotations

from debugtracer.checks.data.repeated_draws import RepeatedDraws
from debugtracer.trace.facts.repeated_draw import RepeatedDraw
from tests.checks.facts_at import judged, line, ref


def fact(at=20, made=None):
    return RepeatedDraw(ref=ref(2), draw="randn", shape=(32, 6), module="Denoiser", looks=3, frame=line(at), made=made)


def test_the_line_of_the_generator_is_the_one_to_edit():
    (finding,) = judged(RepeatedDraws(), [fact(made=line(19)), fact(21, line(19))])
    assert (finding.severity, finding.kind, finding.place.frame, finding.place.symptom_frame) == (
        "warning", "worker_rng_duplicate", line(19), line(20),
    )  # fmt: skip
    assert finding.message == (
        "step 2, rank 0: Denoiser drew the same numbers in the first 3 steps (randn of 32 x 6) for other inputs each "
        "time; expected new ones in each step. Make the generator (train.py:19) once, outside the step."
    )


def test_without_a_generator_it_is_the_line_that_draws():
    (finding,) = judged(RepeatedDraws(), [fact()])
    assert finding.place.frame == line(20) and finding.message.endswith("Seed before the loop.")


def test_nothing_seen_is_nothing_said():
    assert judged(RepeatedDraws(), []) == []
