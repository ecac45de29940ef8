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


def rows(step: int, **fields: object) -> LossCall:
    given = {
        "classes": 10, "ignore_index": -1, "target_shape": (64,), "target_is_batch": True, "counted": 64,
        "ignored": 0.0, "prior_entropy": 0.92, **fields,
    }  # fmt: skip
    return LossCall(ref=ref(step), loss="cross_entropy", frame=line(20), **given)


def test_a_value_that_no_row_has_while_one_class_takes_most_is_possible_at_the_end():
    calls = [rows(step) for step in range(4)]
    assert judged(ClassIgnored(), calls) == []
    (finding,) = judged(ClassIgnored(), calls, ended=True)
    assert finding.message == (
        "step 0, rank 0: cross_entropy (train.py:20) leaves out targets of -1, and none of 256 in 4 calls had it, "
        "while one of 10 classes takes most rows (at most 40% of the entropy of equal shares); expected rows without a "
        "label to hold -1. Look at the label that such rows are given."
    )
    assert (finding.severity, finding.exact, finding.confidence) == ("warning", False, 0.45)


@pytest.mark.parametrize(
    "fields",
    [
        {"ignored": 0.1}, {"ignore_index": -100}, {"ignore_index": 3}, {"prior_entropy": 1.2}, {"classes": 2},
        {"target_shape": (4, 64, 64)}, {"target_is_batch": False}, {"input_grad": False}, {"counted": 4},
        {"ignore_index": None},
    ],
    ids=[
        "some are ignored", "torch's own", "a class", "mixed", "two classes", "pixels", "computed", "evaluation", "few",
        "no index",
    ],
)  # fmt: skip
def test_rows_that_are_ignored_mixed_classes_and_pixels_are_silent(fields):
    assert judged(ClassIgnored(), [rows(step, **fields) for step in range(4)], ended=True) == []


def test_one_call_that_ignores_rows_or_has_its_classes_mixed_is_enough():
    for odd in ({"ignored": 0.5, "counted": 32}, {"prior_entropy": 2.0}):
        assert judged(ClassIgnored(), [*(rows(s) for s in range(4)), rows(4, **odd), rows(5)], ended=True) == []
    assert judged(ClassIgnored(), [rows(0), rows(1)], ended=True) == []
