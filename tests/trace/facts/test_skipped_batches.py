"""The count of skipped batches as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.skipped_batches import SkippedBatches
from debugtracer.trace.step import StepRef


def some_skips(**more: object) -> SkippedBatches:
    known = {
        "skipped": 24,
        "batches": 436,
        "first": 18,
        "last": 411,
        "unused": 24,
        "frame": Frame("/x/train.py", 38, "<module>", ""),
    }
    return SkippedBatches(ref=StepRef(iteration=412, step=412), **{**known, **more})


def test_it_survives_json():
    fact = some_skips(samples=(1, 2), never_used=(2,))
    assert (
        from_plain("skipped-batches/SkippedBatches", msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    )
