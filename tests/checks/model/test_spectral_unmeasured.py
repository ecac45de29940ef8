"""Evaluations before a spectral norm has measured."""

from __future__ import annotations

from debugtracer.checks.model.spectral_unmeasured import SpectralUnmeasured
from debugtracer.trace.facts.spectral_start import SpectralStart
from tests.checks.optimizer.seen import at, found, line


def judged(estimate):
    parts = ("up.weight", "down.weight")
    fact = SpectralStart(ref=at(0), root="Critic", frame=line(47), parts=parts, of=4, estimate=estimate, norm=1.32)
    return found(SpectralUnmeasured(), [fact])


def test_the_line_that_calls_the_model_is_named_and_by_how_much_it_is_off():
    (finding,) = judged(0.0113)
    assert (finding.severity, finding.kind, finding.place.frame, finding.place.module) == (
        "warning", "bad_init", line(47), "up",
    )  # fmt: skip
    assert finding.message == (
        "step 0, rank 0: Critic (train.py:47) is evaluated before its spectral norms have measured: up.weight is "
        "divided by 0.0113, and its largest singular value is 1.32 (117 times more; 2 of 4 weights); expected that "
        "value. Call the model once in training mode first."
    )


def test_an_estimate_of_exactly_0():
    (finding,) = judged(0.0)
    assert "is 1.32 (2 of 4 weights)" in finding.message
