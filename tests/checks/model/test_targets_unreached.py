"""Can the outputs become what the targets are?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.targets_unreached import TargetsUnreached
from debugtracer.trace.facts.loss_call import LossCall, Maker
from tests.checks.facts_at import judged, line, ref

SIGMOID = Maker(function="sigmoid", frame=line(16), low=0.0, high=1.0)


def calls(count: int = 3, **fields: object) -> list[LossCall]:
    common = {"loss": "mse_loss", "frame": line(34), "counted": 32, "target_low": -4.0, "target_high": 12.0}
    return [LossCall(ref=ref(step), **{**common, **fields}) for step in range(count)]  # type: ignore[arg-type]


def beyond(count: int = 3, **fields: object) -> list[LossCall]:
    return calls(count, **{"maker": SIGMOID, "unreached": 20, "unreachable": 0.61, **fields})


def several(count: int = 3, **fields: object) -> list[LossCall]:
    given = {"loss": "cross_entropy", "input_shape": (32, 6), "row_low": 0.0, "row_high": 4.0, "multi_hot": True}
    return calls(count, **{**given, **fields})


def test_a_sigmoid_before_wide_targets_is_told_with_both_ranges():
    (finding,) = judged(TargetsUnreached(), beyond())
    assert finding.message == (
        "step 0, rank 0: mse_loss (train.py:34) is given the output of sigmoid (line 16), which lies in 0..1, and 60 "
        "of 96 targets in 3 calls lie outside, in -4..12; so at least 61% of their variance cannot be learnt; expected "
        "targets within it. End in the layer before sigmoid, or scale the targets to the range of sigmoid and the "
        "outputs back."
    )
    assert (finding.severity, finding.place.frame.line, finding.place.op) == ("warning", 16, "aten::sigmoid")


def test_an_open_range_is_written_as_such():
    relu = Maker(function="relu", low=0.0, high="Infinity")
    (finding,) = judged(TargetsUnreached(), beyond(maker=relu))
    assert "(at a line that is not known), which lies at 0 and above" in finding.message
    (finding,) = judged(TargetsUnreached(), beyond(maker=Maker(function="clamp", low="-Infinity", high=2.0)))
    assert "which lies at 2 and below" in finding.message


@pytest.mark.parametrize(
    "given",
    [
        beyond(unreached=3),
        beyond(unreachable=0.05),
        beyond(unreachable=None),
        beyond(2),
        [*beyond(2), *beyond(1, maker=None)],
        [*beyond(2), *beyond(1, unreachable=0.01)],
    ],
)
def test_what_is_within_reach_is_silent(given):
    assert not judged(TargetsUnreached(), given)


def test_several_labels_are_told():
    (finding,) = judged(TargetsUnreached(), several())
    assert "labels of 0 and 1 with 0 to 4 ones in a row, in 3 calls" in finding.message
    assert finding.place.frame.line == 34


@pytest.mark.parametrize(
    "fields",
    [
        {"multi_hot": False},
        {"row_high": 1.0},
        {"row_low": 2.0, "row_high": 2.0},
        {"input_shape": (32, 32)},
        {"classes": 20_000},
        {"row_low": None, "row_high": None},
    ],
)
def test_other_labels_are_silent(fields):
    assert not judged(TargetsUnreached(), several(**fields), ended=True)
