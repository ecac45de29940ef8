"""Clipping by a norm that is not finite."""

from __future__ import annotations

from debugtracer.checks.optimizer.clip_nonfinite import ClipNonfinite
from debugtracer.trace.facts.clipping import ClippedNonfinite
from tests.checks.optimizer.seen import at, found, line


def test_it_says_what_the_clip_did():
    (finding,) = found(ClipNonfinite(), [ClippedNonfinite(ref=at(12), frame=line(33), norm="NaN", scaled=False)])
    assert finding.message == (
        "step 12, rank 0: clip_grad_norm_ (train.py:33) measured a norm of nan and multiplied all gradients by it; "
        "expected a finite norm. Look at the first "
        "non-finite gradient."
    )
    assert finding.kind is None


def test_a_scale_search_is_healthy():
    assert (
        found(ClipNonfinite(), [ClippedNonfinite(ref=at(12), frame=line(33), norm="Infinity", scaled=True)], ended=True)
        == []
    )
