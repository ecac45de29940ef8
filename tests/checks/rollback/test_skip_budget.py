"""Batches that the loop skips."""

from __future__ import annotations

from debugtracer.checks.rollback.skip_budget import SkipBudget
from debugtracer.trace.facts.skipped_batches import SkippedBatches
from debugtracer.trace.window import Window
from tests.trace.facts.test_skipped_batches import some_skips


def judged(*facts):
    memories = {}
    windows = [
        Window(ref=f.ref, facts={SkippedBatches: [f]}, came={SkippedBatches: 1}, memories=memories) for f in facts
    ]
    return [finding for window in windows for finding in SkipBudget().judge(window)]


def test_a_spent_budget_is_a_warning_once_that_names_the_samples():
    (finding,) = judged(some_skips(never_used=(97, 311)), some_skips(skipped=48))
    assert (finding.severity, finding.kind, finding.place.frame.line, finding.place.sample_index) == (
        "warning",
        "batches_skipped",
        38,
        (97, 311),
    )
    assert finding.message == (
        "step 412, rank 0: 24 of the last 436 batches (5.5%) were skipped and did not reach the update (train.py:38), "
        "the first before step 18, the last "
        "before step 411; expected at most 0.5%. Samples 97, 311 came in skipped batches only: look at them."
    )


def test_at_the_thresholds():
    assert judged(some_skips(skipped=51, batches=10_000))
    assert judged(some_skips(skipped=50, batches=10_000)) == []
    assert judged(some_skips(skipped=20))
    assert judged(some_skips(skipped=19)) == []


def test_a_loop_that_skips_most_of_its_batches_is_made_so():
    assert [f.severity for f in judged(some_skips(skipped=300))] == ["note"]


def test_without_known_samples_the_first_ones_or_none_are_named():
    (first,) = judged(some_skips(samples=tuple(range(16)), scaler=3))
    assert "were skipped (3 of them by the GradScaler) and" in first.message
    assert first.message.endswith(
        "Look at the samples of the first ones (0, 1, 2, 3, 4, 5, 6, 7 ...), then at the limit of the guard."
    )
    (none,) = judged(some_skips())
    assert none.message.endswith("Look at their samples, then at the limit of the guard.")
