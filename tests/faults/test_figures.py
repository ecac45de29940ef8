"""The figures of the scoreboard, on rows whose answers were worked out by hand."""

from __future__ import annotations

import pytest

from tests.faults.scoring import healthy, part, row

f = part("figures")
CLASSES = ("zero_division", "lr_too_high")


def said(confidence: float, right: bool, **more: object):
    return row(got=CLASSES[not right], confidence=confidence, **more)


def test_a_rate_is_written_with_its_numbers_and_as_percent() -> None:
    assert (str(f.Rate(8, 9)), f.Rate(8, 9).percent) == ("8/9", "88.9 %")
    assert (str(f.Rate(0, 0)), f.Rate(0, 0).percent) == ("-", "-")


def test_only_rows_that_have_a_mark_are_counted() -> None:
    assert f.marked(
        [row(marks={"top1": True}), row(marks={"top1": False}), row(marks={"noted": True})], "top1"
    ) == f.Rate(1, 2)


def test_a_healthy_script_is_quiet_or_not() -> None:
    assert f.quiet([healthy(), healthy(quiet=False), row(marks={"top1": True})]) == f.Rate(1, 2)


def test_a_confirmed_verdict_on_a_healthy_script_is_confirmed_but_wrong() -> None:
    rows = [
        healthy(quiet=False, got="nan", status="confirmed"),
        healthy(quiet=False, got="nan"),
        row(marks={"wrong": True}),
        row(marks={"wrong": False}),
    ]
    assert f.confirmed_wrong(rows) == f.Rate(2, 4)


def test_an_equivalent_class_is_right_and_no_class_is_not() -> None:
    assert f.is_right(row(got="zero_division"))
    assert f.is_right(row(got="lr_too_high", also=["lr_too_high"]))
    assert not f.is_right(row(got="lr_too_high"))
    assert not f.is_right(row(got=None))
    assert not f.is_right(row(kind="unknown", got="unknown"))


def test_confirmed_and_tested_are_shares_of_the_verdicts_with_a_class() -> None:
    rows = [
        row(got="a", status="confirmed", tested=True),
        row(got="a"),
        row(got="a", tested=True),
        row(got=None),
        healthy(got="a", status="confirmed"),
    ]
    assert f.confirmed(rows) == f.Rate(1, 3)
    assert f.tested(rows) == f.Rate(2, 3)


def test_precision_counts_likely_and_confirmed_verdicts_only() -> None:
    rows = [
        row(got="zero_division"),
        row(got="lr_too_high", status="confirmed"),
        row(got="lr_too_high", status="possible"),
        row(kind="unknown", got="lr_too_high"),
        row(got=None),
    ]
    assert f.spoken(rows) == f.Rate(1, 3)


def test_times_are_of_verdicts_that_took_any() -> None:
    assert f.seconds([row(verdict_s=3.0), row(verdict_s=0.0), row(verdict_s=1.0), healthy(verdict_s=9.0)]) == [1.0, 3.0]


@pytest.mark.parametrize(("share", "value"), [(0.5, 5), (0.9, 9), (0.91, 10), (1.0, 10), (0.0, 1)])
def test_a_quantile_is_a_value_that_was_measured(share: float, value: int) -> None:
    assert f.quantile(range(1, 11), share) == value


def test_of_nothing_there_is_no_quantile_and_no_calibration_error() -> None:
    assert f.quantile([], 0.5) is None
    assert f.calibration_error(f.bins([row(got=None)])) is None


def test_trials_are_of_verdicts_that_had_any() -> None:
    assert f.trials([row(trials=5), row(trials=0), row(trials=2), healthy(trials=7)]) == [2, 5]


def test_confidences_fall_into_ten_bins_and_one_belongs_to_the_last() -> None:
    found = f.bins([said(0.7, True), said(0.79, False), said(0.8, True), said(1.0, True), row(got=None)])
    assert [(part.low, part.rows, round(part.confidence, 3), part.right) for part in found] == [
        (0.7, 2, 0.745, 0.5),
        (0.8, 1, 0.8, 1.0),
        (0.9, 1, 1.0, 1.0),
    ]


def test_the_calibration_error_weighs_each_bin_by_its_rows() -> None:
    rows = [said(0.95, True), said(0.95, True), said(0.95, True), said(0.95, False), said(0.55, True)]
    # bin 0.9: 4 rows, 0.95 said, 0.75 right; bin 0.5: 1 row, 0.55 said, 1.0 right: (4 * 0.20 + 1 * 0.45) / 5
    assert f.calibration_error(f.bins(rows)) == pytest.approx(0.25)


def test_a_class_said_of_a_healthy_script_or_outside_the_catalogue_is_wrong() -> None:
    found = f.bins(
        [healthy(got="zero_division", confidence=0.9), row(kind="unknown", got="zero_division", confidence=0.9)]
    )
    assert [(part.rows, part.right) for part in found] == [(2, 0.0)]


def test_the_majority_is_the_commonest_class_and_knows_no_unknown() -> None:
    rows = [row(kind=kind) for kind in ("b", "a", "a", "b", "c", "d", "unknown", "unknown", "unknown")]
    assert f.majority([*rows, *[healthy()] * 5]) == ["a", "b", "c"]


def test_a_guess_is_right_where_the_class_or_an_equivalent_is_among_the_first() -> None:
    rows = [
        row(kind="a", marks={"top1": False}),
        row(kind="b", marks={"top1": True}),
        row(kind="c", marks={"top1": True}, also=["a"]),
        row(kind="a", marks={"noted": True}),
        healthy(),
    ]
    assert f.guessed(rows, ["a", "b", "d"], 1) == f.Rate(2, 3)
    assert f.guessed(rows, ["a", "b", "d"], 3) == f.Rate(3, 3)
