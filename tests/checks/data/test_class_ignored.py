"""Does a loss over two classes leave one of them out?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.class_ignored import ClassIgnored
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.facts_at import judged, line, ref


def call(step: int, counted: int = 5, **fields: object) -> LossCall:
    given = {"classes": 2, "ignore_index": 0, "target_low": 1.0, "target_high": 1.0, **fields}
    return LossCall(
        ref=ref(step), loss="nll_loss", frame=line(20), target_shape=(8,), counted=counted, ignored=1 - counted / 8,
        **given,
    )  # fmt: skip


def test_one_of_two_classes_that_is_ignored_is_an_error():
    (finding,) = judged(ClassIgnored(), [call(step) for step in range(4)])
    assert (finding.severity, finding.kind, finding.exact, finding.place.frame.line) == (
        "error", "label_mask_wrong", True, 20,
    )  # fmt: skip
    assert finding.message == (
        "step 0, rank 0: nll_loss (train.py:20) has 2 classes and ignore_index 0: 9 of 24 targets were ignored in 3 "
        "calls, and all that count are 1; expected both. Use a criterion without ignore_index here."
    )


@pytest.mark.parametrize(
    "fields",
    [{"classes": 3}, {"ignore_index": -100}, {"target_low": 0.0}, {"counted": 8}],
    ids=["padded tokens", "no class", "both count", "nothing ignored"],
)
def test_padding_rows_marked_otherwise_and_both_classes_are_silent(fields):
    assert judged(ClassIgnored(), [call(step, **fields) for step in range(4)]) == []


def test_at_the_threshold_two_calls_are_too_few():
    assert judged(ClassIgnored(), [call(0), call(1)]) == []
