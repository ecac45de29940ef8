"""Does any target count?"""

from __future__ import annotations

from debugtracer.checks.data.targets_all_ignored import TargetsAllIgnored
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.facts_at import judged, line, ref


def call(step: int, counted: int) -> LossCall:
    return LossCall(
        ref=ref(step),
        loss="cross_entropy",
        frame=line(20),
        target_shape=(4, 8),
        ignore_index=-100,
        counted=counted,
        ignored=1 - counted / 32,
    )


def test_a_line_without_any_target_is_an_error():
    findings = judged(TargetsAllIgnored(), [call(step, 0) for step in range(3)])
    assert [f.severity for f in findings] == ["note", "note", "error"]
    assert findings[-1].message == (
        "step 0, rank 0: all 32 targets of cross_entropy are ignore_index -100 in 3 of 3 calls; expected some that "
        "count. Look at the label mask."
    )


def test_one_such_batch_is_a_note_and_masked_labels_are_silent():
    assert [f.severity for f in judged(TargetsAllIgnored(), [call(0, 5), call(1, 0), call(2, 7)])] == ["note"]
    assert not judged(TargetsAllIgnored(), [call(step, 3) for step in range(3)])
