from __future__ import annotations

from debugtracer.checks.data.dropped_rows import DroppedRows
from tests.checks.data.passes import a_pass
from tests.checks.windows import told


def test_lost_samples_are_counted_once():
    memories: dict = {}
    passes = [a_pass(0), a_pass(1, dropped=41, short=29), a_pass(2, dropped=12, short=9)]
    (one,) = [finding for fact in passes for finding in DroppedRows().judge(told(fact, memories=memories))]
    assert one.severity == "note"
    assert one.message == (
        "step 19, rank 0: 41 samples drawn in pass 1 are in no batch (29 short batches; train.py:20); expected every "
        "sample drawn to arrive. "
        "Filter before the loader."
    )
